"""Tests of removing a person from files of other programs."""

from __future__ import annotations

import json

import pytest

from cognitive_memory_core.domain.job import Job
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.scope import Scene, Scope
from cognitive_memory_core.domain.turn import Dialogue
from cognitive_memory_core.queue.codec import encoded
from cognitive_memory_core.queue.erasure import summaries_without, without_person
from cognitive_memory_core.text.redaction import Redaction
from tests.support.builders import a_job
from tests.support.clock import NOON

PLACE = Scope("default", "private", "2000001")
HIDE = Redaction.of({"2000001"}, {"阿棠"})
OTHERS = [{"summary": f"别人的备忘{number}", "location": {"type": "private", "name": "300030"}} for number in range(3)]
ROWS = [*OTHERS, {"summary": "和阿棠聊天", "location": {"type": "group", "name": "1"}}]
WRITTEN = json.dumps(ROWS, ensure_ascii=False)


def erased(data: bytes, *memo_ids: str) -> bytes | None:
    """Remove the person from a list of summaries."""
    return summaries_without(data, memo_ids=memo_ids, place=PLACE, hide=HIDE)


@pytest.mark.parametrize(
    "torn",
    [
        b'[{"summary": "x", "location": {"type": "private", "name": "2000001"}',
        b'[{"summary": "x", "id": "memo1"',
        b'\xff\xfe\xff"' + "阿棠".encode(),
    ],
)
def test_a_broken_list_that_mentions_the_person_goes(torn: bytes) -> None:
    """A file that is no list any more is removed if it may contain the person or their memo; else it stays."""
    assert erased(torn, "memo1") == b""
    assert erased(b'[{"summary": "x"', "memo1") is None


def test_a_name_like_anothers_id_takes_nothing_away() -> None:
    """Rows are removed by ids only, not because a name equals somebody's id."""
    hide = Redaction.of({"2000001"}, {"300030"})
    assert summaries_without(WRITTEN.encode(), memo_ids=(), place=PLACE, hide=hide) is None


def test_a_job_of_which_nothing_can_be_left_goes() -> None:
    """A dialogue of the person with the bot's lines alone goes, as does a job that would grow too large."""
    mine, bots = Scene.group("10001", "2000001"), Scene.group("10001", "90001")
    silent = Job("silent", Dialogue(mine, [Message("m1", bots, "在的", NOON, is_bot=True)]), NOON)
    large = a_job("阿棠" * 700_000, scene=Scene.group("10001", "2000002"))
    for job in (silent, large):
        assert without_person(encoded(job), user_id="2000001", hide=HIDE) == b""
