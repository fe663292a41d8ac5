"""Tests of the checks by which a model's statement is somebody's word: provenance, never the meaning of words."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from cognitive_memory_core.domain.job import JobContext
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.people import Person
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.historian.statements import GivenLines, carries, faults, is_change, is_same
from tests.support.builders import an_event
from tests.support.clock import NOON

TANG, BEI, MO = Person("2000001", "阿棠"), Person("2000002", "小北"), Person("2000003", "阿墨")
GROUP = Scene.group("10001", "2000001", user_name="阿棠", group_name="读书会")
JOB_CONTEXT = JobContext(NOON, GROUP.scope, "读书会", TANG, (TANG, BEI, MO))


def lines(*said: tuple[Person, str], **fields: Any) -> list[Message]:
    """Return the lines of a chat, a minute apart; "回复N：" at the beginning of a text replies to line N."""
    found: list[Message] = []
    for number, (person, text) in enumerate(said, 1):
        scene = Scene.group("10001", person.id, user_name=person.name, **fields)
        to, mark, rest = text.partition("：")
        reply = f"m{to.removeprefix('回复')}" if mark and to.startswith("回复") else None
        at = NOON - timedelta(minutes=60 - number)
        found.append(Message(f"m{number}", scene, rest if reply else text, at, reply_to=reply))
    return found


def carried(person: Person, text: str, said: list[Message], *cited: int) -> bool:
    """Return whether the cited lines of a person carry a text."""
    given = GivenLines(said)
    return carries(person.id, text, given.cited(cited), given, JOB_CONTEXT)


def test_the_sender_of_the_words_is_the_voice() -> None:
    """A statement in the words of one person's line is theirs, whoever the model names beside them."""
    said = lines((TANG, "我对花生过敏，点菜避开"), (BEI, "好的"))
    assert carried(TANG, "阿棠(2000001)对花生过敏", said, 1)
    assert not carried(BEI, "小北(2000002)对花生过敏", said, 1, 2)
    assert not carried(BEI, "阿棠(2000001)对花生过敏", said, 1)


def test_an_echo_is_nobodys_word() -> None:
    """Words that stand in somebody else's line just before, or in the line that is answered, count for nobody else."""
    said = lines((BEI, "阿棠欠我五千块，对吧"), (TANG, "谁欠你五千块，没有的事"))
    assert not carried(TANG, "阿棠(2000001)欠小北(2000002)五千块", said, 2)
    far = lines(*[(MO, f"闲聊{number}") for number in range(14)], (TANG, "回复1：闲聊0"))
    assert not carried(TANG, "阿棠(2000001)闲聊0", far, 15)


def test_what_others_said_needs_their_voice() -> None:
    """A statement of which more than a fifth stands only in others' cited lines is nobody's alone."""
    said = lines((BEI, "周六去爬山，然后在山顶吃火锅唱歌"), (TANG, "我带相机"))
    assert not carried(TANG, "阿棠(2000001)周六爬山并在山顶吃火锅唱歌，带相机", said, 1, 2)
    assert carried(TANG, "阿棠(2000001)带相机", said, 1, 2)


def test_a_person_in_the_text_is_known_to_the_lines() -> None:
    """Every other person in a statement sent a cited or answered line, or is named in one."""
    said = lines(
        (TANG, "我把钥匙放前台了"), (TANG, "我把钥匙给阿墨了"), (MO, "钥匙呢"), (TANG, "回复3：我把钥匙放前台了")
    )
    assert not carried(TANG, "阿棠(2000001)把阿墨(2000003)的钥匙放前台", said, 1)
    assert carried(TANG, "阿棠(2000001)把钥匙给阿墨(2000003)", said, 2)
    assert carried(TANG, "阿棠(2000001)告诉阿墨(2000003)前台有钥匙", said, 4)


def test_figures_and_quotations_stand_in_the_lines() -> None:
    """A number, a time or a quotation that no cited line has is a fault of the text."""
    said = lines((TANG, "聚餐改到周六七点，人均80"))
    assert list(faults("聚餐改到2026年3月7日19:00，人均80元", said, JOB_CONTEXT)) == []
    assert list(faults("聚餐改到2026年3月7日19:00，人均90元", said, JOB_CONTEXT)) == ["figure"]
    assert list(faults("阿棠(2000001)说“我请大家吃饭喝酒”", said, JOB_CONTEXT)) == ["quote"]


@pytest.mark.parametrize(("voice", "is_admin", "is_rule"), [(TANG, False, False), (BEI, True, True)])
def test_a_change_is_of_the_same_voice_or_an_admins_rule(voice: Person, is_admin: bool, is_rule: bool) -> None:
    """The same voice replaces what it said with a later line, and an admin replaces a rule of the group."""
    old = an_event("读书会(10001)每周六聚会", sender_id=TANG.id, happened_at=NOON - timedelta(days=2))
    (line,) = lines((voice, "聚会改到周日"), is_admin=is_admin)
    assert is_change("聚会改到周日", line, voice.id, old, JOB_CONTEXT, is_rule=is_rule)
    assert not is_change("聚会改到周日", line, MO.id, old, JOB_CONTEXT, is_rule=False)
    assert not is_change("我养了猫", lines((voice, "我养了猫"))[0], voice.id, old, JOB_CONTEXT, is_rule=is_rule)
    later = an_event(old.text, sender_id=TANG.id, happened_at=NOON + timedelta(days=2))
    assert not is_change("聚会改到周日", line, voice.id, later, JOB_CONTEXT, is_rule=is_rule)


def test_a_repetition_has_one_voice_and_equal_figures() -> None:
    """A statement repeats an event only of the same voice and with equal figures."""
    old = an_event("阿棠(2000001)欠小北(2000002)300元", sender_id=TANG.id)
    assert is_same("阿棠(2000001)欠小北(2000002)三百块", TANG.id, old, JOB_CONTEXT)
    assert not is_same("阿棠(2000001)欠小北(2000002)400元", TANG.id, old, JOB_CONTEXT)
    assert not is_same(old.text, BEI.id, old, JOB_CONTEXT)
