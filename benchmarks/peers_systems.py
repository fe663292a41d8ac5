"""The systems compared: the memory in two forms, and its alternatives.

A child process imports only its own system, so that its memory use is that system's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from .peers_questions import Asked, Matrix, Question, Row

K = 12  # results asked for


@dataclass(frozen=True)
class LoggedLine:
    """One event as every system receives it; ``group_id`` is "" in private."""

    id: str
    text: str
    group_id: str
    user_id: str
    happened_at: str  # ISO 8601


@dataclass(frozen=True)
class Opening:
    """The arguments with which a system is opened."""

    name: str
    folder: Path
    events: int  # of the whole workload
    asked: Asked | None  # the queries that will come; None if the system will be filled

    @property
    def known(self) -> Mapping[str, Row]:
        """Return the vectors of the queries by text."""
        return self.asked.known if self.asked else {}


class System(Protocol):
    """A memory that is filled and queried; it finishes outstanding work when closed."""

    async def add(self, rows: Sequence[LoggedLine], vectors: Matrix) -> None:
        """Add events with their vectors."""
        ...

    async def search(self, question: Question) -> Sequence[str]:
        """Return the texts found in the query's group, at most ``K``, or one text that holds what was found."""
        ...


@dataclass(frozen=True)
class Peer:
    """One way to query a store; several may share a store."""

    name: str
    store: str
    module: str
    needs: tuple[str, ...] = ()

    @property
    def missing(self) -> list[str]:
        """Return the packages that are not installed."""
        return [name for name in self.needs if find_spec(name) is None]

    def opened(self, folder: Path, events: int, asked: Asked | None = None) -> AbstractAsyncContextManager[System]:
        """Open the store below a folder, to fill it, or to query it if queries are given."""
        opening = Opening(self.name, folder / self.store, events, asked)
        opening.folder.mkdir(exist_ok=True)
        return import_module(f"benchmarks.{self.module}").opened(opening)


PEERS = (
    Peer("memory, search_events", "memory", "peers_memory"),
    Peer("memory, context", "memory", "peers_memory"),
    Peer("mem0 with Chroma", "mem0", "peers_mem0", ("mem0", "chromadb")),
    Peer("Chroma, where", "chroma", "peers_chroma", ("chromadb",)),
    Peer("bm25s and jieba, an index a group", "bm25s-groups", "peers_bm25s", ("bm25s", "jieba")),
    Peer("bm25s and jieba, one index, masked", "bm25s-whole", "peers_bm25s", ("bm25s", "jieba")),
    Peer("numpy, exact", "numpy", "peers_numpy"),
)
