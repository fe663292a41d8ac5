"""Turns the parts of an older memory into lines of an export, one row in memory at a time.

Every row is validated as an imported line is; ids are derived from content, so that a second run adds nothing.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, BinaryIO, cast

import orjson
from pydantic import ValidationError

from .. import sentences
from ..disk import MAX_BYTES, Disk
from ..domain.event import Event
from ..domain.ids import derived_id
from ..domain.interval import datetime_of
from ..domain.profile import EntityType, Profile, ProfileKey, Revision, revision_id
from ..domain.scope import DEFAULT_AGENT, Scope
from ..domain.turn import Turn
from ..errors import BadArgument, CognitiveMemoryError
from ..ports.vectors import EmbeddedEvent
from ..profiles.format import LARGEST, ProfileFile
from ..profiles.paths import ProfileLocation
from ..queue.format import SEED_ZONE, body_of, job_of
from ..store.names import Alias
from ..text.names import clean_name, one_line
from ..transfer.export_format import HEAD, ExportedRow, row_of, written
from ..vectors.chroma.other_programs_folder import ForeignFolderUnreadable, foreign_rows, size_of
from .layout import DAMAGED, LARGEST_LIST, Layout, rows_of, written_at

MOST_SAID = 100
LONGEST_SENTENCE = 300


class MigrationReport:
    """Counts of rows by kind and of unreadable pieces; ``on_row`` is called for each row."""

    def __init__(self, on_row: Callable[[], None]) -> None:
        """Start with all counts at zero."""
        self.counts: Counter[str] = Counter()
        self.said: list[str] = []
        self.left_out = 0
        self._on_row = on_row

    def count(self, kind: str) -> None:
        """Count a row."""
        self.counts[kind] += 1
        self._on_row()

    def leave_out(self, where: str, reason: Exception | str) -> None:
        """Count a piece that cannot be read; the messages of the first such pieces are kept."""
        self.left_out += 1
        if len(self.said) < MOST_SAID:
            known = isinstance(reason, str | CognitiveMemoryError) and not isinstance(reason, ValidationError)
            shown = str(reason) if known else sentences.migration.NOT_UNDERSTOOD
            said = sentences.migration.LEFT_OUT.format(where=where, reason=shown)
            self.said.append(one_line(said, LONGEST_SENTENCE))


STATES = ("pending", "processing", "failed")


def turns_of(layout: Layout, report: MigrationReport, agent: str = DEFAULT_AGENT) -> Iterator[Turn]:
    """Yield the turn of each job; its ``request_id`` is derived from its content, so that a second run adds nothing."""
    if layout.queues is None:
        return
    for state in STATES:
        for path in layout.files(layout.queues / state, ".json"):
            try:
                arrived_at = datetime.fromtimestamp(written_at(path, MAX_BYTES), timezone.utc)
                work = job_of(body_of(Disk().read(path)), path.stem, arrived_at).work
                if not isinstance(work, Turn):
                    raise BadArgument(sentences.migration.NO_TURN)
            except CognitiveMemoryError as refused:
                report.leave_out(layout.name(path), refused)
            else:
                report.count("job")
                key = derived_id("migrated job", work.scene.scope.key, work.memo, *work.observations, work.happened_at)
                yield replace(work, scene=replace(work.scene, agent=agent), request_id=f"migrated-{key}")


MEMOS = 100  # the newest summaries, which are injected; all of them become events, which are searched
_KINDS: dict[EntityType, tuple[str, tuple[str, ...]]] = {
    "user": ("users", ("users", "user")),
    "group": ("groups", ("groups", "group")),
}  # folder of profiles, and folders of their history in either version
_ID = re.compile(r"[0-9]{5,20}")
_OWN_ID = re.compile(r"[0-9a-f]{32}")
_MEGABYTE = 1024 * 1024
_MOST_NAMES = 100_000
_TIMES = ("timestamp_epoch", "timestamp_utc", "timestamp_local", "timestamp")  # the first that can be read counts
_Fields = Mapping[str, Any]
_UNREADABLE = (CognitiveMemoryError, ValueError, OverflowError, OSError, RecursionError, TypeError)


@dataclass(frozen=True)
class Destination:
    """The agent that receives the rows, and the place of rows that state none: a group, or a person's private chat."""

    group_id: str = ""
    user_id: str = ""
    agent: str = DEFAULT_AGENT

    def made(self, *content: object) -> str:
        """Return the id of a row, derived from its content: one for each agent."""
        return derived_id(*content, *(() if self.agent == DEFAULT_AGENT else (self.agent,)))

    @property
    def fields(self) -> _Fields:
        """The place as fields of a memo or pin; empty if there is none."""
        if self.group_id:
            return {"place": "group", "place_id": self.group_id}
        return {"place": "private", "place_id": self.user_id} if self.user_id else {}


class Conversion:
    """Writes one source as an export."""

    def __init__(self, layout: Layout, draft: BinaryIO, report: MigrationReport, destination: Destination) -> None:
        """Write to ``draft``; rows that state no place get that of ``destination``."""
        self._layout, self._draft, self._report, self._destination = layout, draft, report, destination
        self._places: dict[tuple[str, str], str] = {}  # ids of groups and people by kind and name; "" if ambiguous
        self._labels: dict[
            tuple[Scope, str], dict[str, list[datetime]]
        ] = {}  # of senders, by name, with the events' times

    def run(self, scratch: Path) -> None:
        """Write everything; blocking.

        Profiles and events are written first, because they tell which group or person a name in a summary belongs to.
        """
        self._draft.write(HEAD + b"\n")
        if self._layout.profiles:
            for kind in _KINDS:
                self._write_profiles(self._layout.profiles, kind)
        if self._layout.chroma:
            self._write_events(self._layout.chroma, scratch)
            self._write_names()
        if self._layout.summaries:
            self._write_summaries(self._layout.summaries)
        if self._layout.pins:
            self._write_pins(self._layout.pins)

    def _write(self, where: str, fields: _Fields) -> ExportedRow | None:
        try:
            row = row_of(orjson.dumps({"agent": self._destination.agent, **fields}))
        except _UNREADABLE as refused:
            self._report.leave_out(where, refused)
            return None
        self._write_row(row, str(fields["type"]))
        return row

    def _write_row(self, row: ExportedRow, kind: str) -> None:
        self._draft.write(written(row) + b"\n")
        self._report.count(kind)

    def _write_profiles(self, folder: Path, kind: EntityType) -> None:
        current, histories = _KINDS[kind]
        for path in self._layout.files(folder / current, ".md"):
            if profile := self._profile(path, kind, path.stem):
                self._write_row(profile, "profile")
                self._record_place_name(kind, profile.name, profile.key.group_id or profile.key.user_id)
        for one in histories:
            for entity in self._layout.folders(folder / "history" / one):
                for path in self._layout.files(entity, ".md"):
                    if profile := self._profile(path, kind, entity.name):
                        self._write_row(Revision(revision_id(_replaced_at(path)), profile), "revision")

    def _profile(self, path: Path, kind: EntityType, name: str) -> Profile | None:
        try:
            at = datetime.fromtimestamp(written_at(path, LARGEST), timezone.utc)
            location = ProfileLocation(self._layout.root, "", kind, "", name)
            read = ProfileFile.read(Disk().read(path), location, SEED_ZONE, at).profile
            owned = replace(read, key=replace(read.key, agent=self._destination.agent))
            return cast("Profile", row_of(written(owned)))
        except _UNREADABLE as refused:
            self._report.leave_out(self._layout.name(path), refused)
            return None

    def _write_events(self, folder: Path, scratch: Path) -> None:
        name, words = self._layout.name(folder), sentences.migration
        number = 0
        try:
            size = size_of(folder)
            if size > shutil.disk_usage(scratch).free:
                self._report.leave_out(name, words.CHROMA_NO_ROOM.format(size=size // _MEGABYTE + 1))
                return
            with closing(foreign_rows(folder, scratch)) as lines:
                for number, line in enumerate(lines, 1):
                    self._write_event(words.ROW.format(name=words.CHROMA_FOLDER, number=number), line)
        except (ForeignFolderUnreadable, OSError, shutil.Error):
            self._report.leave_out(name, words.CHROMA_UNREADABLE)

    def _write_event(self, where: str, line: bytes) -> None:
        try:
            row = cast("_Fields", orjson.loads(line))
            fields = self._event_fields(row["text"], _object(row["metadata"]))
        except _UNREADABLE as refused:
            self._report.leave_out(where, refused)
            return
        if isinstance(written_row := self._write(where, fields), EmbeddedEvent):
            self._record_names(written_row.event, _text(row["metadata"].get("location_abs")))

    def _record_names(self, event: Event, place_name: str) -> None:
        """Record the name of an event's place, and its sender's: of the own chat, or ``name(id)`` before the text."""
        scope, sender = event.scope, event.sender_id
        self._record_place_name("group" if event.group_id else "user", place_name, scope.place_id)
        label = re.match(rf"([^()（）]+)\({re.escape(sender)}\)", event.text)
        is_own_chat = scope.kind == "private" and scope.place_id == sender
        name = clean_name(place_name if is_own_chat else label[1] if label else "")
        if sender and name:
            self._labels.setdefault((scope, sender), {}).setdefault(name, []).append(event.happened_at)

    def _write_names(self) -> None:
        """Write the most frequent name of each sender, as 带小明(1) is none, and the newest of each group.

        The latter as an empty profile, which an import ignores where the group has one.
        """
        rows: list[ExportedRow] = []
        for (scope, sender), told in self._labels.items():
            name, times = max(told.items(), key=lambda one: (len(one[1]), -len(one[0])))
            rows.append(Alias(scope, sender, name, min(times), max(times)))
        now = datetime.now(timezone.utc)
        for (kind, name), group_id in reversed(self._places.items()):
            if kind == "group" and group_id:
                rows.append(Profile(ProfileKey.group(group_id, self._destination.agent), name, (), "", now))
        self._draft.writelines(written(row) + b"\n" for row in rows)

    def _event_fields(self, text: object, metadata: _Fields) -> _Fields:
        said = _text(text).strip()
        if not said:
            raise BadArgument(sentences.migration.NO_TEXT)
        group_id, user_id, sender_id = (_id(metadata.get(name)) for name in ("group_id", "user_id", "sender_id"))
        is_private = metadata.get("request_type") == "private" or not group_id
        if is_private and (metadata.get("request_type") == "group" or not (user_id or sender_id)):
            raise BadArgument(sentences.migration.NO_PLACE)
        place_id = (user_id or sender_id) if is_private else group_id
        at = _instant(*map(metadata.get, _TIMES))
        return {
            "type": "event",
            "id": self._destination.made("migrated event", is_private, place_id, sender_id, said, at.isoformat()),
            "text": said,
            "request_type": "private" if is_private else "group",
            "group_id": "" if is_private else group_id,
            "user_id": user_id or sender_id,
            "sender_id": sender_id or user_id,
            "perspective": _text(metadata.get("perspective"))[:64] or None,
            "is_absolute": metadata.get("is_absolute") is not False,
            "happened_at": at.isoformat(),
        }

    def _write_summaries(self, path: Path) -> None:
        newest: deque[tuple[str, _Fields]] = deque(maxlen=MEMOS)
        for where, memo in self._rows(path, self._memo_fields):
            newest.append((where, memo))
            self._write(where, self._event_of_memo(memo))
        for where, memo in newest:
            self._write(where, memo)

    def _memo_fields(self, row: object) -> _Fields:
        """Return the memo of a summary: an object, or in older files a plain text without place and time."""
        fields = {"summary": row} if isinstance(row, str) else _object(row)
        text = _text(fields.get("summary")).strip()
        if not text:
            raise BadArgument(sentences.migration.NO_TEXT)
        place = self._place(fields.get("location"))
        stated = fields.get("timestamp")
        at = _instant(stated) if stated else self._file_time
        made = _own_id(fields.get("id")) or self._destination.made(
            "migrated summary", *place.values(), text, at.isoformat() if stated else ""
        )
        return {"type": "memo", "id": made, **place, "text": text, "written_at": at.isoformat()}

    def _event_of_memo(self, memo: _Fields) -> _Fields:
        """Return the event of a summary, without a sender, so that it is readable in its place only."""
        is_group = memo["place"] == "group"
        return {
            "type": "event",
            "id": self._destination.made("migrated event of", memo["id"]),
            "text": memo["text"],
            "request_type": memo["place"],
            "group_id": memo["place_id"] if is_group else "",
            "user_id": "" if is_group else memo["place_id"],
            "is_absolute": False,
            "happened_at": memo["written_at"],
        }

    def _place(self, location: object) -> _Fields:
        """Return the place that a location names; else the destination's. Raises BadArgument if neither names one."""
        if isinstance(location, dict):
            fields = cast("_Fields", location)
            kind, name = _text(fields.get("type")), _text(fields.get("name")).strip()
            known = self._places.get(("group" if kind == "group" else "user", name)) or (_ID.fullmatch(name) and name)
            if kind in ("group", "private") and known:
                return {"place": kind, "place_id": known}
        if not self._destination.fields:
            raise BadArgument(sentences.migration.NO_PLACE)
        return self._destination.fields

    def _write_pins(self, path: Path) -> None:
        for where, pin in self._rows(path, self._pin_fields):
            self._write(where, pin)

    def _pin_fields(self, row: object) -> _Fields:
        fields = {"fact": row} if isinstance(row, str) else _object(row)
        text, place = _text(fields.get("fact")).strip(), self._place(None)
        at = _instant(fields["created_at"]) if fields.get("created_at") else self._file_time
        made = self._destination.made("migrated pin", *place.values(), text)
        owner = "" if place["place"] == "group" else place["place_id"]
        return {"type": "pin", "id": made, **place, "text": text, "owner_id": owner, "pinned_at": at.isoformat()}

    def _rows(self, path: Path, fields_of: Callable[[object], _Fields]) -> Iterator[tuple[str, _Fields]]:
        """Yield the fields of the rows of a list, with their positions; rows that cannot be read go into the report."""
        name = self._layout.name(path)
        try:
            self._file_time = datetime.fromtimestamp(written_at(path, LARGEST_LIST), timezone.utc)
            for number, row in enumerate(rows_of(path), 1):
                where = sentences.migration.ROW.format(name=name, number=number)
                try:
                    if row is DAMAGED:
                        raise BadArgument(sentences.migration.BROKEN_JSON)
                    fields = fields_of(row)
                except _UNREADABLE as refused:
                    self._report.leave_out(where, refused)
                else:
                    yield where, fields
        except (BadArgument, OSError) as refused:
            self._report.leave_out(name, refused)

    def _record_place_name(self, kind: str, name: str, place_id: str) -> None:
        """Record which group or private chat has a name; a name that two places have identifies neither."""
        if name and (len(self._places) < _MOST_NAMES or (kind, name) in self._places):
            known = self._places.setdefault((kind, name), place_id)
            self._places[kind, name] = known if known == place_id else ""


def _replaced_at(path: Path) -> datetime:
    """Return the instant in a revision's file name (UTC if it ends in Z, else local), else the file's own time."""
    digits = "".join(re.findall("[0-9]+", path.stem))
    try:
        at = datetime.strptime(digits[:20].ljust(20, "0"), "%Y%m%d%H%M%S%f")  # noqa: DTZ007  # the zone follows
        return at.replace(tzinfo=timezone.utc if path.stem.endswith("Z") else SEED_ZONE)
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
        return at if at.tzinfo else at.replace(tzinfo=SEED_ZONE)
    raise BadArgument(sentences.migration.NO_TIME)


def _object(value: object) -> _Fields:
    if not isinstance(value, dict):
        raise BadArgument(sentences.migration.NOT_UNDERSTOOD)
    return cast("_Fields", value)


def _own_id(value: object) -> str:
    """Return the id under which this memory wrote a row itself; "" if it has none."""
    return value if isinstance(value, str) and _OWN_ID.fullmatch(value) else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _id(value: object) -> str:
    """Return an id as text; 0 and "0" mean nobody."""
    made = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    return "" if made == "0" else made
