"""An evolver over a ledger of choice, with a model that answers when it is told to, and what must always hold."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeVar

from cognitive_memory_core.consent import Consent
from cognitive_memory_core.domain.belief import Belief, Evolution
from cognitive_memory_core.evolution.beliefs import BeliefKeeping
from cognitive_memory_core.evolution.evolver import Evolver
from cognitive_memory_core.ports import Ask
from cognitive_memory_core.prompts.library import PromptLibrary
from cognitive_memory_core.settings.schema import Live, Settings

from .builders import GROUP
from .clock import FrozenClock

T = TypeVar("T")
LIBRARY = PromptLibrary()


@dataclass
class WaitingChat:
    """Answers with a text; ``gate`` holds the answer back while it is cleared."""

    answer: str | Callable[[str], str] = ""
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(self, ask: Ask[T]) -> T:
        """Return the parsed answer once it may."""
        self.asked.set()
        await self.gate.wait()
        return ask.parse(self.answer if isinstance(self.answer, str) else self.answer(ask.prompt))


@dataclass
class EvolvingGroup:
    """A group with an evolver, and the admins' way to change its beliefs."""

    ledger: Any
    clock: FrozenClock
    chat: WaitingChat
    evolver: Evolver
    keeping: BeliefKeeping
    consent: Consent

    @classmethod
    async def over(cls, ledger: Any, **settings: Any) -> EvolvingGroup:
        """Build a group over a ledger; the model answers at once."""
        clock, chat = FrozenClock(), WaitingChat()
        chat.gate.set()
        consent = Consent(ledger)
        await consent.load()

        async def flush() -> None:
            return None

        evolver = Evolver(
            model=(chat, LIBRARY),
            ledger=ledger,
            consent=consent,
            settings=Live(Settings(**settings)),
            clock=clock,
            flush=flush,
        )
        return cls(ledger, clock, chat, evolver, BeliefKeeping(ledger.beliefs, clock), consent)

    async def evolve(self) -> Evolution:
        """Run an evolution over the last day."""
        return await self.evolver.evolve(GROUP, self.clock.now() - timedelta(days=1))

    async def heads(self) -> list[Belief]:
        """Return the current versions of all beliefs."""
        return list((await self.ledger.beliefs.page(GROUP.scope, "all", 1_000)).beliefs)


async def broken_chains(ledger: Any) -> list[str]:
    """Return what is wrong with the beliefs of the group: links, versions, heads, and equal active statements."""
    page = await ledger.beliefs.page(GROUP.scope, "all", 1_000)
    wrong: list[str] = []
    for head in page.beliefs:
        chain = await ledger.beliefs.history(head.chain_id)
        parents = [None, *(one.id for one in chain[:-1])]
        if [one.parent_id for one in chain] != parents:
            wrong.append(f"links of {head.chain_id}")
        if [one.is_current for one in chain] != [False] * (len(chain) - 1) + [True]:
            wrong.append(f"heads of {head.chain_id}")
        if any(one.status == "active" for one in chain[:-1]):
            wrong.append(f"an active old version of {head.chain_id}")
        if sorted({one.version for one in chain}) != [one.version for one in chain]:
            wrong.append(f"versions of {head.chain_id}")
    keys = [one.key for one in page.beliefs if one.status == "active"]
    return wrong + (["two active beliefs say the same"] if len(set(keys)) < len(keys) else [])
