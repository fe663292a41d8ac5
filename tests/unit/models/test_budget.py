"""Tests of the daily limit of model calls and of working by rules when it is reached."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from cognitive_memory_core.domain.event import Statement
from cognitive_memory_core.domain.figures import Spending
from cognitive_memory_core.domain.job import JobContext
from cognitive_memory_core.domain.people import Person
from cognitive_memory_core.domain.turn import Dialogue, Turn
from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.historian.rewriter import BackedHistorian
from cognitive_memory_core.models.breaker import Breaker
from cognitive_memory_core.models.caller_models import CallerChat
from cognitive_memory_core.models.spending import MERGE, Budget, BudgetedChat, NoModel
from cognitive_memory_core.ports import Ask
from cognitive_memory_core.settings.schema import Live, Settings
from cognitive_memory_core.store.ledger import Housekeeping
from tests.support.builders import GROUP, OTHER_GROUP, a_message
from tests.support.clock import NOON, FrozenClock
from tests.support.ledgers import a_ledger
from tests.support.waiting import PATIENCE

ASK = Ask("rewrite", "", "", "answer", {}, json.loads)
TALK = Dialogue(GROUP, [a_message("聚餐定在周六晚上")])
JOB_CONTEXT = JobContext(NOON, GROUP.scope, "", Person(GROUP.user_id))


class OneChat:
    """A chat model that gives the same answer or error once it is allowed to."""

    def __init__(self, answer: object) -> None:
        """Give this answer or error."""
        self.answer = answer
        self.asked = 0
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def ask(self, ask: Ask[Any]) -> Any:
        """Wait, then answer or raise."""
        self.asked += 1
        await self.may_answer.wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Says:
    """A historian that returns one statement or raises."""

    def __init__(self, said: str | Exception) -> None:
        """Use this statement or error."""
        self.said = said

    async def statements(self, work: Turn | Dialogue, job_context: JobContext) -> list[Statement]:
        """Return the statement."""
        if isinstance(self.said, Exception):
            raise self.said
        return [Statement(self.said)]


def limited(limit: int, clock: FrozenClock | None = None) -> tuple[Budget, Housekeeping]:
    """Return a budget of so many calls a day, and where it writes."""
    accounts = a_ledger().housekeeping
    return Budget(accounts, clock or FrozenClock(), Live(Settings(daily_calls=limit))), accounts


async def test_calls_end_with_the_budget_and_come_back_next_day() -> None:
    """After ``daily_calls`` calls no model is called until the next day of the configured zone."""
    clock = FrozenClock()
    budget, _ = limited(2, clock)
    chat = OneChat("ja")
    budgeted = BudgetedChat(CallerChat(chat, PATIENCE, budget.count), Breaker("historian"), budget)
    assert [await budgeted.ask(ASK), await budgeted.ask(ASK)] == ["ja", "ja"]
    with pytest.raises(NoModel, match="daily_calls=2"):
        await budgeted.ask(ASK)
    assert chat.asked == 2
    clock.advance(hours=13)
    assert await budgeted.ask(ASK) == "ja"


async def test_a_clock_that_goes_to_and_fro_gives_no_calls_back() -> None:
    """Calls used on a day stay used if the clock returns to that day."""
    clock = FrozenClock()
    budget, _ = limited(2, clock)
    budget.count("rewrite", 1)
    budget.count("merge", 1)
    clock.advance(days=1)
    assert not budget.is_spent
    budget.count("rewrite", 1)
    clock.advance(days=-1)
    assert budget.is_spent


async def test_calls_under_way_count() -> None:
    """Two simultaneous requests do not both use the last call of a day."""
    budget, _ = limited(1)
    chat = OneChat("ja")
    chat.may_answer.clear()
    budgeted = BudgetedChat(chat, Breaker("historian"), budget)
    first = asyncio.create_task(budgeted.ask(ASK))
    await asyncio.sleep(0)
    with pytest.raises(NoModel):
        await budgeted.ask(ASK)
    chat.may_answer.set()
    assert await first == "ja"
    assert not any(budget.under_way.values())


async def test_profiles_take_half_of_a_day_at_most() -> None:
    """Merging profiles uses at most half of the daily calls, including running ones."""
    clock = FrozenClock()
    budget, _ = limited(4, clock)
    chat, merge = OneChat("ja"), replace(ASK, purpose=MERGE)
    budgeted = BudgetedChat(CallerChat(chat, PATIENCE, budget.count), Breaker("historian"), budget)
    assert await budgeted.ask(merge) == "ja"
    chat.may_answer.clear()
    second = asyncio.create_task(BudgetedChat(chat, Breaker("historian"), budget).ask(merge))
    await asyncio.sleep(0)
    with pytest.raises(NoModel):
        await asyncio.wait_for(budgeted.ask(merge), PATIENCE)
    chat.may_answer.set()
    assert await second == await budgeted.ask(merge) == "ja"
    with pytest.raises(NoModel):
        await budgeted.ask(merge)
    assert [await budgeted.ask(ASK), await budgeted.ask(ASK)] == ["ja", "ja"]
    clock.advance(hours=13)
    assert await budgeted.ask(merge) == "ja"
    endless, _ = limited(0)
    assert endless.bears(MERGE)


async def test_zero_is_no_limit_and_embeddings_do_not_count() -> None:
    """``daily_calls=0`` means no limit, and embedding and reranking do not count against the limit."""
    budget, _ = limited(0)
    budget.count("rewrite", 1)
    assert not budget.is_spent
    budget, _ = limited(1)
    budget.count("embedding", 1)
    budget.count("rerank", 1)
    assert not budget.is_spent
    budget.count("rewrite", 1)
    assert budget.is_spent


async def test_the_rules_go_on_without_a_model() -> None:
    """Rules are used if no model may be called, but not if a model is unavailable."""
    budget, _ = limited(0)
    spent = BackedHistorian(Says(NoModel("spent")), Says("rules"), budget)
    assert [one.text for one in await spent.statements(Turn(GROUP), JOB_CONTEXT)] == ["rules"]
    assert [one.text for one in await spent.statements(TALK, JOB_CONTEXT)] == ["rules"]
    well = BackedHistorian(Says("model"), Says("rules"), budget)
    assert [one.text for one in await well.statements(Turn(GROUP), JOB_CONTEXT)] == ["model"]
    with pytest.raises(UnavailableError, match="away"):
        await BackedHistorian(Says(UnavailableError("away")), Says("rules"), budget).statements(
            Turn(GROUP), JOB_CONTEXT
        )


async def test_what_the_first_look_passes_over_costs_nothing() -> None:
    """A dialogue rejected by the first check uses neither model nor rules, nor a share of the daily calls."""
    budget, _ = limited(20)
    unasked = Says(AssertionError("asked"))
    passed_over = BackedHistorian(unasked, unasked, budget)
    assert [await passed_over.statements(Dialogue(GROUP, ()), JOB_CONTEXT) for _ in range(20)] == [[]] * 20
    assert budget.take(GROUP.scope)
    assert (await BackedHistorian(Says("model"), Says("rules"), budget).statements(TALK, JOB_CONTEXT)) == [
        Statement("model")
    ]


async def test_a_role_without_a_model_is_never_asked() -> None:
    """Asking a chat model that is not configured raises NoModel."""
    budget, _ = limited(0)
    with pytest.raises(NoModel):
        await BudgetedChat(None, Breaker(""), budget).ask(ASK)


async def test_one_place_does_not_take_everybodys_calls() -> None:
    """After half of the daily calls, a place that used a quarter gets rules, and others still get the model."""
    budget, _ = limited(20)
    chat = OneChat("ja")

    class Asks(Says):
        """A historian that makes a call."""

        async def statements(self, work: Turn | Dialogue, job_context: JobContext) -> list[Statement]:
            """Make a call and return the statement."""
            await BudgetedChat(CallerChat(chat, PATIENCE, budget.count), Breaker("historian"), budget).ask(ASK)
            return await super().statements(work, job_context)

    backed = BackedHistorian(Asks("model"), Says("rules"), budget)
    other = JobContext(NOON, OTHER_GROUP.scope, "", Person(GROUP.user_id))
    said = [(await backed.statements(Turn(GROUP), JOB_CONTEXT))[0].text for _ in range(12)]
    assert said == ["model"] * 12, "alone, a place may take what there is"
    assert [(await backed.statements(Turn(OTHER_GROUP), other))[0].text for _ in range(4)] == ["model"] * 4
    assert (await backed.statements(Turn(GROUP), JOB_CONTEXT))[0].text == "rules"
    assert (await backed.statements(Turn(OTHER_GROUP), other))[0].text == "model"


async def test_a_restart_does_not_begin_a_new_day() -> None:
    """Calls made today before a restart count."""
    _, accounts = limited(0)
    await accounts.spend(NOON.date(), Spending("merge", 3, 10))
    await accounts.spend(NOON.date(), Spending("embedding", 50, 10))
    for limit in (3, 4):
        again = Budget(accounts, FrozenClock(), Live(Settings(daily_calls=limit)))
        await again.load()
        assert again.is_spent is (limit == 3)
