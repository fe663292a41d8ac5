"""The copy of memos in ``end_summaries.json``, which chat plugins without this memory also read and write.

The file is a JSON list, oldest first, of ``{"summary", "timestamp", "location": {"type", "name"}}`` (in older files of
plain strings). Our rows also have an ``id``, but other programs drop it when they rewrite the list. A row without
``id`` is therefore taken for ours if its text, its kind of place and its second equal those of a memo. Before rows of
other programs are dropped, the whole file is copied to ``end_summaries.before-*.json``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeGuard, cast

import orjson

from . import sentences
from .disk import TEMP, Cleaning, Disk, Vanished, is_withheld
from .domain.message import Message
from .domain.scope import Scope, datetime_of
from .domain.turn import Memo
from .errors import PermanentError, StorageRefused
from .ports import Clock
from .queue.erasure import summaries_without
from .queue.format import SEED_ZONE, SUFFIX, json_of, microseconds
from .store.messages import NoteBook
from .tasks import WriteLoop
from .text.names import writable_text

log = logging.getLogger(__name__)
KEPT = 1_000
PAUSE = 5.0  # seconds between two writes
LONGEST_PAUSE = 60.0  # seconds between two attempts while the disk refuses
Row = Mapping[str, object]


class EndSummaries:
    """Stores memos in the ledger, and the newest also in ``end_summaries.json``, to which the older mode can return.

    While :attr:`loop` runs, the file is at most :data:`PAUSE` seconds behind the ledger.
    """

    def __init__(self, notes: NoteBook, path: Path, clock: Clock, *, disk: Disk | None = None) -> None:
        """Initialise without touching the disk."""
        self._notes = notes
        self._path = path
        self._clock = clock
        self._disk = disk or Disk()
        self._is_due = True  # a killed process may not have written the latest
        self._erased: set[str] = set()  # ids of memos that the ledger may still have, because it erases them later
        self.loop = WriteLoop(path.name, self._write, debounce=0.0, spacing=PAUSE, longest_pause=LONGEST_PAUSE)
        self.flush = self.loop.flush

    async def keep(self, memo: Memo) -> None:
        """Store a memo; disk errors of the file are not raised. :meth:`flush` writes the file at once."""
        await self._notes.write_memo(memo)
        self._is_due = True
        self.loop.nudge()

    async def withdraw(self, line: Message) -> None:
        """Delete the memos that quote a withdrawn line."""
        if memo_ids := await self._notes.erase_copies(line):
            nowhere = replace(line.scene.scope, place_id=memo_ids[0])  # no place has the id of a memo
            await self.erase(memo_ids, nowhere, str)

    async def erase(self, memo_ids: Collection[str], place: Scope, hide: Callable[[str], str]) -> int:
        """Remove memos by id and by place, for every agent, from the file and from every copy in its folder.

        In all other entries ``hide`` removes a person from the text. An unreadable copy is deleted if it mentions the
        place or the hidden person. Durable on return; raises StorageRefused when the disk refuses. Idempotent. Returns
        the number of changed files.
        """
        async with self.loop.turn:
            self._erased.update(memo_ids)
            cleaning = partial(summaries_without, memo_ids=memo_ids, place=place, hide=hide)
            return await asyncio.to_thread(self._clean_files, cleaning)

    async def _write(self) -> None:
        """Write the file if memos are due; await it to the end, since its thread goes on if the caller is cancelled."""
        is_due, self._is_due = self._is_due, False
        try:
            if is_due and (latest := await self._notes.latest_memos(KEPT)):
                await asyncio.to_thread(self._merge, [_row(memo) for memo in latest])
            is_due = False
        finally:
            self._is_due |= is_due

    def _merge(self, latest: Sequence[Row]) -> None:
        """Add the latest memos to what the file contains now, which other programs may have changed."""
        data, current = self._current_rows()
        known = self._erased.union(str(row["id"]) for row in current if _is_named(row))
        existing = {_identity_of(cast("Row", row)) for row in current if isinstance(row, dict) and "id" not in row}
        new = [row for row in latest if row["id"] not in known and _identity_of(row) not in existing]
        if not new:
            return
        rows = _in_order(current, new)
        if any(not _is_named(row) for row in rows[:-KEPT]):
            self._back_up(data, is_once=len(current) <= KEPT)
        self._disk.rewrite(self._path, orjson.dumps(rows[-KEPT:], option=orjson.OPT_INDENT_2))

    def _current_rows(self) -> tuple[bytes, list[object]]:
        try:
            data = self._disk.read(self._path)
            rows = json_of(data)
        except Vanished:
            return b"", []
        except PermanentError as error:
            if is_withheld(error):
                raise StorageRefused(str(error)) from error
            return b"", self._rename_damaged(error)
        return data, cast("list[object]", rows) if isinstance(rows, list) else self._rename_damaged(
            sentences.storage_errors.NOT_A_LIST
        )

    def _clean_files(self, cleaning: Cleaning) -> int:
        folder, stem = self._path.parent, self._path.stem
        names = [name for name in self._disk.names(folder) if name.startswith(f"{stem}.")]
        for name in names:
            if name.endswith(TEMP):
                self._disk.remove(folder / name)
        changed = sum(self._disk.clean(folder / one, cleaning) is not None for one in names if one.endswith(SUFFIX))
        self._disk.sync_folder(folder)
        return changed

    def _back_up(self, data: bytes, *, is_once: bool) -> None:
        """Copy the file unless this modification time has a copy; with ``is_once``, unless there is any copy."""
        before, found = f"{self._path.stem}.before-", self._disk.find(self._path)
        names = [name for name in self._disk.names(self._path.parent) if name.startswith(before)]
        written_at = round(found.written_at * 1e6) if found else microseconds(self._clock.now())
        aside = self._path.with_name(f"{before}{written_at}.json")
        if aside.name in names or (is_once and names):
            return
        self._disk.create(aside, data)
        log.warning("%s -> %s", self._path.name, aside.name)

    def _rename_damaged(self, reason: object) -> list[object]:
        """Rename an unreadable file and return an empty list, with which a new file begins."""
        aside = self._path.with_name(f"{self._path.stem}.corrupt-{microseconds(self._clock.now())}.json")
        self._disk.move(self._path, aside)
        log.warning("%s -> %s: %s", self._path.name, aside.name, reason)
        return []


def _is_named(row: object) -> TypeGuard[Row]:
    return isinstance(row, dict) and "id" in row


def _identity_of(row: Row) -> tuple[object, ...]:
    """Return a row's text, its time in whole seconds and its kind of place; rows with all three equal are one memo."""
    at, place = _instant(row), row.get("location")
    kind = cast("Row", place).get("type") if isinstance(place, dict) else None
    return str(row.get("summary")), at, str(kind)


def _in_order(current: Sequence[object], new: Sequence[Row]) -> list[object]:
    """Return all rows, oldest first; rows of the file keep their order, and no new row precedes one without a time."""
    rows = list(current)
    for row in new:
        at, place = _instant(row), len(rows)
        while place and at is not None and (other := _instant(rows[place - 1])) is not None and other > at:
            place -= 1
        rows.insert(place, row)
    return rows


def _instant(row: object) -> float | None:
    """Return when a row was written, in whole seconds since the epoch; None if it has no readable time."""
    stated = cast("Row", row).get("timestamp") if isinstance(row, dict) else None
    try:
        at = datetime_of(str(stated))
        return (at if at.tzinfo else at.replace(tzinfo=SEED_ZONE)).timestamp() // 1
    except (ValueError, OverflowError):
        return None


def _row(memo: Memo) -> Row:
    return {
        "summary": writable_text(memo.text),
        "timestamp": memo.written_at.isoformat(timespec="seconds"),
        "location": {"type": memo.scope.kind, "name": memo.scope.place_id},
        "id": memo.id,
    }
