"""Faults of the vector store in a life of F33: its process killed, refusing, slow, and without room on its disk."""

from __future__ import annotations

import os
import resource
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

import cognitive_memory_core as core
from cognitive_memory_core.ports.clock import Clock
from cognitive_memory_core.store.search.corpora import Corpora
from cognitive_memory_core.vectors import reconciler
from cognitive_memory_core.vectors.chroma.process import ChildProcess
from cognitive_memory_core.vectors.chroma.store import ChromaStore

from . import world

KINDS = ("killed", "refuses", "slow", "disk full")
SHARE = 0.04  # of its requests, of which a life makes few
SLOW = 4.0  # seconds before a request is passed on; a search waits for two
FULL = 3.0  # seconds for which its process can enlarge no file, as on a full disk
SMALLEST = 4096  # bytes that each of its files may have then
SETTINGS = core.Settings.model_validate({**world.SETTINGS.model_dump(), "vector_store": {"backend": "chroma"}})


def spoil(kind_of_fault: Callable[[], str]) -> None:
    """Use the store for every row and search; its requests fail as ``kind_of_fault`` decides, "" lets one pass."""
    reconciler.ROWS_BEHIND = 1
    Corpora.is_wide = _is_wide  # type: ignore[method-assign]
    exchange = ChildProcess.exchange

    def exchanging(child: ChildProcess, *request: Any) -> dict[str, Any]:
        match kind_of_fault():
            case "killed":
                os.kill(child.pid, signal.SIGKILL)
            case "refuses":
                return {"failed": ("failed", "refused"), "resident": None}
            case "slow":
                time.sleep(SLOW)
            case "disk full":
                _enlarge_nothing(child.pid)
        return exchange(child, *request)

    ChildProcess.exchange = exchanging  # type: ignore[method-assign]


def _is_wide(*_: object) -> bool:
    return True


def _enlarge_nothing(pid: int) -> None:
    _, most = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (SMALLEST, most))
    there_is_room = threading.Timer(FULL, _lift, (pid, most))
    there_is_room.daemon = True
    there_is_room.start()


def _lift(pid: int, most: int) -> None:
    try:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, most))
    except ProcessLookupError:
        return  # it was killed meanwhile


async def differing_rows(data: Path, clock: Clock) -> int:
    """Let the vector store follow the ledger without faults; return how many rows then are in one of them only."""
    async with core.CognitiveMemory.open(SETTINGS, data, clock=clock) as memory:
        assert await memory.drain(300)
        rows = [orjson.loads(line) for line in await world.exported(memory)]
    store = ChromaStore(data / "chromadb", SETTINGS.vector_store)
    try:
        generation = await store.open()
        stored = await store.listed(generation) if generation else frozenset[str]()
    finally:
        await store.close()
    return len(stored ^ {row["id"] for row in rows if row.get("type") == "event"})
