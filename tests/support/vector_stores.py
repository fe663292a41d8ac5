"""Vector stores of every make, opened for tests, and a Chroma server of one's own."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from urllib.request import urlopen

import psutil

from cognitive_memory_core.adapters.chroma import ChromaStore
from cognitive_memory_core.adapters.inmemory.vector_store import InMemoryVectorStore
from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.ports.ledger import EmbeddedEvent
from cognitive_memory_core.ports.models import Vector
from cognitive_memory_core.ports.vectors import SleepingStore
from cognitive_memory_core.settings import VectorStoreSettings

from .ledgers import MODEL
from .waiting import PATIENCE

CHILD = "cognitive_memory_core.adapters.chroma.child"
Make = Literal["in memory", "chroma", "chroma server"]
_SERVER = "from chromadb.cli.cli import app; app()"


@dataclass
class Shop:
    """A store that is open, and can be opened anew over what it left."""

    make: Make
    store: SleepingStore
    folder: Path
    url: str = ""

    async def reopen(self) -> None:
        """Close the store and open another in its place; memory that ends with the process stays as it is."""
        await self.close()
        if isinstance(self.store, ChromaStore):
            self.store = chroma_store(self.folder, self.url)

    @asynccontextmanager
    async def another(self, folder: Path) -> AsyncIterator[SleepingStore]:
        """Open an empty store of the same make; on a server, in a database of its own."""
        is_chroma = isinstance(self.store, ChromaStore)
        database = f"another-{folder.name}" if self.url else ""
        store = chroma_store(folder, self.url, database) if is_chroma else InMemoryVectorStore()
        shop = Shop(self.make, store, folder)
        try:
            yield shop.store
        finally:
            await shop.close()

    async def close(self) -> None:
        """Close the store; one in memory has nothing to close."""
        if isinstance(self.store, ChromaStore):
            await self.store.close()


@asynccontextmanager
async def shop_of(make: Make, folder: Path) -> AsyncIterator[Shop]:
    """Open an empty store of a make."""
    if make == "in memory":
        yield Shop(make, InMemoryVectorStore(), folder)
        return
    with chroma_server(folder / "server") if make == "chroma server" else nullcontext("") as url:
        shop = Shop(make, chroma_store(folder, url), folder, url)
        try:
            yield shop
        finally:
            await shop.close()


def chroma_store(folder: Path, url: str = "", database: str = "") -> ChromaStore:
    """Make a Chroma store over a folder, or a server."""
    return ChromaStore(folder, VectorStoreSettings(url=url, database=database))


def rows(pairs: Iterable[tuple[Event, Vector]], model: str = MODEL) -> list[EmbeddedEvent]:
    """Give events with their vectors as a store takes them."""
    return [EmbeddedEvent(event, model, vector) for event, vector in pairs]


def row(event: Event, vector: Vector, **changed: object) -> EmbeddedEvent:
    """Give one event, with what has changed about it, as a store takes it."""
    return EmbeddedEvent(replace(event, **changed), MODEL, vector)  # pyright: ignore[reportArgumentType]


def chroma_children() -> list[psutil.Process]:
    """Find the processes of this one that have Chroma."""
    return [process for process in psutil.Process().children(recursive=True) if _is_child(process)]


@contextmanager
def chroma_server(folder: Path, port: int = 0) -> Iterator[str]:
    """Run a server over a folder on a port of loopback, a free one where none is named; gives its address."""
    port = port or _free_port()
    command = [sys.executable, "-c", _SERVER, "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            _wait(f"http://127.0.0.1:{port}/api/v2/heartbeat", server)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.kill()


def _wait(address: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and server.poll() is None:
        with suppress(OSError), urlopen(address, timeout=2):
            return
        time.sleep(0.05)
    raise TimeoutError("the server did not come up")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def _is_child(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return CHILD in process.cmdline()
    return False
