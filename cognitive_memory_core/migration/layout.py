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

from .. import sentences
from ..disk import TEMP, Disk, Vanished
from ..errors import BadArgument, StorageRefused

log = logging.getLogger(__name__)
SUMMARIES, PINS = "end_summaries.json", "memory.json"
COPY = "end_summaries.takeover.json"
LARGEST_LIST = 64 * 1024 * 1024  # bytes of a file that is read as a whole


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
        """Find the parts of an older memory: in a file, its data directory, the one above, or ``data/cognitive`` alone.

        Raises BadArgument if the path holds no part of an older memory.
        """
        place = path.resolve()
        if place.is_file():
            is_pins = place.name == PINS
            return cls(place.parent, None if is_pins else place, place if is_pins else None)
        inside = place / "data" if (place / "data").is_dir() else place
        summaries, pins = (inside / name if (inside / name).exists() else None for name in (SUMMARIES, PINS))
        parts: list[Path | None] = []
        for name in ("profiles", "queues", "chromadb"):
            folders = (inside / name, inside / "cognitive" / name)
            parts.append(next((one for one in folders if _is_inside(one, inside)), None))
        found = cls(inside, summaries, pins, *parts)
        if found == cls(inside):
            raise BadArgument(sentences.caller.NO_SOURCES.format(path=path))
        return found

    def name(self, path: Path) -> str:
        """Return a path as a report shows it: relative to the source."""
        if path.name == COPY:
            return SUMMARIES
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
        raise BadArgument(sentences.caller.NO_REGULAR_FILE)
    if found.size > largest:
        raise BadArgument(sentences.caller.TOO_LARGE)
    return found.written_at


def _is_inside(folder: Path, root: Path) -> bool:
    return folder.is_dir() and not folder.is_symlink() and folder.resolve().is_relative_to(root.resolve())


def keep_summaries(data_dir: Path, disk: Disk) -> None:
    """Copy the summaries for the takeover; blocking. A failure is logged: the command ``migrate`` can do it later."""
    source = data_dir / SUMMARIES
    try:
        found = disk.find(source)
        if found and found.size > LARGEST_LIST:
            log.warning("%s", sentences.caller.NOT_KEPT.format(path=source, reason=sentences.caller.TOO_LARGE))
        elif found and not disk.find(data_dir / COPY):
            disk.copy(source, data_dir / f"{COPY}{TEMP}")
            disk.put_in_place(data_dir / f"{COPY}{TEMP}", data_dir / COPY)
    except (StorageRefused, Vanished) as refused:
        log.warning("%s", sentences.caller.NOT_KEPT.format(path=source, reason=str(refused)))


_BETWEEN = re.compile(r"[\s,]*")


def rows_of(path: Path) -> Iterator[object]:
    """Yield each row; raises BadArgument if the file is not a list, and behind the last row that is whole JSON."""
    text, decoder, at = path.read_text("utf-8-sig", "replace").lstrip(), json.JSONDecoder(), 1
    if not text.startswith("["):
        raise BadArgument(sentences.storage_errors.NOT_A_LIST)
    while text[(at := next(_BETWEEN.finditer(text, at)).end()) : at + 1] != "]":
        try:
            row, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            raise BadArgument(sentences.caller.BROKEN_JSON) from None
        yield row
