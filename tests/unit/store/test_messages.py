"""The contract of MessageLog."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone

from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from tests.support.builders import GROUP, OTHER_GROUP, PRIVATE, a_draft, a_message, an_event
from tests.support.clock import NOON, FrozenClock
from tests.support.ledgers import Ledger, later, shown


async def texts(ledger: Ledger, scene: Scene = GROUP, limit: int = 100, **narrowing: datetime) -> list[str]:
    """Return the texts of the newest messages of a scene's place."""
    return [message.text for message in await ledger.log.recent(scene.scope, limit, **narrowing)]


async def test_a_message_comes_back_as_it_was_said(ledger: Ledger) -> None:
    """A message is read back with names, role, flags, reply and the offset of its time."""
    sent = datetime(2026, 3, 4, 1, 2, 3, 456789, tzinfo=timezone(timedelta(hours=-5)))
    group = a_message("甲", sent_at=sent, reply_to="m0", addressed_to_bot=True)
    admins = a_message("丙", replace(OTHER_GROUP, is_admin=True), sent)
    bots = a_message("乙", Scene.private("2000001", user_name="阿棠", agent="another"), sent, is_bot=True)
    await ledger.log.append([group, admins, bots])
    for message in (group, admins, bots):
        (found,) = await ledger.log.recent(message.scene.scope, 5)
        assert found == message
        assert found.scene.is_admin is message.scene.is_admin
        names = (message.scene.user_name, message.scene.group_name)
        assert (found.scene.user_name, found.scene.group_name) == names
        assert found.sent_at.utcoffset() == sent.utcoffset()


async def test_the_newest_messages_of_a_place_come_oldest_first(ledger: Ledger) -> None:
    """The newest messages of a place are returned oldest first, ordered by sending time, then by arrival."""
    await ledger.log.append([a_message("丙", sent_at=later(minutes=2)), a_message("甲")])
    await ledger.log.append([a_message("乙"), a_message("私", PRIVATE), a_message("别处", OTHER_GROUP)])
    assert await texts(ledger) == ["甲", "乙", "丙"]
    assert await texts(ledger, limit=2) == ["乙", "丙"]
    assert await texts(ledger, limit=0) == []
    assert await texts(ledger, limit=-1) == []
    assert await texts(ledger, before=later(minutes=2)) == ["甲", "乙"]
    assert await texts(ledger, limit=1, before=later(minutes=2)) == ["乙"]


async def test_people_left_out_do_not_count_towards_the_limit(ledger: Ledger) -> None:
    """Messages of excluded people, and the bot's to them, are not returned and do not count towards the limit."""
    other = Scene.group(GROUP.group_id, "2000002")
    own = [a_message(text, sent_at=later(minutes=at)) for at, text in enumerate("甲乙丙")]
    others = [a_message(text, other, later(minutes=9)) for text in "丁戊"]
    answer = a_message("己", other, later(minutes=10), is_bot=True)
    await ledger.log.append([*own, *others, answer])
    left = await ledger.log.recent(GROUP.scope, 2, without={"2000002", "2000009"})
    assert [message.text for message in left] == ["乙", "丙"]
    older = await ledger.log.recent(GROUP.scope, 2, before=later(minutes=2), without={"2000002"})
    assert [message.text for message in older] == ["甲", "乙"]


async def test_pruning_drops_what_is_older_and_counts_messages(ledger: Ledger, clock: FrozenClock) -> None:
    """Pruning removes older messages, withdrawal marks and marks of done jobs, and returns the number of messages."""
    await ledger.log.append([a_message(f"旧{number}", sent_at=later(days=-2)) for number in range(1203)])
    await ledger.log.append([a_message("界"), a_message("新", sent_at=later(days=1))])
    await ledger.log.withdraw(GROUP.scope, "old", later(days=-2))
    await ledger.log.withdraw(GROUP.scope, "new", NOON)
    clock.advance(days=-1)
    await ledger.events.commit(a_draft(an_event("甲"), job_id="old"))
    clock.advance(days=1)
    await ledger.events.commit(a_draft(an_event("乙"), job_id="new"))
    assert await ledger.log.prune(NOON) == 1203
    assert await texts(ledger) == ["界", "新"]
    assert not await ledger.events.done("old")
    assert await ledger.events.done("new")
    await ledger.log.append([a_message("回来", id="old"), a_message("出去", id="new")])
    assert await texts(ledger) == ["界", "回来", "新"]
    assert await shown(ledger, GROUP) == ["乙", "甲"]


async def test_the_newest_lines_of_each_place_are_spared(ledger: Ledger) -> None:
    """However small the limit, each place keeps its newest messages, which may still be judged."""
    await ledger.log.append([a_message(f"闹{number}", sent_at=later(minutes=number)) for number in range(1_300)])
    await ledger.log.append([a_message(f"静{number}", OTHER_GROUP, later(days=-number)) for number in range(1, 4)])
    await ledger.log.append([a_message("私下", PRIVATE, later(days=-30))])
    assert await ledger.log.shrink(1, kept_per_place=200) == 1_100
    assert await texts(ledger, limit=1_000) == [f"闹{number}" for number in range(1_100, 1_300)]
    assert await texts(ledger, OTHER_GROUP) == ["静3", "静2", "静1"]
    assert await texts(ledger, PRIVATE) == ["私下"]
    assert await ledger.log.shrink(1, kept_per_place=200) == 0


async def around(ledger: Ledger, found: Sequence[Message], read_filter: ReadFilter, reach: int = 1) -> str:
    """Return the texts of messages and of the lines around them."""
    return "".join(line.text for line in await ledger.log.around(found, read_filter, reach))


async def test_the_talk_round_a_message(ledger: Ledger) -> None:
    """The talk holds the lines before and after a message by time, each once; places never mix."""
    lines = [a_message(text, sent_at=later(minutes=at)) for at, text in enumerate("甲乙丙丁戊己庚辛")]
    await ledger.log.append([*lines[::-1], a_message("别处", OTHER_GROUP, later(minutes=1))])
    read_filter = ReadFilter(GROUP)
    assert await around(ledger, [lines[1]], read_filter) == "甲乙丙"
    assert await around(ledger, [lines[6], lines[1]], read_filter) == "甲乙丙己庚辛"
    assert await around(ledger, [lines[3], lines[1]], read_filter) == "甲乙丙丁戊"
    assert await around(ledger, [lines[0], lines[7]], read_filter, 0) == "甲辛"
    assert await around(ledger, [lines[4]], read_filter, 3) == "乙丙丁戊己庚辛"
    assert await around(ledger, [lines[0]], read_filter, 100) == "甲乙丙丁戊己庚辛"
    assert await around(ledger, [a_message("没有")], read_filter) == ""
    assert await around(ledger, [lines[0]], ReadFilter(OTHER_GROUP)) == ""


async def test_the_talk_round_a_message_holds_only_what_may_be_read(ledger: Ledger) -> None:
    """A passage holds only lines that the scene may read, and none of people left out."""
    other = Scene.group(GROUP.group_id, "2000009", user_name="别人")
    mine = [a_message(text, sent_at=later(minutes=at)) for at, text in ((0, "甲"), (2, "丙"))]
    await ledger.log.append([*mine, a_message("乙", other, later(minutes=1))])
    assert await around(ledger, [mine[0]], ReadFilter(GROUP), 2) == "甲乙丙"
    assert await around(ledger, [mine[0]], ReadFilter(GROUP, without=frozenset({"2000009"})), 2) == "甲丙"
    assert await around(ledger, [mine[0]], ReadFilter(Scene.private(GROUP.user_id)), 2) == "甲丙"
    assert await around(ledger, [mine[0]], ReadFilter(Scene.private("2000009")), 2) == ""
