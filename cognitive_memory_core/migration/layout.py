"""Finds the parts of an older memory below a path, and reads files of bounded size that lie inside it.

The summaries that a data directory had before its ledger are kept here as a copy, before anything else is imported.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from .. import sentences
from ..disk import TEMP, Disk, Vanished
from ..errors import BadArgument, StorageRefused

log = logging.getLogger(__name__)
SUMMARIES, PINS = "end_summaries.json", "memory.json"
COPY = "end_summaries.takeover.json"
_PARTS = ("profiles", "queues", "chromadb", "chroma")
LARGEST_LIST = 256 * 1024 * 1024  # bytes of a file that is streamed


@dataclass(frozen=True)
class Layout:
    """Paths of the parts of an older memory, None for a missing one; ``root`` contains them all."""

    root: Path
    summaries: Path | None = None
    pins: Path | None = None
    profiles: Path | None = None
    queues: Path | None = None
    chroma: Path | None = None

    @classmethod
    def of(cls, path: Path) -> Layout:
        """Return the layout of a file, a data directory, the directory above it, or ``data/cognitive`` alone.

        Raises BadArgument if the path holds no part of an older memory.
        """
        place = path.resolve()
        if place.is_file():
            return cls(place.parent, **{"pins" if place.name == PINS else "summaries": place})
        inside = place / "data" if (place / "data").is_dir() else place
        parts = {name: _folder(inside, name) or _folder(inside / "cognitive", name) for name in _PARTS}
        found = cls(
            inside,
            _file(inside / SUMMARIES),
            _file(inside / PINS),
            parts["profiles"],
            parts["queues"],
            parts["chromadb"] or parts["chroma"],
        )
        if found == cls(inside):
            raise BadArgument(sentences.migration.NO_SOURCES.format(path=path))
        return found

    def name(self, path: Path) -> str:
        """Return a path as a report shows it: relative to the source."""
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else path.name

    def files(self, folder: Path, suffix: str) -> Iterator[Path]:
        """Yield the regular files of a folder inside the source, sorted; nothing if the folder is missing or a link."""
        if _is_inside(folder, self.root):
            yield from (folder / name for name in sorted(Disk().names(folder)) if name.endswith(suffix))

    def folders(self, folder: Path) -> Iterator[Path]:
        """Yield the folders of a folder inside the source, sorted."""
        if _is_inside(folder, self.root):
            yield from (one for one in sorted(folder.iterdir()) if _is_inside(one, self.root))


def written_at(path: Path, largest: int) -> float:
    """Return when a regular file was last written; raises BadArgument for a link or a file that is too large."""
    found = Disk().find(path)
    if found is None:
        raise BadArgument(sentences.migration.NO_REGULAR_FILE)
    if found.size > largest:
        raise BadArgument(sentences.migration.TOO_LARGE)
    return found.written_at


def _file(path: Path) -> Path | None:
    return path if path.exists() else None


def _folder(parent: Path, name: str) -> Path | None:
    return parent / name if _is_inside(parent / name, parent) else None


def _is_inside(folder: Path, root: Path) -> bool:
    return folder.is_dir() and not folder.is_symlink() and folder.resolve().is_relative_to(root.resolve())


def keep_summaries(data_dir: Path, disk: Disk) -> None:
    """Copy the summaries for the takeover; blocking. A failure is logged: the command ``migrate`` can do it later."""
    source = data_dir / SUMMARIES
    try:
        found = disk.find(source)
        if found and found.size > LARGEST_LIST:
            log.warning("%s", sentences.migration.not_kept(source, sentences.migration.TOO_LARGE))
        elif found and not disk.find(data_dir / COPY):
            disk.copy(source, data_dir / f"{COPY}{TEMP}")
            disk.put_in_place(data_dir / f"{COPY}{TEMP}", data_dir / COPY)
    except (StorageRefused, Vanished) as refused:
        log.warning("%s", sentences.migration.not_kept(source, str(refused)))


PIECE = 64 * 1024  # characters read at once
LONGEST_ROW = 256 * 1024  # characters; what is longer counts as damaged
MOST_DAMAGED = 1_000  # rows, after which the rest is given up
_NEXT_ROW = re.compile(r",\s*(?=\{)")
_BETWEEN = " \t\r\n,"


class DamagedRow:
    """Stands for a row that is not JSON."""


DAMAGED = DamagedRow()


def rows_of(path: Path) -> Iterator[object]:
    """Yield each row, and DAMAGED for a row that is not JSON; raises BadArgument if the file is not a list."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        yield from _ListReader(file).rows()


class _ListReader:
    def __init__(self, file: TextIO) -> None:
        self._file, self._text, self._at, self._is_end = file, "", 0, False
        self._decoder = json.JSONDecoder()

    def rows(self) -> Iterator[object]:
        if self._next_sign(" \t\r\n") != "[":
            raise BadArgument(sentences.migration.NOT_A_LIST)
        self._at += 1
        damaged, row = 0, None
        while (sign := self._next_sign(_BETWEEN)) and sign != "]":
            row = self._row()
            yield row
            if row is DAMAGED:
                damaged += 1
                if damaged == MOST_DAMAGED:
                    raise BadArgument(sentences.migration.TOO_MUCH_BROKEN)
                self._skip()
        if not sign and row is not DAMAGED:
            yield DAMAGED  # the file ends before the list does

    def _next_sign(self, between: str) -> str:
        """Skip the separators between two rows; return the next character, or "" at the end of the file."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in between:
                self._at += 1
            if self._at < len(self._text) or self._is_end:
                return self._text[self._at : self._at + 1]
            self._read()

    def _row(self) -> object:
        while True:
            try:
                row, end = self._decoder.raw_decode(self._text, self._at)
            except (ValueError, RecursionError):
                if self._is_end or len(self._text) - self._at > LONGEST_ROW:
                    return DAMAGED
            else:
                if end < len(self._text) or self._is_end:
                    self._at = end
                    return row
            self._read()

    def _skip(self) -> None:
        """Skip to the next object that follows a comma, or to the end of the file if there is none."""
        while not (found := _NEXT_ROW.search(self._text, self._at + 1)):
            if self._is_end:
                self._at = len(self._text)
                return
            self._at = max(self._at, len(self._text) - 2)
            self._read()
        self._at = found.end()

    def _read(self) -> None:
        piece = self._file.read(PIECE)
        self._text, self._at, self._is_end = self._text[self._at :] + piece, 0, not piece
