"""The versions in a SQLite file's header, read without SQLite, which would change files beside it.

``user_version`` is the format, the number of migrations applied. ``application_id`` is the release that applied the
last one, as 0x00MMmmpp: what an older release tells its operator to install.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import BinaryIO, NamedTuple

MAGIC, HEAD = b"SQLite format 3\0", 100  # SQLite's file header
DISTRIBUTION = "nonebot-plugin-cognitive-memory"
_FRACTIONS = slice(21, 24), b"\x40\x20\x20"  # payload fractions, the same in every SQLite file
_VERSIONS = struct.Struct(">60xI4xI28x")  # user_version and application_id within the header
_LOG_MAGIC = (0x377F0682, 0x377F0683)
_LOG_HEAD = struct.Struct(">I4xI4x8s8x")  # of the write-ahead log: magic, page size, salts
_FRAME_HEAD = struct.Struct(">II8s8x")  # page number, size after a commit or 0, salts
_PAGE_SIZES = range(512, 65_537)
_RELEASE = re.compile(r"(\d{1,3})\.(\d{1,3})(?:\.(\d{1,3}))?")


class Stamp(NamedTuple):
    """The format of a file, and the release that is needed to read it, as a number; both 0 if the file has none."""

    version: int = 0
    release: int = 0

    @property
    def needed_release(self) -> str:
        """Return the release as people write it; "" if unknown."""
        parts = (self.release >> 16, self.release >> 8 & 0xFF, self.release & 0xFF)
        return ".".join(map(str, parts)) if 0 < self.release < 1 << 24 else ""


def installed_release() -> int:
    """Return the installed release as a number, 0 if unknown."""
    try:
        found = _RELEASE.match(version(DISTRIBUTION) or "")  # None if the disk does not deliver the metadata
    except PackageNotFoundError:
        return 0
    major, minor, patch = (min(int(part or 0), 0xFF) for part in found.groups()) if found else (0, 0, 0)
    return major << 16 | minor << 8 | patch


def stamp_of(path: Path) -> Stamp:
    """Return the stamp that SQLite will see when it opens a database; blocking.

    If a write-ahead log is beside the file, it is read up to its last commit. A file that is missing, unreadable or no
    database has an empty stamp: opening it reports why.
    """
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError:
        return Stamp()
    stamp = _stamp(head)
    if stamp is None:
        return Stamp()
    try:
        with path.with_name(path.name + "-wal").open("rb") as log:
            return _committed(log) or stamp
    except OSError:
        return stamp


def _stamp(head: bytes) -> Stamp | None:
    place, fractions = _FRACTIONS
    is_header = len(head) == HEAD and head.startswith(MAGIC) and head[place] == fractions
    return Stamp(*_VERSIONS.unpack(head)) if is_header else None


def _committed(log: BinaryIO) -> Stamp | None:
    """Return the stamp in the last committed version of page 1 in a log; None if the log has none."""
    committed = seen = None
    for page, is_commit, head in _frames(log):
        if page == 1:
            seen = _stamp(head)
        if is_commit:
            committed = seen
    return committed


def _frames(log: BinaryIO) -> Iterator[tuple[int, bool, bytes]]:
    """Yield the page number, whether it ends a transaction, and the first bytes of each valid frame of a log."""
    start = log.read(_LOG_HEAD.size)
    if len(start) < _LOG_HEAD.size:
        return
    magic, page_size, salts = _LOG_HEAD.unpack(start)
    if magic not in _LOG_MAGIC or page_size not in _PAGE_SIZES:
        return
    while len(frame := log.read(_FRAME_HEAD.size)) == _FRAME_HEAD.size:
        page, size, own = _FRAME_HEAD.unpack(frame)
        content = log.read(page_size)
        if own != salts or len(content) < page_size:
            return
        yield page, bool(size), content[:HEAD]
