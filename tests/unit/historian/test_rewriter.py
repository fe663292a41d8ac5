"""Tests of the historian with a model: what is kept of its answers, and what happens when they fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from cognitive_memory_core.domain.event import Quote, Statement
from cognitive_memory_core.domain.job import JobContext
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.people import Person
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.domain.turn import Dialogue, Turn
from cognitive_memory_core.errors import BadAnswer, PermanentError, UnavailableError
from cognitive_memory_core.historian.rewriter import ModelHistorian
from cognitive_memory_core.historian.rules import RuleHistorian
from cognitive_memory_core.prompts.library import PromptLibrary
from cognitive_memory_core.settings.schema import Live, Settings
from tests.support.builders import an_event
from tests.support.clock import NOON
from tests.support.puppet import REWRITE, TRIAGE, Part, Puppet, Question, shaped, statement

TANG, BEI = Person("2000001", "阿棠"), Person("2000002", "小北")
GROUP = Scene.group("10001", TANG.id, user_name="阿棠", group_name="读书会")
OTHER = Scene.group("10001", BEI.id, user_name="小北", group_name="读书会")
JOB_CONTEXT = JobContext(NOON, GROUP.scope, "读书会", TANG, (TANG, BEI), job_id="j1")
LINES = (
    Message("m1", GROUP, "把《晚灯》从 G 降到 F", NOON - timedelta(minutes=3)),
    Message("m2", OTHER, "行，G太高了", NOON - timedelta(minutes=2), reply_to="m1"),
    Message("m3", OTHER, "我对花生过敏，聚餐避开", NOON - timedelta(minutes=1)),
)
Answer = Callable[[Question], object]


def historian(model: Puppet) -> ModelHistorian:
    """Return a historian with a model."""
    settings = Live(Settings(timezone="Asia/Shanghai"))
    return ModelHistorian(model, model, PromptLibrary(), settings, RuleHistorian())


def saying(*told: Part, again: Answer | None = None) -> Puppet:
    """Return a model that answers the first prompt with statements, and later rewrites with ``again``."""
    first = [shaped, *([again] * 5 if again else [])]

    def mind(question: Question) -> object:
        answer = first.pop(0) if first else shaped
        if answer is shaped:
            return shaped(question, *told, should_remember=True, reason="有事")
        return answer(question)

    return Puppet(mind)


async def triaged(model: Puppet) -> list[Statement]:
    """Let a historian read the dialogue."""
    return await historian(model).statements(Dialogue(GROUP, LINES), JOB_CONTEXT)


async def test_a_statement_has_its_lines_as_quotes_and_one_voice() -> None:
    """What passes the checks keeps the model's text, the cited lines whole as quotes, and the named voice."""
    told = statement(1, "小北(2000002)对花生过敏", [BEI.id], BEI.id, lines=[3])
    (found,) = await triaged(saying(told))
    assert (found.text, found.speaker, found.is_absolute) == ("小北(2000002)对花生过敏", BEI.id, True)
    assert found.quotes == (Quote("m3", BEI.id, LINES[2].text, "小北", LINES[2].sent_at),)


async def test_who_is_named_as_the_speaker_is_no_subject() -> None:
    """That a text says who said it makes it no statement about them; the others whom it names are its subjects."""
    told = statement(1, "小北(2000002)说G对阿棠(2000001)太高了", [], BEI.id, lines=[2])
    (found,) = await triaged(saying(told))
    assert (found.speaker, found.subjects) == (BEI.id, (TANG.id,))


async def test_a_text_that_nobodys_lines_carry_becomes_the_exchange() -> None:
    """No other voice is put in the place of one that does not carry the text: the lines themselves are kept."""
    told = statement(1, "小北(2000002)同意把《晚灯》从 G 降到 F", [BEI.id], BEI.id, lines=[2])
    model = saying(told)
    (found,) = await triaged(model)
    assert found.text == "阿棠(2000001)：“把《晚灯》从 G 降到 F” 小北(2000002)：“行，G太高了”"
    assert (found.speaker, found.is_absolute, [one.message_id for one in found.quotes]) == (BEI.id, False, ["m1", "m2"])
    assert model.count(REWRITE) == 0, "no wording would help"


async def test_what_fails_after_its_retries_is_kept_as_it_was_said() -> None:
    """A text with a wrong figure or a word like 我 is asked for again with feedback, then kept as the line."""
    wrong = statement(1, "小北(2000002)对花生过敏三年，我知道", [BEI.id], BEI.id, lines=[3])
    model = saying(wrong, again=lambda question: shaped(question, wrong))
    (found,) = await triaged(model)
    assert (found.text, found.is_absolute) == ("小北(2000002)：“我对花生过敏，聚餐避开”", False)
    assert model.count(REWRITE) == Settings().historian.rewrite_max_retry
    assert "没有通过" in model.asked[-1].prompt
    right = statement(1, "小北(2000002)对花生过敏", [BEI.id], BEI.id)
    (mended,) = await triaged(saying(wrong, again=lambda question: shaped(question, right)))
    assert (mended.text, mended.speaker) == ("小北(2000002)对花生过敏", BEI.id)


async def test_a_retry_keeps_what_the_first_answer_replaces() -> None:
    """A statement that is asked for again replaces what its first answer named, also if the second names nothing."""
    old = an_event("小北(2000002)能吃花生", OTHER, sender_id=BEI.id, happened_at=NOON - timedelta(days=1))
    wrong = statement(1, "小北(2000002)对花生过敏三年", [BEI.id], BEI.id, lines=[3], replaces=1)
    right = statement(1, "小北(2000002)对花生过敏", [BEI.id], BEI.id)
    model = saying(wrong, again=lambda question: shaped(question, right))
    context = replace(JOB_CONTEXT, neighbours=(old,))
    (mended,) = await historian(model).statements(Dialogue(GROUP, LINES), context)
    assert (mended.text, mended.replaces) == ("小北(2000002)对花生过敏", old.id)


async def test_a_change_kept_as_it_was_said_is_a_change() -> None:
    """Own lines kept in place of a text that they do not carry replace and are about their sender all the same."""
    old = an_event("小北(2000002)能吃花生", OTHER, sender_id=BEI.id, happened_at=NOON - timedelta(days=1))
    context = replace(JOB_CONTEXT, neighbours=(old, replace(old, id="other", sender_id=TANG.id)))
    for number, replaced in ((1, old.id), (2, "")):
        told = statement(1, "小北(2000002)对花生过敏，阿棠(2000001)知道", [BEI.id], BEI.id, lines=[3], replaces=number)
        (found,) = await historian(saying(told)).statements(Dialogue(GROUP, LINES), context)
        assert (found.text, found.is_absolute) == ("小北(2000002)：“我对花生过敏，聚餐避开”", False)
        assert (found.subjects, found.replaces) == ((BEI.id,), replaced)


async def test_lines_of_another_statement_are_not_kept_twice() -> None:
    """Lines that a statement quotes are not kept once more for one that failed."""
    right = statement(1, "小北(2000002)对花生过敏", [BEI.id], BEI.id, lines=[3])
    wrong = statement(2, "小北(2000002)欠500元", [BEI.id], BEI.id, lines=[3])
    found = await triaged(saying(right, wrong, again=shaped))
    assert [one.text for one in found] == ["小北(2000002)对花生过敏"]


async def test_what_cites_no_line_of_a_person_is_dropped() -> None:
    """A statement without a line of a person is dropped; if none of them cites anything, the rules read the lines."""
    right = statement(1, "小北(2000002)对花生过敏", [BEI.id], BEI.id, lines=[3])
    assert len(await triaged(saying(right, statement(2, "有人中奖了", lines=[])))) == 1
    assert [one.is_absolute for one in await triaged(saying(statement(1, "有人中奖了", lines=[])))] == [False]


async def test_an_observation_cites_the_lines_of_its_turn() -> None:
    """A statement made of an observation rests on lines of the turn and has their sender's voice."""
    turn = Turn(GROUP, observations=["小北不能吃花生"], recent_messages=LINES, message_ids=["m2"])
    told = statement(1, "小北(2000002)对花生过敏，聚餐避开", [BEI.id], BEI.id, lines=[3])
    (found,) = await historian(saying(told)).statements(turn, JOB_CONTEXT)
    assert (found.speaker, [one.message_id for one in found.quotes]) == (BEI.id, ["m3"])
    assert found.message_ids == ("m2", "m3")


async def test_an_observation_that_no_line_carries_stays_the_bots_note() -> None:
    """Without a line that carries it the observation is what the bot noted, whomever the model names."""
    turn = Turn(GROUP, observations=["小北是群主"], recent_messages=LINES)
    told = statement(1, "小北(2000002)是群主", [BEI.id], BEI.id, lines=[2])
    (found,) = await historian(saying(told)).statements(turn, JOB_CONTEXT)
    assert (found.speaker, found.quotes) == ("", (Quote("", "", "小北是群主"),))


async def test_a_refused_observation_is_kept_as_it_is() -> None:
    """A provider that refuses is asked once more without the lines around; then the observation is the bot's note."""
    turn = Turn(GROUP, observations=["阿棠怕黑"], recent_messages=LINES)
    model = Puppet(refuses={REWRITE: PermanentError("不行")})
    (found,) = await historian(model).statements(turn, JOB_CONTEXT)
    assert (found.text, found.is_absolute) == ("机器人记：阿棠怕黑", False)
    assert model.count(REWRITE) == 2
    assert LINES[0].text not in model.asked[-1].prompt


@pytest.mark.parametrize("failure", [UnavailableError("断网"), BadAnswer("坏"), PermanentError("拒绝")])
async def test_an_error_of_the_first_call_goes_to_the_job(failure: Exception) -> None:
    """The queue decides about a job whose first call failed."""
    with pytest.raises(type(failure)):
        await triaged(Puppet(failures=[failure]))


async def test_an_error_of_a_later_call_ends_the_asking() -> None:
    """If the model cannot be reached for a better wording, the job is done with the lines as they were said."""
    model = saying(statement(1, "小北(2000002)对花生过敏三年", [BEI.id], BEI.id, lines=[3]))
    model.refuses[REWRITE] = UnavailableError("断网")
    (found,) = await triaged(model)
    assert (found.text, model.count(TRIAGE)) == ("小北(2000002)：“我对花生过敏，聚餐避开”", 1)
