"""Turns the parts of an older memory into lines of an export, one row in memory at a time.

Every row is validated as an imported line is; ids are derived from content, so that a second run adds nothing.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from pydantic import ValidationError

from .. import sentences
from ..disk import MAX_BYTES, Disk
from ..domain.event import Event
from ..domain.ids import derived_id
from ..domain.instants import datetime_of
from ..domain.notes import Memo, Pin
from ..domain.people import Alias
from ..domain.profile import EntityType, Profile, ProfileKey, Revision, revision_id
from ..domain.scope import DEFAULT_AGENT, Scope
from ..domain.turn import Turn
from ..errors import BadArgument, CognitiveMemoryError
from ..ports import EmbeddedEvent
from ..profiles.codec import LARGEST, ProfileFile
from ..profiles.paths import ProfileLocation
from ..queue.codec import OLDER_ZONE, body_of, job_of
from ..text.cleaning import one_line
from ..text.names import clean_name
from ..transfer.exported_rows import HEAD, ExportedRow, row_of, written
from ..vectors.chroma.process import foreign_rows, size_of
from .layout import LARGEST_LIST, Layout, rows_of, written_at

MOST_SAID = 100
LONGEST_SENTENCE = 300
STATES = ("pending", "processing", "failed")
MEMOS = 100  # the newest summaries, which are injected; all of them become events, which are searched
_KINDS: tuple[EntityType, ...] = ("user", "group")  # folders of profiles have their plural, those of history either
_ID = re.compile(r"[0-9]{5,20}")
_OWN_ID = re.compile(r"[0-9a-f]{32}")
_MEGABYTE = 1024 * 1024
_MOST_NAMES = 100_000
_TIMES = ("timestamp_epoch", "timestamp_utc", "timestamp_local", "timestamp")  # the first that can be read counts
_Fields = Mapping[str, Any]
T = TypeVar("T")
Row = TypeVar("Row", bound=ExportedRow)
_UNREADABLE = (CognitiveMemoryError, ValueError, OverflowError, OSError, RecursionError, TypeError)


class Conversion:
    """Reads one source. Counts rows by kind, and pieces that cannot be read."""

    def __init__(self, layout: Layout, agent: str, place: Scope | None = None) -> None:
        """Start with all counts at zero; ``agent`` gets the rows, and rows that state no place get ``place``."""
        self.counts = Counter[str]()
        self.said: list[str] = []  # of the first pieces that cannot be read
        self.left_out = 0
        self._layout, self._agent, self._place = layout, agent, place
        self._places: dict[tuple[str, str], str] = {}  # ids of places by kind and name; "" if ambiguous
        self._labels: dict[tuple[Scope, str], dict[str, list[datetime]]] = {}  # of senders, with the events' times

    def turns(self) -> Iterator[Turn]:
        """Yield the turn of each job; its ``request_id`` is derived from its content: a second run adds nothing."""
        for state in STATES if self._layout.queues else ():
            for path in self._layout.files(cast("Path", self._layout.queues) / state, ".json"):
                if turn := self._read(self._layout.name(path), partial(self._turn_of, path)):
                    self.counts["job"] += 1
                    yield turn

    def write(self, draft: BinaryIO, scratch: Path) -> None:
        """Write everything but the jobs as an export; blocking.

        Profiles and events are written first, because they tell which group or person a name in a summary belongs to.
        """
        self._draft = draft
        draft.write(HEAD + b"\n")
        if self._layout.profiles:
            self._write_profiles(self._layout.profiles)
        if self._layout.chroma:
            self._write_events(self._layout.chroma, scratch)
        newest: deque[ExportedRow] = deque(maxlen=MEMOS)
        for memo in self._rows(self._layout.summaries, self._memo_of):
            newest.append(memo)
            # without a sender, so that it is readable in its place only
            event_id = self._made("migrated event of", memo.id)
            event = _event(event_id, memo.scope, memo.text, memo.written_at, is_absolute=False)
            self._write(EmbeddedEvent(event))
        for row in (*newest, *self._rows(self._layout.pins, self._pin_of)):
            self._write(row)

    def _made(self, *content: object) -> str:
        """Return the id of a row, derived from its content: one for each agent."""
        return derived_id(*content, *(() if self._agent == DEFAULT_AGENT else (self._agent,)))

    def _leave_out(self, where: str, reason: Exception | str) -> None:
        self.left_out += 1
        if len(self.said) < MOST_SAID:
            known = isinstance(reason, str | CognitiveMemoryError) and not isinstance(reason, ValidationError)
            shown = str(reason) if known else sentences.caller.NOT_UNDERSTOOD
            said = sentences.caller.LEFT_OUT.format(where=where, reason=shown)
            self.said.append(one_line(said, LONGEST_SENTENCE))

    def _read(self, where: str, make: Callable[[], T]) -> T | None:
        """Return what is made of a piece of the source; None, and the piece is left out, if it cannot be read."""
        try:
            return make()
        except _UNREADABLE as refused:
            self._leave_out(where, refused)
            return None

    def _write(self, row: ExportedRow) -> None:
        self._draft.write(written(row) + b"\n")
        self.counts["event" if isinstance(row, EmbeddedEvent) else type(row).__name__.lower()] += 1

    def _turn_of(self, path: Path) -> Turn:
        arrived_at = datetime.fromtimestamp(written_at(path, MAX_BYTES), timezone.utc)
        work = job_of(body_of(Disk().read(path)), path.stem, arrived_at).work
        if not isinstance(work, Turn):
            raise BadArgument(sentences.caller.NO_TURN)
        key = derived_id("migrated job", work.scene.scope.key, work.memo, *work.observations, work.happened_at)
        return replace(work, scene=replace(work.scene, agent=self._agent), request_id=f"migrated-{key}")

    def _write_profiles(self, folder: Path) -> None:
        for kind in _KINDS:
            present = self._layout.files(folder / f"{kind}s", ".md")
            past = (one for name in (f"{kind}s", kind) for one in self._layout.folders(folder / "history" / name))
            files = [(path, path.stem) for path in present]
            files += [(path, entity.name) for entity in past for path in self._layout.files(entity, ".md")]
            for path, name in files:
                profile = self._read(self._layout.name(path), partial(self._profile_of, path, kind, name))
                if profile is None:
                    continue
                if path.is_relative_to(folder / "history"):
                    self._write(Revision(revision_id(_replaced_at(path)), profile))
                else:
                    self._write(profile)
                    self._record_place_name(profile.key.scope, profile.name)

    def _profile_of(self, path: Path, kind: EntityType, name: str) -> Profile:
        at = datetime.fromtimestamp(written_at(path, LARGEST), timezone.utc)
        location = ProfileLocation(self._layout.root, "", kind, "", name)
        read = ProfileFile.read(Disk().read(path), location, OLDER_ZONE, at).profile
        return _checked(replace(read, key=replace(read.key, agent=self._agent)))

    def _write_events(self, folder: Path, scratch: Path) -> None:
        words, name = sentences.caller, self._layout.name(folder)
        try:
            size = size_of(folder)
            if size <= shutil.disk_usage(scratch).free:
                with closing(foreign_rows(folder, scratch)) as lines:
                    for number, row in enumerate(lines, 1):
                        self._write_event(words.ROW.format(name=words.CHROMA_FOLDER, number=number), *row)
            else:
                self._leave_out(name, words.CHROMA_NO_ROOM.format(size=size // _MEGABYTE + 1))
        except (OSError, shutil.Error):
            self._leave_out(name, words.CHROMA_UNREADABLE)
        # the most frequent name of each sender, as 带小明(1) is none; the newest of each group, as an empty profile,
        # which an import ignores where the group has one
        rows: list[ExportedRow] = []
        for (scope, sender), told in self._labels.items():
            name, times = max(told.items(), key=lambda one: (len(one[1]), -len(one[0])))
            rows.append(Alias(scope, sender, name, min(times), max(times)))
        now = datetime.now(timezone.utc)
        for (kind, name), group_id in reversed(self._places.items()):
            if kind == "group" and group_id:
                rows.append(Profile(ProfileKey.group(group_id, self._agent), name, (), "", now))
        self._draft.writelines(written(row) + b"\n" for row in rows)

    def _write_event(self, where: str, text: object, stored: object) -> None:
        """Write an event; record the name of its place, and its sender's: of the own chat, or ``name(id)`` in front."""
        row = self._read(where, partial(self._event_of, _text(text).strip(), stored))
        if row is None:
            return
        self._write(row)
        event, place_name = row.event, _text(_object(stored).get("location_abs"))
        scope, sender = event.scope, event.sender_id
        self._record_place_name(scope, place_name)
        label = re.match(rf"([^()（）]+)\({re.escape(sender)}\)", event.text)
        is_own_chat = scope.kind == "private" and scope.place_id == sender
        name = clean_name(place_name if is_own_chat else label[1] if label else "")
        if sender and name:
            self._labels.setdefault((scope, sender), {}).setdefault(name, []).append(event.happened_at)

    def _record_place_name(self, scope: Scope, name: str) -> None:
        """Record which group or private chat has a name; a name that two places have identifies neither."""
        if name and (len(self._places) < _MOST_NAMES or (scope.kind, name) in self._places):
            known = self._places.setdefault((scope.kind, name), scope.place_id)
            self._places[scope.kind, name] = known if known == scope.place_id else ""

    def _event_of(self, said: str, stored: object) -> EmbeddedEvent:
        metadata = _object(stored)
        if not said:
            raise BadArgument(sentences.caller.NO_TEXT)
        group_id, user_id, sender_id = (_id(metadata.get(name)) for name in ("group_id", "user_id", "sender_id"))
        is_private = metadata.get("request_type") == "private" or not group_id
        if is_private and (metadata.get("request_type") == "group" or not (user_id or sender_id)):
            raise BadArgument(sentences.caller.NO_PLACE)
        scope = Scope(self._agent, *(("private", user_id or sender_id) if is_private else ("group", group_id)))
        at = _instant(*map(metadata.get, _TIMES))
        event_id = self._made("migrated event", is_private, scope.place_id, sender_id, said, at.isoformat())
        event = _event(event_id, scope, said, at, is_absolute=metadata.get("is_absolute") is not False)
        perspective = _text(metadata.get("perspective"))[:64] or None
        event = replace(event, user_id=user_id or sender_id, sender_id=sender_id or user_id, perspective=perspective)
        return _checked(EmbeddedEvent(event))

    def _memo_of(self, row: object) -> Memo:
        """Return the memo of a summary: an object, or in older files a plain text without place and time."""
        fields = {"summary": row} if isinstance(row, str) else _object(row)
        text, stated = _text(fields.get("summary")).strip(), fields.get("timestamp")
        if not text:
            raise BadArgument(sentences.caller.NO_TEXT)
        scope = self._place_of(fields)
        at = _instant(stated) if stated else self._file_time
        made = _text(fields.get("id"))
        if not _OWN_ID.fullmatch(made):
            stated_at = at.isoformat() if stated else ""
            made = self._made("migrated summary", scope.kind, scope.place_id, text, stated_at)
        return _checked(Memo(made, scope, text, at))

    def _pin_of(self, row: object) -> Pin:
        fields = {"fact": row} if isinstance(row, str) else _object(row)
        text, scope, stated = _text(fields.get("fact")).strip(), self._place_of({}), fields.get("created_at")
        at = _instant(stated) if stated else self._file_time
        made = self._made("migrated pin", scope.kind, scope.place_id, text)
        return _checked(Pin(made, scope, text, "" if scope.group_id else scope.place_id, at))

    def _place_of(self, row: _Fields) -> Scope:
        """Return the place that a row names; else the given one. Raises BadArgument if there is neither."""
        location = row.get("location")
        fields: _Fields = cast("_Fields", location) if isinstance(location, dict) else {}
        kind, name = _text(fields.get("type")), _text(fields.get("name")).strip()
        known = self._places.get((kind, name)) or (_ID.fullmatch(name) and name)
        if kind in ("group", "private") and known:
            return Scope(self._agent, kind, known)
        if self._place is None:
            raise BadArgument(sentences.caller.NO_PLACE)
        return replace(self._place, agent=self._agent)

    def _rows(self, path: Path | None, made_of: Callable[[object], T]) -> Iterator[T]:
        """Yield what is made of the rows of a list; rows that cannot be read are left out."""
        if path is None:
            return
        name = self._layout.name(path)
        try:
            self._file_time = datetime.fromtimestamp(written_at(path, LARGEST_LIST), timezone.utc)
            for number, row in enumerate(rows_of(path), 1):
                made = self._read(sentences.caller.ROW.format(name=name, number=number), partial(made_of, row))
                if made is not None:
                    yield made
        except (BadArgument, OSError) as refused:
            self._leave_out(name, refused)


def _checked(row: Row) -> Row:
    """Return a row as an import reads it; raises as :func:`row_of` does."""
    return cast("Row", row_of(written(row)))


def _event(event_id: str, scope: Scope, text: str, at: datetime, *, is_absolute: bool) -> Event:
    """Return an event of a place without a sender."""
    return Event(
        event_id,
        text,
        user_id="" if scope.group_id else scope.place_id,
        group_id=scope.group_id,
        request_type=scope.kind,
        happened_at=at,
        is_absolute=is_absolute,
        agent=scope.agent,
    )


def _replaced_at(path: Path) -> datetime:
    """Return the instant in a revision's file name (UTC if it ends in Z, else local), else the file's own time."""
    digits = "".join(re.findall("[0-9]+", path.stem))
    try:
        at = datetime.strptime(digits[:20].ljust(20, "0"), "%Y%m%d%H%M%S%f")  # noqa: DTZ007  # the zone follows
        return at.replace(tzinfo=timezone.utc if path.stem.endswith("Z") else OLDER_ZONE)
    except ValueError:
        return datetime.fromtimestamp(path.lstat().st_mtime, timezone.utc)


def _instant(*values: object) -> datetime:
    """Return the first value that is a time; one without a zone is local. Raises BadArgument if there is none."""
    for value in values:
        try:
            if isinstance(value, int | float) and not isinstance(value, bool):
                return datetime.fromtimestamp(value, timezone.utc)
            at = datetime_of(_text(value))
        except (ValueError, OverflowError, OSError):
            continue
        return at if at.tzinfo else at.replace(tzinfo=OLDER_ZONE)
    raise BadArgument(sentences.caller.NO_TIME)


def _object(value: object) -> _Fields:
    if not isinstance(value, dict):
        raise BadArgument(sentences.caller.NOT_UNDERSTOOD)
    return cast("_Fields", value)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _id(value: object) -> str:
    """Return an id as text; 0 and "0" mean nobody."""
    made = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    return "" if made == "0" else made
