"""Tests that the report's counters hear of what the gate refuses and of calls that this costs."""

from __future__ import annotations

from collections import Counter

from cognitive_memory_core.domain.people import JobContext, Person
from cognitive_memory_core.domain.turn import Turn
from cognitive_memory_core.historian.rewriter import ModelHistorian
from cognitive_memory_core.historian.rules import RuleHistorian
from cognitive_memory_core.prompts.library import PromptLibrary
from cognitive_memory_core.settings import Live, Settings
from tests.support.builders import GROUP
from tests.support.chats import ScriptedChat, statements
from tests.support.clock import NOON
from tests.support.tallies import Counts

TANG = Person("2000001", "阿棠")


async def counted(*answers: object) -> Counter[str]:
    """Rewrite one observation with scripted answers; return what was counted."""
    counts, settings = Counts(), Live(Settings())
    chat = ScriptedChat(*answers)
    historian = ModelHistorian(chat, ScriptedChat(), PromptLibrary(), settings, RuleHistorian(), tally=counts)
    known = JobContext(NOON, GROUP.scope, "读书会", TANG, (TANG,), (), "job")
    await historian.rewrite(Turn(GROUP, observations=("阿棠喜欢乌龙茶",)), known)
    return +counts.names


async def test_a_refusal_is_counted_by_its_reasons() -> None:
    """Each refused answer counts under every reason, and the call after it as a retry; a good answer counts nothing."""
    assert await counted(statements("阿棠(2000001)喜欢乌龙茶")) == {}
    refused = statements("他昨天说阿棠(2000001)喜欢乌龙茶")
    assert await counted(refused, statements("阿棠(2000001)喜欢乌龙茶")) == {
        "gate:pronoun": 1,
        "gate:time": 1,
        "gate:figure": 1,
        "retry": 1,
    }
    foreign = statements("阿棠(99999999)喜欢乌龙茶")
    assert (await counted(foreign, foreign, foreign))["gate:drift"] == 3
