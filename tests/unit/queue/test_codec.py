"""Tests of writing jobs to files and of reading all earlier formats."""

from __future__ import annotations

import contextlib
import json
import math
from datetime import datetime, timedelta, timezone
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognitive_memory_core.domain.job import Job
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.domain.turn import Dialogue, Turn
from cognitive_memory_core.errors import PermanentError
from cognitive_memory_core.queue import codec
from cognitive_memory_core.queue.erasure import without_message
from tests.support.builders import PRIVATE, a_job
from tests.support.clock import NOON, SHANGHAI

ARRIVED = datetime(2026, 2, 22, 11, 8, tzinfo=timezone.utc)
SEED_JOB: dict[str, Any] = {  # as the older system writes it
    "request_id": "5b1e0c7e-2f0f-4a5e-9a55-0b9d1f3c2a11",
    "end_seq": 0,
    "user_id": "2000001",
    "group_id": "10001",
    "sender_id": "2000002",
    "sender_name": "小满",
    "group_name": "读书会",
    "bot_name": "Undefined",
    "request_type": "group",
    "timestamp_utc": "2026-02-22T02:30:00+00:00",
    "timestamp_local": "2026-02-22T10:30:00+08:00",
    "timestamp_epoch": 1771727400,
    "timezone": "CST",
    "location_abs": "读书会",
    "message_ids": ["9001", 9002],
    "memo": "推荐了一本书",
    "observations": ["小满在读《三体》", "小满周三有空"],
    "has_observations": True,
    "perspective": "",
    "profile_targets": [{"entity_type": "user", "entity_id": "2000002"}],
    "schema_version": "final_v1",
    "source_message": "我在读三体",
    "recent_messages": ["[10:29] 阿棠(2000001): 读什么好"],
    "force": False,
    "_retry_count": 2,
}

texts = st.text(st.characters(codec=None), max_size=30)
identifiers = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=20)
instants = st.builds(
    lambda minutes, zone: NOON.astimezone(zone) + timedelta(minutes=minutes),
    st.integers(-20_000_000, 80_000_000),
    st.sampled_from([timezone.utc, SHANGHAI]),
)
scenes = st.one_of(
    st.builds(
        Scene.group,
        identifiers,
        identifiers,
        user_name=texts,
        group_name=texts,
        agent=identifiers,
        is_admin=st.booleans(),
    ),
    st.builds(Scene.private, identifiers, user_name=texts, agent=identifiers),
)
messages = st.builds(
    Message,
    identifiers,
    scenes,
    texts,
    instants,
    reply_to=st.none() | identifiers,
    is_bot=st.booleans(),
    addressed_to_bot=st.booleans(),
)
turns = st.builds(
    Turn,
    scenes,
    memo=texts,
    observations=st.lists(texts, max_size=4),
    perspective=st.none() | texts,
    force=st.booleans(),
    source_message=texts,
    recent_messages=st.lists(messages | texts, max_size=4),
    message_ids=st.lists(identifiers, max_size=3),
    request_id=st.none() | texts.filter(bool),
    happened_at=st.none() | instants,
)
dialogues = st.builds(Dialogue, scenes, st.lists(messages, max_size=4).map(tuple))
jobs = st.builds(Job, st.just("j1"), turns | dialogues, instants)


def read(job_file: dict[str, Any] | bytes, job_id: str = "j1") -> Job:
    """Read a job file."""
    data = job_file if isinstance(job_file, bytes) else json.dumps(job_file).encode()
    return codec.job_of(codec.body_of(data), job_id, ARRIVED)


def turn_of(job_file: dict[str, Any]) -> Turn:
    """Read the turn of a job file."""
    work = read(job_file).work
    assert isinstance(work, Turn)
    return work


@given(jobs)
def test_every_job_that_can_be_written_is_read_back(job: Job):
    """A job that is written and read is equal; broken characters become U+FFFD."""
    read_back = read(codec.encoded(job))
    again = read(codec.encoded(read_back))
    assert again == read_back
    if "\ufffd" not in repr(read_back):
        assert read_back == job
        assert read_back.work.scene.user_name == job.work.scene.user_name
        assert read_back.work.scene.is_admin is job.work.scene.is_admin
        assert read_back.work.scene.group_name == job.work.scene.group_name


@given(st.binary(max_size=200) | st.recursive(st.none() | st.booleans() | st.floats() | texts, st.lists).map(repr))
def test_rubbish_is_refused_with_one_line(rubbish: bytes | str):
    """Any content of a file gives a job or a PermanentError with a one-line reason."""
    data = rubbish if isinstance(rubbish, bytes) else rubbish.encode("utf-8", "replace")
    with pytest.raises(PermanentError) as refused:
        read(data)
    assert str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) <= codec.ERROR_LENGTH


@given(
    st.fixed_dictionaries(
        {},
        optional={
            key: st.none() | st.booleans() | st.integers() | texts | st.lists(texts | st.integers(), max_size=3)
            for key in ("schema_version", "kind", "scene", "user_id", "group_id", "memo", "observations", "messages")
        },
    )
)
def test_fields_of_wrong_types_are_refused_or_read(body: dict[str, Any]):
    """Fields of any type are read or refused without another error."""
    with contextlib.suppress(PermanentError):
        assert codec.job_of(body, "j1", ARRIVED).id == "j1"


def test_a_job_of_a_later_release_is_refused():
    """A job of a later version is refused."""
    body = {**json.loads(codec.encoded(a_job())), "schema_version": 2}
    with pytest.raises(PermanentError, match="更新的版本"):
        read(body)


def test_a_job_of_the_older_system_is_read():
    """A flat job file of the older system is read with scene, memo, observations, sources and time."""
    job = read(SEED_JOB)
    assert job.work == Turn(
        Scene.group("10001", "2000002"),
        memo="推荐了一本书",
        observations=["小满在读《三体》", "小满周三有空"],
        source_message="我在读三体",
        recent_messages=["[10:29] 阿棠(2000001): 读什么好"],
        message_ids=["9001", "9002"],
        request_id=SEED_JOB["request_id"],
        happened_at=datetime(2026, 2, 22, 10, 30, tzinfo=SHANGHAI),
    )
    assert (job.work.scene.user_name, job.work.scene.group_name) == ("小满", "读书会")
    assert job.happened_at.utcoffset() == timedelta(hours=8)


@pytest.mark.parametrize(
    "words",
    [
        {"memo": "聊了茶", "observations": ["爱喝茶"]},
        {"action_summary": "聊了茶", "new_info": ["爱喝茶"]},
        {"end_summary": "聊了茶", "new_info": "爱喝茶"},
    ],
)
@pytest.mark.parametrize("is_ours", [True, False])
def test_the_names_of_all_versions_are_understood(words: dict[str, Any], is_ours: bool):
    """Jobs with the field names of all versions are read in both formats."""
    place = {"scene": {"kind": "private", "user_id": "2000001"}} if is_ours else {"user_id": "2000001"}
    turn = turn_of({**place, **words})
    assert (turn.memo, turn.observations, turn.scene) == ("聊了茶", ("爱喝茶",), PRIVATE)


@pytest.mark.parametrize(
    ("fields", "happened_at"),
    [
        ({"timestamp_local": None}, datetime(2026, 2, 22, 2, 30, tzinfo=timezone.utc)),
        ({"timestamp_local": "", "timestamp_utc": ""}, datetime(2026, 2, 22, 2, 30, tzinfo=timezone.utc)),
        ({"timestamp_local": "2026-02-22T10:30:00"}, datetime(2026, 2, 22, 10, 30, tzinfo=SHANGHAI)),
        ({"timestamp_local": "昨天", "timestamp_utc": "?", "timestamp_epoch": "1771727400"}, None),
        ({"timestamp_local": None, "timestamp_utc": None, "timestamp_epoch": None}, ARRIVED),
    ],
)
def test_the_time_of_an_older_job_is_found(fields: dict[str, Any], happened_at: datetime | None):
    """The first readable time of an older job is used, otherwise the time of its file."""
    expected = happened_at or datetime(2026, 2, 22, 2, 30, tzinfo=timezone.utc)
    assert read({**SEED_JOB, **fields}).happened_at == expected


@pytest.mark.parametrize("damage", [("10001", "10011"), ('"default"', '"defauld"'), ('"memo"', '"memn"')])
def test_a_flipped_bit_moves_no_job_to_another_place(damage: tuple[str, str]):
    """A file of ours in which a place or a field's name was changed is refused, by the index as by the worker."""
    job = a_job(memo="聊了茶", message_ids=["m2"])
    assert job.scope.place_id == "10001"
    written = codec.encoded(job).decode()
    assert codec.job_of(codec.body_of(written.encode()), job.id, ARRIVED) == job
    changed = codec.body_of(written.replace(*damage, 1).encode())
    for read in (codec.job_of, codec.label_of):
        with pytest.raises(PermanentError):
            read(changed, job.id, ARRIVED)


def without(body: dict[str, Any], message_id: str) -> dict[str, Any] | None:
    """Return a job's object without a message; None if the job is removed."""
    rest = without_message(orjson.dumps(body), message_id=message_id)
    return body if rest is None else codec.body_of(rest) if rest else None


def test_a_withdrawn_message_is_taken_out_of_every_form():
    """A withdrawn message is removed from all formats, and plain lines and unknown fields stay."""
    seed = without(SEED_JOB, "9002")
    assert seed is not None
    assert seed["message_ids"] == ["9001"]
    assert seed["recent_messages"] == SEED_JOB["recent_messages"]
    assert seed["_retry_count"] == 2
    assert without(seed, "9001") is None
    assert without({"message_ids": "9001", "messages": []}, "9001") is not None
    assert without({"message_ids": ["9001", "9002"], "messages": []}, "9001") is not None


def test_a_buried_body_is_the_old_one_and_more():
    """Setting a job aside adds error and time, and keeps all other fields."""
    body = {**SEED_JOB, "n": [math.pi, None, {"x": 1}]}
    written = orjson.loads(codec.buried(body, "坏了\n真的", NOON))
    assert written == {**body, "error": "坏了 真的", "failed_at": "2026-03-04T12:00:00+08:00"}
    failed = codec.failure_of(written, "j1", 4, ARRIVED)
    assert (failed.error, failed.failed_at, failed.attempts) == ("坏了 真的", NOON, 4)
    assert failed.job == read(SEED_JOB)


@pytest.mark.parametrize(
    "error",
    [
        "Authorization: Bearer sk-abcSECRETdef",
        "authorization=SECRET",
        "401 {'api_key': 'SECRET'}",
        'HTTP 401 {"token": "SECRET"}',
        "header bearer SECRET",
        "incorrect key sk-proj-SECRET provided",
        "x-api-key:SECRET",
        "password = SECRET",
    ],
)
def test_keys_do_not_reach_a_file(error: str):
    """Text that looks like a key is removed from the error of a job that is set aside."""
    written = orjson.loads(codec.buried({}, f"调用失败 {error} 稍后再试", NOON))["error"]
    assert "SECRET" not in written
    assert written.startswith("调用失败")
