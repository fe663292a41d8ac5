"""Tests of the format of export lines."""

from __future__ import annotations

import json
from array import array
from dataclasses import replace
from datetime import timezone

import pytest

from cognitive_memory_core.domain.consent import OptOut, PlaceSwitch, Shared
from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.notes import Memo, Pin
from cognitive_memory_core.domain.people import Alias
from cognitive_memory_core.domain.profile import Profile, ProfileKey, Revision
from cognitive_memory_core.domain.scope import Scene, Scope
from cognitive_memory_core.ports import EmbeddedEvent
from cognitive_memory_core.transfer.exported_rows import ExportedRow, row_of, written
from tests.support.clock import NOON

PLACE = Scope("default", "group", "1")
EVENT = Event(
    "e", "说", group_id="1", user_id="2", sender_id="2", subjects=("2",), message_ids=("m",), happened_at=NOON
)
EXPERIENCE = Event("e", "说", "experience", user_id="2", request_type="private", happened_at=NOON, pain="痛")
PROFILE = Profile(ProfileKey.member("1", "2"), "名", ("茶",), "# 一", NOON.astimezone(timezone.utc), "e")
LINES: list[tuple[ExportedRow, str]] = [  # as the first release wrote them, and switches as they are written now
    (
        EmbeddedEvent(EVENT),
        (
            '{"type":"event","id":"e","agent":"default","text":"说","kind":"event","request_type":"group","group_id":"1",'
            '"user_id":"2","sender_id":"2","subjects":["2"],"perspective":null,"happened_at":"2026-03-04T12:00:00+08:00",'
            '"is_absolute":true,"message_ids":["m"],"count":1,"last_seen_at":null,"confidence":1.0,"sender_name":""}'
        ),
    ),
    (
        EmbeddedEvent(EXPERIENCE, "m1", array("f", [0.5, 0.25])),
        (
            '{"type":"event","id":"e","agent":"default","text":"说","kind":"experience","request_type":"private",'
            '"group_id":"","user_id":"2","sender_id":"","subjects":[],"perspective":null,'
            '"happened_at":"2026-03-04T12:00:00+08:00","is_absolute":true,"detail":{"pain":"痛","solution":"","outcome":""},'
            '"vector":[0.5,0.25],"embedding":"m1","message_ids":[],"count":1,"last_seen_at":null,"confidence":1.0,'
            '"sender_name":""}'
        ),
    ),
    (
        Message("m", Scene.group("1", "2", user_name="名", group_name="群"), "", NOON, reply_to="r", is_bot=True),
        (
            '{"type":"message","id":"m","agent":"default","text":"","request_type":"group","group_id":"1","user_id":"2",'
            '"user_name":"名","group_name":"群","sent_at":"2026-03-04T12:00:00+08:00","reply_to":"r","is_bot":true,'
            '"addressed_to_bot":false}'
        ),
    ),
    (
        Memo("i", PLACE, "做了", NOON, "2"),
        (
            '{"agent":"default","place":"group","place_id":"1","type":"memo","id":"i","text":"做了",'
            '"written_at":"2026-03-04T12:00:00+08:00","user_id":"2"}'
        ),
    ),
    (
        Pin("i", PLACE, "记着", "", NOON, "3"),
        (
            '{"agent":"default","place":"group","place_id":"1","type":"pin","id":"i","text":"记着","owner_id":"",'
            '"author_id":"3","pinned_at":"2026-03-04T12:00:00+08:00"}'
        ),
    ),
    (
        Alias(PLACE, "2", "名", NOON, NOON),
        (
            '{"agent":"default","place":"group","place_id":"1","type":"alias","user_id":"2","name":"名",'
            '"first_seen_at":"2026-03-04T12:00:00+08:00","last_seen_at":"2026-03-04T12:00:00+08:00"}'
        ),
    ),
    (OptOut("2", NOON), '{"type":"consent","user_id":"2","at":"2026-03-04T12:00:00+08:00"}'),
    (Shared("2", NOON), '{"type":"consent","user_id":"2","shared_at":"2026-03-04T12:00:00+08:00"}'),
    (
        PlaceSwitch(PLACE, "off"),
        '{"agent":"default","place":"group","place_id":"1","type":"consent","switch":"off","until":null}',
    ),
    (
        PlaceSwitch(Scope("default", "private", "2"), "record_only", NOON),
        (
            '{"agent":"default","place":"private","place_id":"2","type":"consent","switch":"record_only",'
            '"until":"2026-03-04T12:00:00+08:00"}'
        ),
    ),
    (
        PROFILE,
        (
            '{"agent":"default","entity_type":"member","group_id":"1","user_id":"2","name":"名","tags":["茶"],'
            '"summary":"# 一","updated_at":"2026-03-04T04:00:00Z","source_event_id":"e","type":"profile"}'
        ),
    ),
    (
        Revision("20260222T103000.123456Z", PROFILE),
        (
            '{"agent":"default","entity_type":"member","group_id":"1","user_id":"2","name":"名","tags":["茶"],'
            '"summary":"# 一","updated_at":"2026-03-04T04:00:00Z","source_event_id":"e","type":"revision",'
            '"id":"20260222T103000.123456Z"}'
        ),
    ),
]


@pytest.mark.parametrize(("row", "line"), LINES)
def test_lines_have_the_format_of_the_first_release(row: ExportedRow, line: str) -> None:
    """Rows are written in the format of the first release and read back, also with unknown fields."""
    assert json.loads(written(row)) == json.loads(line)
    assert row_of(line.encode()) == row
    assert row_of(json.dumps({**json.loads(line), "later": {"x": 1}}).encode()) == row


def test_an_event_that_was_read_before_is_written_with_its_fields_alone() -> None:
    """What an event remembers of itself, such as its place and voice, is no field of an export."""
    asked = replace(EVENT)
    assert [asked.scope, asked.own_voice, asked.wording, asked.sources]
    assert written(EmbeddedEvent(asked)) == written(EmbeddedEvent(replace(EVENT)))


@pytest.mark.parametrize(
    ("row", "members"),
    [
        (EVENT, {"request_type": None}),
        (EVENT, {"kind": "message"}),
        (EVENT, {"group_id": ""}),
        (EVENT, {"confidence": 2}),
        (EVENT, {"count": 0}),
        (EVENT, {"text": ""}),
        (EVENT, {"text": "长" * 8_001}),
        (EVENT, {"subjects": [""]}),
        (EVENT, {"happened_at": "2026-03-04T12:00:00"}),
        (EVENT, {"happened_at": "2500-03-04T12:00:00+08:00"}),
        (EVENT, {"count": 2**70}),
        (EVENT, {"type": "belief"}),
        (EVENT, {"type": ["event"]}),
    ],
)
def test_rows_that_no_memory_could_hold_are_refused(row: Event, members: dict[str, object]) -> None:
    """A scope, kind, number, text or time outside the limits raises ValueError and no other error."""
    line = {**json.loads(written(EmbeddedEvent(row))), **members}
    with pytest.raises(ValueError, match=r"\w"):
        row_of(json.dumps(line).encode())


@pytest.mark.parametrize(
    "members", [{"switch": "on"}, {"switch": "maybe"}, {"until": "2026-03-04T12:00:00"}, {"place": "everywhere"}]
)
def test_switches_that_no_place_could_have_are_refused(members: dict[str, str]) -> None:
    """A line with an unknown switch, with "on", or with an end without a zone is a bad line."""
    line = {"type": "consent", "place": "group", "place_id": "1", "switch": "off", **members}
    with pytest.raises(ValueError, match=r"\w"):
        row_of(json.dumps(line).encode())
