"""Models of this machine by name: what the package fastembed runs from files on this disk, and their download."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from .. import sentences
from ..errors import BadArgument, UnavailableError
from ..ports import Vector
from .client import unit_of

Kind = Literal["embedding", "rerank"]
FOLDER = "models"  # in the data directory
LONGEST_TEXT = 500  # characters: 32 texts of 512 tokens each take over a gigabyte
BATCH = 8
_ENGINES: Mapping[Kind, tuple[str, str]] = {
    "embedding": ("fastembed", "TextEmbedding"),
    "rerank": ("fastembed.rerank.cross_encoder", "TextCrossEncoder"),
}
_TOKENIZER = "config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"


def folder_of(name: str, local_path: str, data_dir: Path) -> Path:
    """Return the folder of a model's files: the one that is set, or the model's own in the data directory."""
    return Path(local_path).expanduser() if local_path else data_dir / FOLDER / name.replace("/", "--")


def refusal(name: str, folder: Path) -> str:
    """Return why a model cannot be used, as a part of a sentence; "" if its files and fastembed are there. Blocking."""
    if find_spec("fastembed") is None:
        return sentences.models.FASTEMBED_WANTED
    if not any(folder.rglob("*.onnx")) or not (folder / "tokenizer.json").is_file():
        return sentences.models.NOT_DOWNLOADED.format(folder=folder, name=name)
    return ""


def fingerprint(name: str, folder: Path) -> str:
    """Return a text that identifies the model by the contents of its files, so that other weights are another model.

    Blocking: reads all files, 0.1 s per 100 MB.
    """
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".metadata"):
        if path.suffix in {".onnx", ".onnx_data", ".bin"} or path.name == "tokenizer.json":
            with path.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
    return f"{name}-{digest.hexdigest()[:16]}"


def encoder(name: str, folder: Path) -> Callable[[Sequence[str]], list[Vector]]:
    """Load a sentence encoder; its function returns a unit vector per text.

    Raises UnavailableError for a name that fastembed does not know, and what fastembed raises for broken files.
    """
    model, description = _loaded("embedding", name, folder)
    length = int(description["dim"])

    def encode(texts: Sequence[str]) -> list[Vector]:
        given = model.embed(list(texts), batch_size=BATCH)
        return [unit_of(row, length) for row, _ in zip(given, texts, strict=True)]

    return encode


def cross_encoder(name: str, folder: Path) -> Callable[[str, Sequence[str]], list[float]]:
    """Load a cross-encoder; its function returns a score in [0, 1] per text. Raises as :func:`encoder` does."""
    model, _ = _loaded("rerank", name, folder)

    def scores(query: str, texts: Sequence[str]) -> list[float]:
        logits = [float(score) for score in model.rerank(query, list(texts), batch_size=BATCH)]
        if len(logits) != len(texts) or not all(map(math.isfinite, logits)):
            raise UnavailableError(sentences.models.SCORE_UNUSABLE)
        return [1 / (1 + math.exp(-max(min(logit, 60.0), -60.0))) for logit in logits]

    return scores


def downloaded(kind: Kind, name: str, folder: Path) -> None:
    """Download a model's files into ``folder``, then load them; what is there already is not fetched again.

    Shows its own progress on standard error. Raises BadArgument for a name that cannot be downloaded, UnavailableError.
    """
    if find_spec("fastembed") is None:
        raise BadArgument(sentences.models.FASTEMBED_WANTED)
    description = _description(kind, name)
    repository = description["sources"]["hf"]
    if not repository:
        raise BadArgument(sentences.models.NOT_ON_THE_HUB.format(name=name))
    hub: Any = import_module("huggingface_hub")
    try:
        hub.snapshot_download(
            repository,
            local_dir=folder,
            allow_patterns=[*_TOKENIZER, description["model_file"], *description["additional_files"]],
        )
        load = encoder if kind == "embedding" else cross_encoder
        load(name, folder)
    except UnavailableError:
        raise
    except Exception as failure:  # the hub's client and its transport have some twenty classes of errors
        reason = f"{type(failure).__name__}: {failure}".splitlines()[0][:200]
        raise UnavailableError(sentences.models.DOWNLOAD_FAILED.format(name=name, reason=reason)) from failure


def kind_of(name: str) -> Kind:
    """Return what a model is for; raises BadArgument for a name that fastembed does not know."""
    for kind in _ENGINES:
        with suppress(UnavailableError):
            _description(kind, name)
            return kind
    raise BadArgument(sentences.models.UNKNOWN_LOCAL_MODEL.format(name=name))


def _engine(kind: Kind) -> Any:
    module, engine = _ENGINES[kind]
    return getattr(import_module(module), engine)  # loads onnxruntime: half a second


def _description(kind: Kind, name: str) -> Mapping[str, Any]:
    for model in _engine(kind).list_supported_models():
        if str(model["model"]).lower() == name.lower():
            return model
    raise UnavailableError(sentences.models.UNKNOWN_LOCAL_MODEL.format(name=name))


def _loaded(kind: Kind, name: str, folder: Path) -> tuple[Any, Mapping[str, Any]]:
    """Load for one thread, as two gain nothing, and without an arena, which keeps the memory of the longest texts."""
    description = _description(kind, name)
    model = _engine(kind)(
        name,
        threads=1,
        providers=["CPUExecutionProvider"],
        specific_model_path=str(folder),
        local_files_only=True,
        enable_cpu_mem_arena=False,
    )
    return model, description
