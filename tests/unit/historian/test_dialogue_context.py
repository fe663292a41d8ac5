"""A dialogue that begins in mid-topic is shown with what came before, which never becomes a statement of its own."""

from __future__ import annotations

from typing import Any

from cognitive_memory_core.domain.job import JobContext
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.people import Person
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.domain.turn import Dialogue, Turn
from cognitive_memory_core.historian.pipeline import EARLIER, MOST_NEAR, NEWEST
from cognitive_memory_core.historian.rewriter import ModelHistorian
from cognitive_memory_core.historian.rules import RuleHistorian
from cognitive_memory_core.prompts.library import PromptLibrary
from cognitive_memory_core.settings.schema import Live, Settings
from tests.support.builders import GROUP, OTHER_GROUP, a_draft, a_message, an_event
from tests.support.chats import ScriptedChat, said, triaged
from tests.support.clock import NOON, SHANGHAI
from tests.support.ledgers import Ledger, a_ledger, later
from tests.support.pipelines import surroundings_of

TANG, QI = Person("2000001", "阿棠"), Person("2000002", "老齐")
OTHER = Scene.group("10001", "2000002", user_name="老齐", group_name="读书会")


def at(minutes: float, text: str, scene: Scene = GROUP, **fields: Any) -> Message:
    """Make a line said so many minutes after noon."""
    return a_message(text, scene, later(minutes=minutes), **fields)


async def around(ledger: Ledger, *window: Message) -> JobContext:
    """Look round a window."""
    return (await surroundings_of(ledger, Dialogue(GROUP, window), window[-1].sent_at)).job_context


async def test_the_last_lines_before_the_window() -> None:
    """The newest lines before the first one, oldest first: of this place, of late, and none of the window itself."""
    ledger = a_ledger()
    window = (at(0, "行"), at(1, "那就我来"))
    before = [at(-10 + number, f"之前{number}") for number in range(EARLIER + 2)]
    await ledger.log.append([*before, *window, at(-1, "别处", OTHER_GROUP), at(9, "之后")])
    found = await around(ledger, *window)
    assert [line.text for line in found.earlier] == [f"之前{number}" for number in range(2, EARLIER + 2)]
    quiet = a_ledger()
    await quiet.log.append([at(-60 * 7, "上午的事"), *window])
    assert (await around(quiet, *window)).earlier == ()


async def test_the_line_that_is_replied_to() -> None:
    """A reply to a line of long ago brings that line; a reply inside the window brings nothing."""
    ledger = a_ledger()
    old = at(-60 * 24 * 3, "周六谁去漫展？", OTHER, id="old")
    window = (at(0, "我去", reply_to="old", id="w1"), at(1, "一起", OTHER, reply_to="w1"), at(2, "好", reply_to="gone"))
    await ledger.log.append([old, *window])
    assert (await around(ledger, *window)).answered == (old,)


async def test_who_left_is_not_shown() -> None:
    """Nobody who opted out is quoted, neither before the window nor as who is replied to."""
    ledger = a_ledger()
    window = (at(0, "我去", reply_to="theirs"),)
    await ledger.log.append(
        [at(-1, "我说的", OTHER), at(-60 * 24, "问的", OTHER, id="theirs"), at(-2, "在的"), *window]
    )
    await ledger.consent.opt_out(OTHER.user_id, NOON)
    found = await around(ledger, *window)
    assert ([line.text for line in found.earlier], found.answered) == (["在的"], ())


async def test_what_was_stored_here_last() -> None:
    """The newest events of the place are neighbours, whoever said them; the nearest keep most of the room."""
    ledger = a_ledger()
    newest = [an_event(f"新事{number}", OTHER, happened_at=later(hours=-number)) for number in range(1, NEWEST + 3)]
    near = [an_event(f"乌龙茶的故事{number}", happened_at=later(hours=-50)) for number in range(MOST_NEAR)]
    await ledger.events.commit(a_draft(*newest, *near, an_event("别处", OTHER_GROUP)))
    found = [event.text for event in (await around(ledger, at(0, "乌龙茶的故事"))).neighbours]
    assert all(text.startswith("乌龙茶") for text in found[: MOST_NEAR - NEWEST])
    assert found[MOST_NEAR - NEWEST :] == ["新事1", "新事2", "新事3"]


async def test_a_turn_stands_beside_what_its_speaker_said_before() -> None:
    """What a turn's speaker changes is shown to the model by one word in common, as in a dialogue; others' is not."""
    ledger = a_ledger()
    mine = an_event("阿棠(2000001)周二去成都出差")
    await ledger.events.commit(a_draft(mine, an_event("老齐(2000002)去广州出差", OTHER)))
    turn = Turn(GROUP, observations=("改成周三到周五了",), source_message="我出差改了，变成周三到周五")
    found = await surroundings_of(ledger, turn)
    assert [event.id for event in found.job_context.neighbours] == [mine.id]


async def test_nothing_new_rests_on_what_was_seen_already() -> None:
    """Earlier lines have no number: an answer that cites the numbers before or behind the window's is dropped."""
    ledger = a_ledger()
    window = (at(0, "我也一样"), at(1, "是吗", OTHER))
    await ledger.log.append([at(-2, "我对花生过敏", OTHER), at(-1, "我对虾过敏", OTHER), *window])
    rows = [
        {key: value for key, value in said("老齐(2000002)对虾过敏", lines=lines).items() if key != "number"}
        for lines in ([-1], [0], [3], [4], [])
    ]
    judging = ScriptedChat(triaged(*rows))
    historian = ModelHistorian(ScriptedChat(), judging, PromptLibrary(), Live(Settings()), RuleHistorian())
    assert await historian.statements(Dialogue(GROUP, window), await around(ledger, *window)) == []
    (asked,) = judging.asks
    assert (
        "<前情>\n周三 11:58 老齐(2000002)：我对花生过敏\n周三 11:59 老齐(2000002)：我对虾过敏\n</前情>" in asked.prompt
    )
    assert "1. 周三 12:00 阿棠(2000001)：我也一样" in asked.prompt


async def test_next_wednesday_is_counted_from_when_it_was_said() -> None:
    """In a window that crosses a Monday each line's relative words bear the date of that line's own week."""
    sunday, monday = at(60 * 24 * 4, "猫疫苗改到下周三", id="s"), at(60 * 24 * 5, "我下周三请假", OTHER, id="m")
    judging = ScriptedChat(triaged(remember=False))
    historian = ModelHistorian(ScriptedChat(), judging, PromptLibrary(), Live(Settings()), RuleHistorian())
    job_context = JobContext(monday.sent_at.astimezone(SHANGHAI), GROUP.scope, "", TANG, (TANG, QI))
    await historian.statements(Dialogue(GROUP, (sunday, monday)), job_context)
    (asked,) = judging.asks
    assert "猫疫苗改到下周三 [下周三=2026年3月11日]" in asked.prompt
    assert "我下周三请假 [下周三=2026年3月18日]" in asked.prompt
