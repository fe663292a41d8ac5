"""The systems that are compared, each in a process of its own: the memory in two forms, and its alternatives.

A process that asks imports only its own system, so that its memory use is that system's.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .measure import children_resident, resident

if TYPE_CHECKING:
    from .workload import Line

K = 12  # results asked for
BULK = 10_000  # rows above which mem0 gets them through its vector store class
NEW, WORDS, MEANING = "new", "words", "meaning"
WARMING = 3  # new queries per rank before timing starts
LOOK = 0.1  # seconds between two samples of the memory
SETTLING = 4.0  # seconds after the first queries of a rank, while a system loads in the background
Row = NDArray[np.float32]
Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Question:
    """One query in one group; ``answer`` is the text of the expected event, "" if there is none.

    A query by words is a piece of an event's text with an unrelated vector. A query by meaning shares no word with the
    event except by chance, and its vector is nearer to the event's than to any other.
    """

    kind: str
    rank: str
    group_id: str
    text: str
    answer: str = ""


def write_questions(folder: Path, questions: Sequence[Question], vectors: Matrix) -> None:
    """Write the queries and their vectors, row by row, for the processes that ask."""
    (folder / "questions.json").write_text(json.dumps([asdict(one) for one in questions], ensure_ascii=False), "utf-8")
    np.save(folder / "questions.npy", vectors)


@dataclass
class System:
    """A store below ``folder`` that is opened, filled and finished, or opened and searched.

    ``known`` holds the vectors of the queries by text; ``events`` is the size of the year.
    """

    folder: Path
    known: Mapping[str, Row]
    events: int

    async def open(self) -> None:
        """Open the store."""

    async def add(self, rows: Sequence[Line], vectors: Matrix) -> None:
        """Add events with their vectors."""
        raise NotImplementedError

    async def search(self, question: Question) -> Sequence[str]:
        """Return the texts found in the query's group, at most ``K``, or one text that holds what was found."""
        raise NotImplementedError

    async def finish(self) -> None:
        """Finish what was added."""


class Searched(System):
    """The memory with its default settings: its events."""

    async def open(self) -> None:
        """Open the memory."""
        import cognitive_memory_core as core  # noqa: PLC0415  # this system's process only
        from tests.support.clock import FrozenClock  # noqa: PLC0415

        from . import workload  # noqa: PLC0415

        self._stack, self._core, self._workload, self._added = AsyncExitStack(), core, workload, 0
        embedder, clock = workload.TopicVectors(self.known), FrozenClock(workload.NOW)
        opening = core.CognitiveMemory.open(core.Settings(), self.folder / "data", clock=clock, embedder=embedder)
        self._memory = await self._stack.enter_async_context(opening)
        await workload.whole(self._memory, 0)

    async def add(self, rows: Sequence[Line], vectors: Matrix) -> None:
        """Import an export file."""
        path = self._workload.exported(rows, self.folder / "part.jsonl", vectors)
        self._added += await self._memory.import_(path)
        path.unlink()

    async def search(self, question: Question) -> Sequence[str]:
        """Search events."""
        hits = await self._memory.search_events(self._scene(question), question.text, top_k=K)
        return [hit.event.text for hit in hits]

    async def finish(self) -> None:
        """Wait until everything added is indexed."""
        if self._added:
            await self._workload.whole(self._memory, self._added)
        await self._stack.aclose()

    def _scene(self, question: Question) -> Any:
        return self._core.Scene.group(question.group_id, "2000001")


class InContext(Searched):
    """The same memory: the text of a context."""

    async def search(self, question: Question) -> Sequence[str]:
        """Build a context."""
        return [(await self._memory.context(self._scene(question), question.text)).text]


class Mem0(System):
    """mem0 with its Chroma store and these vectors, without a language model: texts are stored unchanged.

    A group is a ``run_id``, the only filter of a search. The embedder subclasses mem0's own ``EmbeddingBase`` and
    replaces the configured one, since mem0's factory accepts vendor names only; the API key is never used.
    """

    async def open(self) -> None:
        """Open mem0 in the folder."""
        unused = {"provider": "openai", "config": {"api_key": "none"}}
        chroma = {"collection_name": "year", "path": str(self.folder / "chroma")}
        history = str(self.folder / "history.db")
        store = {"provider": "chroma", "config": chroma}
        settings = {"vector_store": store, "llm": unused, "embedder": unused, "history_db_path": history}
        self._memory = import_module("mem0").Memory.from_config(settings)
        base: Any = import_module("mem0.embeddings.base").EmbeddingBase

        class Known(base):
            """An embedder with precomputed vectors."""

            known = self.known

            def embed(self, text: str, memory_action: str | None = None) -> list[float]:
                return self.known[text].tolist()

        self._memory.embedding_model = self._embedder = Known()

    async def add(self, rows: Sequence[Line], vectors: Matrix) -> None:
        """Add each text, or insert the batch, without the history that ``add`` writes, if there are too many."""
        owners = [{"run_id": row.group_id} if row.group_id else {"user_id": row.user_id} for row in rows]
        if self.events > BULK:
            payloads = [_payload(row) | owner for row, owner in zip(rows, owners, strict=True)]
            self._memory.vector_store.insert(vectors.tolist(), payloads, [row.id for row in rows])
            return
        self._embedder.known = {row.text: vector for row, vector in zip(rows, vectors, strict=True)}
        for row, owner in zip(rows, owners, strict=True):
            self._memory.add(row.text, infer=False, metadata={"at": row.happened_at.isoformat()}, **owner)

    async def search(self, question: Question) -> Sequence[str]:
        """Search one group."""
        found = self._memory.search(question.text, filters={"run_id": question.group_id}, top_k=K)
        return [item["memory"] for item in found["results"]]

    async def finish(self) -> None:
        """Close it."""
        self._memory.close()


def _payload(row: Line) -> dict[str, str]:
    dated = dict.fromkeys(("at", "created_at", "updated_at"), row.happened_at.isoformat())
    return {"data": row.text, "text_lemmatized": row.text, "hash": row.id, "role": "user", **dated}


class Filtered(System):
    """Bare Chroma: one collection for all groups, filtered by group; its defaults but for the space."""

    async def open(self) -> None:
        """Open the collection."""
        from .workload import bare_collection  # noqa: PLC0415  # as above

        self._collection = bare_collection(str(self.folder))

    async def add(self, rows: Sequence[Line], vectors: Matrix) -> None:
        """Upsert a batch."""
        metadatas = [
            {"group_id": row.group_id, "user_id": row.user_id, "at": row.happened_at.isoformat()} for row in rows
        ]
        self._collection.upsert([row.id for row in rows], vectors, metadatas, [row.text for row in rows])

    async def search(self, question: Question) -> Sequence[str]:
        """Query with a filter."""
        vector, where = self.known[question.text][np.newaxis], {"group_id": question.group_id}
        return self._collection.query(vector, n_results=K, where=where)["documents"][0]


class Worded(System):
    """bm25s over words cut by jieba, an index for each group.

    An index is built once over all its texts and cannot be extended: the time to add is that of building it.
    """

    async def open(self) -> None:
        """Load the indexes in the folder."""
        self._library: Any = import_module("bm25s")
        jieba: Any = import_module("jieba")
        jieba.setLogLevel("ERROR")
        jieba.initialize()
        self._cut, kept = jieba.lcut, self.folder / "texts.json"
        self._texts = defaultdict[str, list[str]](list, json.loads(kept.read_text("utf-8")) if kept.exists() else {})
        load = self._library.BM25.load
        self._indexes = {name: load(self.folder / name, show_progress=False) for name in self._texts}

    async def add(self, rows: Sequence[Line], vectors: Matrix) -> None:
        """Collect the texts for the index."""
        for row in rows:
            self._texts[row.group_id or "private"].append(row.text)

    async def search(self, question: Question) -> Sequence[str]:
        """Score the query's words; texts without any of them are not found."""
        texts = self._texts[question.group_id]
        words, most = [self._cut(question.text)], min(K, len(texts))
        found, scores = self._indexes[question.group_id].retrieve(words, k=most, show_progress=False)
        return [texts[at] for at, score in zip(found[0], scores[0], strict=True) if score > 0]

    async def finish(self) -> None:
        """Build the indexes and write them, if texts were added."""
        if self.known:
            return
        for name, texts in self._texts.items():
            index = self._library.BM25()
            index.index([self._cut(text) for text in texts], show_progress=False)
            index.save(self.folder / name, show_progress=False)
        (self.folder / "texts.json").write_text(json.dumps(self._texts, ensure_ascii=False), "utf-8")


@dataclass(frozen=True)
class Peer:
    """One way to query a store; several may share a store."""

    name: str
    store: str
    system: type[System]
    needs: tuple[str, ...] = ()

    @property
    def missing(self) -> list[str]:
        """Return the packages that are not installed."""
        return [name for name in self.needs if find_spec(name) is None]

    def of(self, folder: Path, events: int, known: Mapping[str, Row]) -> System:
        """Return its store below a folder, to be filled, or to be queried if queries are known."""
        (folder / self.store).mkdir(exist_ok=True)
        return self.system(folder / self.store, known, events)


_ALL = (
    Peer("memory, search_events", "memory", Searched),
    Peer("memory, context", "memory", InContext),
    Peer("mem0 with Chroma", "mem0", Mem0, ("mem0", "chromadb")),
    Peer("Chroma, where", "chroma", Filtered, ("chromadb",)),
    Peer("bm25s and jieba, an index a group", "bm25s-groups", Worded, ("bm25s", "jieba")),
)
PEERS = {peer.name: peer for peer in _ALL}


async def fill(name: str, place: str, events: int) -> dict[str, Any]:
    """Fill a system with the workload; return the seconds it took, without generating the vectors."""
    from .workload import batches, group_years, vectors_of  # noqa: PLC0415  # a process that asks needs none of it

    with highest() as peak:
        system, seconds = PEERS[name].of(Path(place), events, {}), 0.0
        await system.open()
        for batch in batches(group_years(events)):
            vectors = vectors_of([line.text for line in batch])
            started = time.perf_counter()
            await system.add(batch, vectors)
            seconds += time.perf_counter() - started
        started = time.perf_counter()
        await system.finish()
        seconds += time.perf_counter() - started
    return {"seconds": seconds, "peak": peak[0]}


async def ask(name: str, place: str, events: int) -> dict[str, Any]:
    """Run every query; return the seconds of the new ones by rank, the known answers found, and the memory used."""
    folder = Path(place)
    questions = [Question(**row) for row in json.loads((folder / "questions.json").read_text("utf-8"))]
    vectors = np.load(folder / "questions.npy")
    seconds: defaultdict[str, list[float]] = defaultdict(list)
    found: defaultdict[str, list[bool]] = defaultdict(list)
    system = PEERS[name].of(folder, events, {one.text: vector for one, vector in zip(questions, vectors, strict=True)})
    await system.open()
    for question in questions:
        started = time.perf_counter()
        texts = await system.search(question)
        taken = time.perf_counter() - started
        if question.kind == NEW:
            seconds[question.rank].append(taken)
            if len(seconds[question.rank]) == WARMING:
                await asyncio.sleep(SETTLING)
        else:
            found[question.kind].append(any(question.answer in text for text in texts))
    held = resident() + children_resident()
    await system.finish()
    return {
        "seconds": {rank: taken[WARMING:] for rank, taken in seconds.items()},
        "found": {kind: sum(hits) / len(hits) for kind, hits in found.items()},
        "resident": held,
    }


@contextmanager
def highest() -> Iterator[list[float]]:
    """Record the highest memory of this process and its children, in MB."""
    peak, over = [0.0], threading.Event()

    def look() -> None:
        while not over.wait(LOOK):
            peak[0] = max(peak[0], resident() + children_resident())

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    yield peak
    over.set()
    watcher.join()
