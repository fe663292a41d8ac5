"""Beliefs as a state machine: runs, overlapping runs, admins, restorations, withdrawals and erasures in any order."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from cognitive_memory_core.errors import AlreadyEvolving, MistakeError
from tests.support.beliefs import LIN, MO, TEA, a_line, answered, created, deleted, kept, updated
from tests.support.builders import GROUP
from tests.support.evolving import EvolvingGroup, broken_chains
from tests.support.ledgers import a_ledger
from tests.support.sizes import sized

TOPICS = ("新番", "政治", "桌游", "代码", "美食")
DAYS = ("一", "三", "五")
ACTION = st.tuples(st.sampled_from(("create", "update", "delete", "keep")), st.integers(1, 4), st.integers(0, 14))
ACTIONS = st.lists(ACTION, max_size=5)


class BeliefMachine(RuleBasedStateMachine):
    """Chains stay whole whatever admins, models and erasures do meanwhile."""

    def __init__(self) -> None:
        """Start a loop of its own."""
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.number = 0
        self.group: Any = None
        self.run: asyncio.Task[object] | None = None

    def teardown(self) -> None:
        """End a run that is under way, and close the loop."""
        self.end_run()
        self.loop.close()

    @initialize()
    def open(self) -> None:
        """Begin with an empty group."""
        self.group = self.loop.run_until_complete(EvolvingGroup.over(a_ledger()))

    @rule(topic=st.sampled_from(TOPICS), day=st.sampled_from(DAYS), ends=st.booleans())
    def talk(self, topic: str, day: str, *, ends: bool) -> None:
        """Two people agree on a rule, or that it ends."""
        said = f"以后不讨论{topic}了" if ends else f"以后每周{day}晚上讨论{topic}"
        at = self.group.clock.now()
        lines = [a_line(self.number + at_, who, said, at) for at_, who in enumerate((TEA, LIN), 1)]
        self.number += 2

        async def heard() -> None:
            await self.group.ledger.log.append(lines)

        self.loop.run_until_complete(heard())
        self.group.clock.advance(minutes=self.number + 5)

    @rule(actions=ACTIONS)
    def begin_run(self, actions: list[tuple[str, int, int]]) -> None:
        """Begin a run whose model waits; a second one is refused."""
        self.group.chat.answer = lambda prompt: _answer(prompt, actions)
        if self.run and not self.run.done():
            try:
                self.loop.run_until_complete(self.group.evolve())
            except AlreadyEvolving:
                return
            raise AssertionError("two runs of one group")
        self.group.chat.gate.clear()
        self.group.chat.asked.clear()
        self.run = self.loop.create_task(self.group.evolve())
        self.loop.run_until_complete(self._asked_or_over(self.run))

    @rule()
    def end_run(self) -> None:
        """Let the model answer."""
        if self.run:
            self.group.chat.gate.set()
            self.loop.run_until_complete(self.run)
            self.run = None

    @rule(at=st.integers(0, 9), how=st.sampled_from(("retire", "restore", "restore first", "strength")))
    def admin(self, at: int, how: str) -> None:
        """Retire, restore or weaken a belief; an invalid request is an error that changes nothing."""
        self.loop.run_until_complete(self._admin(at, how))

    @rule(who=st.sampled_from((TEA, LIN, MO)))
    def forget(self, who: tuple[str, str]) -> None:
        """Erase a person."""
        self.loop.run_until_complete(self._forget(who))

    @rule(number=st.integers(1, 20))
    def withdraw(self, number: int) -> None:
        """Withdraw a message."""
        self.loop.run_until_complete(self._withdraw(f"m{number}"))

    async def _asked_or_over(self, run: asyncio.Task[Any]) -> None:
        asked = asyncio.ensure_future(self.group.chat.asked.wait())
        await asyncio.wait({run, asked}, return_when=asyncio.FIRST_COMPLETED)
        asked.cancel()

    async def _withdraw(self, message_id: str) -> None:
        await self.group.ledger.log.withdraw(GROUP.scope, message_id, self.group.clock.now())

    @invariant()
    def chains_are_whole(self) -> None:
        """No chain is broken, and no two active beliefs say the same."""
        if self.group:
            assert self.loop.run_until_complete(broken_chains(self.group.ledger)) == []

    async def _admin(self, at: int, how: str) -> None:
        heads = await self.group.heads()
        if not heads:
            return
        keeping, head = self.group.keeping, heads[at % len(heads)]
        self.group.clock.advance(seconds=1)
        try:
            if how == "retire":
                await keeping.retire(GROUP, head.id, "")
            elif how == "strength":
                await keeping.set_strength(GROUP, head.id, at / 10)
            else:
                wanted = (await self.group.ledger.beliefs.history(head.chain_id))[0] if how == "restore first" else head
                await keeping.restore(GROUP, wanted.id)
        except MistakeError:
            return

    async def _forget(self, who: tuple[str, str]) -> None:
        async with self.group.evolver.suspended():
            await self.group.ledger.eraser.forget_person(who[0], self.group.clock.now(), str)
        await self.group.consent.load()


def _answer(prompt: str, actions: list[tuple[str, int, int]]) -> str:
    """Return an answer that cites lines of the prompt; one without actions says none."""
    lines = prompt.partition("<聊天>\n")[2].partition("\n</聊天>")[0].split("\n")
    rows: list[dict[str, Any]] = []
    for action, label, at in actions:
        first = at % max(len(lines), 1)
        cited = [first + 1, min(first + 2, len(lines)), max(first, 1)]
        statement = lines[first].rpartition("：")[2].partition(" [")[0] or "没有"
        made = {
            "create": created(statement, *cited),
            "update": updated(f"B{label}", statement, *cited),
            "delete": deleted(f"B{label}", *cited),
            "keep": kept(f"B{label}", *cited),
        }
        rows.append(made[action])
    return answered(*rows) or '{"action": "none"}'


TestBeliefMachine = BeliefMachine.TestCase
TestBeliefMachine.settings = settings(max_examples=sized(20, 100), stateful_step_count=25, deadline=None)
