"""Stores which generation is in use, and on which server: small files, replaced atomically."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from ...disk import Disk

_NAME, _SERVER = "current", "server.place"
_NUMBER = re.compile(r"[0-9]{4,9}")


class Pointer:
    """Reads and writes the files ``current`` (the generation in use) and ``server.place`` (its server); blocking.

    ``server.place`` holds the digest of a server and database; it is missing if the generation is in the local folder.
    """

    def __init__(self, folder: Path) -> None:
        """Initialise without touching the disk."""
        self._file, self._server = folder / _NAME, folder / _SERVER
        self._disk = Disk()

    def read(self) -> int | None:
        """Return the number of the generation in use; None if the file is missing, unreadable or invalid."""
        try:
            with self._file.open("rb") as file:
                text = file.read(16).decode("ascii").strip()
        except (OSError, ValueError):
            return None
        return int(text) if _NUMBER.fullmatch(text) else None

    def server(self) -> str:
        """Return the digest of the server that holds the generation; "" for a generation in this folder."""
        try:
            with self._server.open("rb") as file:
                return file.read(80).decode("ascii").strip()
        except (OSError, ValueError):
            return ""

    def write(self, number: int, server: str = "") -> None:
        """Write the number of a generation durably, and where it is; raises StorageRefused if the disk refuses."""
        self.note_server(server)
        self._disk.rewrite(self._file, b"%04d\n" % number)

    def note_server(self, server: str) -> None:
        """Store the server's digest unless it is stored already."""
        if server == self.server():
            return
        if server:
            self._disk.rewrite(self._server, f"{server}\n".encode())
        else:
            self._server.unlink(missing_ok=True)


def digest_of(url: str, tenant: str, database: str) -> str:
    """Return the digest of a database on a server; "" without a server."""
    place = "\0".join((url.strip().rstrip("/"), tenant, database))
    return hashlib.sha256(place.encode("utf-8", "surrogatepass")).hexdigest()[:32] if url else ""
