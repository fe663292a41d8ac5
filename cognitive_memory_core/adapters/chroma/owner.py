"""Whose the collections in a server's database are: a database may be shared by mistake, a data directory never is.

Every collection carries the ``owner`` and the ``home`` of the bot that made it. The owner is a random id in Chroma's
local folder, made once; it alone decides. The home is a digest of where that folder lies: host, path, and the number
that the file system gave to the directory round it, which the same path in another container does not share. It is
looked at only where the id is lost, as when somebody deleted the folder: then the owner whose collections were made
from this very place is us, and the id is taken back from them. Who lost the id and moved as well is a stranger to the
old collections and is told so: another database, or deleting them on the server, is up to the operator. A copy of a
whole data directory carries the id with it, and needs a database of its own as well.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

FILE = "owner"
_ID = re.compile(r"[0-9a-f]{32}")
_LONGEST = 64  # bytes that are read


class Foreign(Exception):
    """Another bot's collections lie in the database."""


@dataclass(frozen=True)
class Owner:
    """One bot, as its collections name it."""

    owner: str
    home: str

    @classmethod
    def of(cls, folder: Path, births: Iterable[Mapping[str, object]]) -> Owner:
        """Read the id that is kept in a folder; where it is lost, find it in what was made from here, or make one."""
        home = _home(folder)
        kept = _kept(folder / FILE)
        owner = kept or _lost(home, births) or secrets.token_hex(16)
        if not kept:
            _keep(folder / FILE, owner)
        return cls(owner, home)

    def check(self, birth: Mapping[str, object] | None) -> None:
        """Raise Foreign for what somebody else made, or nobody knows who."""
        if birth is None or birth.get("owner") != self.owner:
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


def _lost(home: str, births: Iterable[Mapping[str, object]]) -> str:
    owners = {str(birth.get("owner")) for birth in births if birth.get("home") == home}
    return next((owner for owner in sorted(owners) if _ID.fullmatch(owner)), "")


def _keep(file: Path, owner: str) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as opened:
        opened.write(owner + "\n")
        opened.flush()
        os.fsync(descriptor)
