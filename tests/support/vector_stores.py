"""Vector stores of every kind, opened for tests, and a separate Chroma server."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, Literal
from urllib.request import urlopen

import psutil

from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.ports import EmbeddedEvent, Vector
from cognitive_memory_core.settings.schema import VectorStoreSettings
from cognitive_memory_core.vectors.chroma.store import ChromaStore
from tests.support.vector_store import InMemoryVectorStore

from .ledgers import MODEL
from .raw_http import free_port
from .waiting import PATIENCE

CHILD = "cognitive_memory_core.vectors.chroma.child"
VectorStore = ChromaStore | InMemoryVectorStore
Make = Literal["in memory", "chroma", "chroma server"]
_SERVER = "from chromadb.cli.cli import app; app()"


@dataclass
class Shop:
    """An open store that can be opened again over its data."""

    make: Make
    store: VectorStore
    folder: Path
    url: str = ""

    async def reopen(self) -> None:
        """Close the store and open another in its place; a store in memory stays as it is."""
        await self.close()
        if isinstance(self.store, ChromaStore):
            self.store = chroma_store(self.folder, self.url)

    async def close(self) -> None:
        """Close the store; one in memory needs no closing."""
        if isinstance(self.store, ChromaStore):
            await self.store.close()


@asynccontextmanager
async def shop_of(make: Make, folder: Path) -> AsyncIterator[Shop]:
    """Open an empty store of a kind."""
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
    """Return a Chroma store over a folder or a server."""
    return ChromaStore(folder, VectorStoreSettings(url=url, database=database))


def rows(pairs: Iterable[tuple[Event, Vector]], model: str = MODEL) -> list[EmbeddedEvent]:
    """Return events with their vectors as rows of a store."""
    return [EmbeddedEvent(event, model, vector) for event, vector in pairs]


def row(event: Event, vector: Vector, **changed: object) -> EmbeddedEvent:
    """Return one event, with the given changes, as a row of a store."""
    return EmbeddedEvent(replace(event, **changed), MODEL, vector)  # pyright: ignore[reportArgumentType]


def chroma_children(of: int | None = None) -> list[psutil.Process]:
    """Return the child processes (of this process by default) that run Chroma."""
    with suppress(psutil.NoSuchProcess):
        return [process for process in psutil.Process(of).children(recursive=True) if _is_child(process)]
    return []


def chroma_server(folder: Path, port: int = 0) -> AbstractContextManager[str]:
    """Run a server over a folder on a loopback port, a free one by default; yield its address."""
    port = port or free_port()
    command = [sys.executable, "-c", _SERVER, "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    return _serving(command, port)


def guarded_chroma_server(folder: Path, token: str) -> AbstractContextManager[str]:
    """Run the server of the Python package, which checks a token itself, over a folder; yield its address.

    The server of ``chroma run`` knows no tokens.
    """
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "chromadb.app:app", "--host", "127.0.0.1", "--port", str(port)]
    environment = {
        **os.environ,
        "IS_PERSISTENT": "TRUE",
        "PERSIST_DIRECTORY": str(folder),
        "ANONYMIZED_TELEMETRY": "FALSE",
        "CHROMA_SERVER_AUTHN_PROVIDER": "chromadb.auth.token_authn.TokenAuthenticationServerProvider",
        "CHROMA_SERVER_AUTHN_CREDENTIALS": token,
    }
    return _serving(command, port, env=environment, cwd=folder.parent)


@contextmanager
def _serving(command: Sequence[str], port: int, **options: Any) -> Iterator[str]:
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options) as server:
        try:
            _wait(f"http://127.0.0.1:{port}/api/v2/heartbeat", server)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.kill()


@contextmanager
def chroma_answering(answer: int) -> Iterator[str]:
    """Run a server that answers every request with one status; yield its address."""

    class Answering(BaseHTTPRequestHandler):
        """Answers with the status."""

        def do_GET(self) -> None:
            """Answer."""
            self.send_response(answer)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_request(self, code: object = "-", size: object = "-") -> None:
            """Print nothing."""

    with HTTPServer(("127.0.0.1", 0), Answering) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def _wait(address: str, server: subprocess.Popen[Any]) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and server.poll() is None:
        with suppress(OSError), urlopen(address, timeout=2):
            return
        time.sleep(0.05)
    raise TimeoutError("the server did not come up")


def _is_child(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return CHILD in process.cmdline()
    return False
