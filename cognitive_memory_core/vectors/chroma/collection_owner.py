"""Identifies whose collections a server's database holds, because bots may share a database by mistake.

Every collection carries the ``owner`` and ``home`` of the bot that made it. The owner is a random id, made once and
kept in Chroma's local folder; it alone decides. The home is a digest of that folder's location: host, path and inode of
the parent directory, which differs for the same path in another container. It is used only if the id is lost, for
example because the folder was deleted: the owner of collections made from this location is then taken as our id.

A bot that lost its id and also moved does not own its old collections; the operator is told to use another database or
to delete them on the server. A copy of a whole data directory includes the id and needs its own database too.
"""

from __future__ import annotations

import hashlib
import platform
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ...disk import Disk

FILE = "owner"
_ID = re.compile(r"[0-9a-f]{32}")
_LONGEST = 64  # bytes read


class Foreign(Exception):
    """The database holds another bot's collections."""


@dataclass(frozen=True)
class Owner:
    """The identity of one bot, as stored with its collections."""

    owner: str
    home: str

    @classmethod
    def of(cls, folder: Path, created: Iterable[Mapping[str, object]]) -> Owner:
        """Return the owner: its id is read from the folder, or recovered from collections made here, or created."""
        home = _home(folder)
        kept = _kept(folder / FILE)
        owner = kept or _lost(home, created) or secrets.token_hex(16)
        if not kept:
            Disk().rewrite(folder / FILE, f"{owner}\n".encode())
        return cls(owner, home)

    def check(self, creation: Mapping[str, object] | None) -> None:
        """Raise Foreign for a collection with another owner or none."""
        if creation is None or creation.get("owner") != self.owner:
            raise Foreign


def _home(folder: Path) -> str:
    place = (platform.node(), str(folder.absolute()), str(folder.absolute().parent.stat().st_ino))
    return hashlib.sha256("\0".join(place).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _kept(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            found = opened.read(_LONGEST).decode("ascii").strip()
    except (OSError, ValueError):
        return ""
    return found if _ID.fullmatch(found) else ""


def _lost(home: str, created: Iterable[Mapping[str, object]]) -> str:
    owners = {str(creation.get("owner")) for creation in created if creation.get("home") == home}
    return next((owner for owner in sorted(owners) if _ID.fullmatch(owner)), "")
