"""Lets a memory live through a chat as a bot's would, in one mode, and asks for the context of each question."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from functools import partial

import cognitive_memory_core as core
from cognitive_memory_core.domain.event import exchange
from cognitive_memory_core.ports.models import Chat as Model
from cognitive_memory_core.text.spoken_events import QUOTE_LENGTH

from .answers_models import Address, CountedChat, GoldHistorian
from .answers_shown import Memory, Shown, shown_by
from .chat_set import Chat, Window, lived
from .labelled import DEFAULTS, WAIT, SetClock, Tuning, opened

MODES: Mapping[str, str] = {
    "rules": "no model: the rules read each window of lines",
    "gold": "a scripted model writes the set's own facts: the most that a model can do",
    "model": "the model at --model-url reads each window of lines",
    "imported": "the set's own facts are imported, each when it becomes known",
    "log": "no historian: the lines alone",
}
READING = ("rules", "gold", "model")
LOOKED = 0.6  # real seconds within which the merger has read the clock
PATIENCE = 1800.0  # seconds for one window, with a model that answers slowly
PAGE = 200


@dataclass
class Life:
    """What became of a chat in one mode: the contexts, what is stored, and what the model was asked."""

    mode: str
    chat: Chat
    shown: list[Shown] = field(default_factory=list[Shown])
    memories: list[core.Event] = field(default_factory=list[core.Event])
    calls: Counter[str] = field(default_factory=Counter[str])
    tokens: Counter[str] = field(default_factory=Counter[str])
    failures: Counter[str] = field(default_factory=Counter[str])
    buried: int = 0

    @property
    def said(self) -> int:
        """Return the number of lines that people said."""
        return sum(not line.message.is_bot for line in self.chat.lines)

    @property
    def reads(self) -> bool:
        """Whether a historian read the lines."""
        return self.mode in READING


@dataclass(frozen=True)
class Trial:
    """How a mode is measured: changed settings, a budget of tokens a context, and where the model is.

    ``at_end`` is called with the memory when the chat is over.
    """

    tuning: Tuning = DEFAULTS
    budget: int | None = None
    address: Address | None = None
    at_end: Callable[[core.CognitiveMemory], Awaitable[None]] | None = None


async def life(chat: Chat, mode: str, trial: Trial) -> Life:
    """Let a memory live through the chat in a mode, and ask for the context of each question at its time."""
    result = Life(mode, chat)
    async with AsyncExitStack() as stack:
        gold = GoldHistorian(chat.facts) if mode == "gold" else None
        model = gold.chat if gold else await _model(mode, trial, stack)
        clock = SetClock(min(line.at for line in chat.lines))
        memory = await stack.enter_async_context(_opened(clock, mode, trial, model))
        on_window = partial(_considered, memory, gold) if result.reads else None
        async for question in lived(memory, clock, chat, with_facts=mode == "imported", on_window=on_window):
            await (_settled(memory, model, merges=True) if result.reads else memory.drain(WAIT))
            context = await memory.context(question.scene, question.text, budget=trial.budget)
            result.shown.append(shown_by(chat, question, context, await _memories(memory)))
        await (_settled(memory, model, merges=True) if result.reads else memory.drain(WAIT))
        result.memories = await _events(memory)
        result.buried = len(await memory.failed_jobs())
        if trial.at_end:
            await trial.at_end(memory)
        if model:
            result.calls, result.tokens, result.failures = model.calls, model.tokens, model.failures
    return result


def _opened(
    clock: SetClock, mode: str, trial: Trial, model: Model | None
) -> AbstractAsyncContextManager[core.CognitiveMemory]:
    settings = {name: dict(group) for name, group in trial.tuning.settings.items()}
    settings.setdefault("historian", {}).setdefault("poll_interval_seconds", 0.05)
    tuning = Tuning(settings, trial.tuning.embedder)
    return opened(clock, tuning, chat=model, background=mode in READING)


async def _model(mode: str, trial: Trial, stack: AsyncExitStack) -> CountedChat | None:
    if mode != "model":
        return None
    if trial.address is None:
        raise SystemExit("the mode model needs --model-url and --model-name")
    return await trial.address.opened(stack)


async def _considered(memory: core.CognitiveMemory, gold: GoldHistorian | None, window: Window) -> None:
    """Hand a window over and wait until its job is done."""
    if gold:
        gold.window = window
    last = next(line for line in reversed(window.lines) if not line.is_bot)
    await memory.consider(last.scene, window.lines)
    await _settled(memory, None, merges=False)


async def _settled(memory: core.CognitiveMemory, model: CountedChat | None, *, merges: bool) -> None:
    """Wait until no job waits and every event is indexed; ``merges``: and the merges that are due are done.

    Merges that are not due yet wait, as they would in a bot.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + PATIENCE
    looked_at = loop.time() + (LOOKED if merges else 0.0)
    while True:
        status = await memory.status()
        is_busy = status.jobs.pending or status.jobs.processing or status.index_lag or (model and model.in_flight)
        if not is_busy and loop.time() >= looked_at:
            return
        if loop.time() > until:
            raise SystemExit(f"not done in {PATIENCE:.0f} s: {status}")
        await asyncio.sleep(0.05 if merges else 0.005)


async def _memories(memory: core.CognitiveMemory) -> list[Memory]:
    events = await _events(memory)
    older = [Memory(event.text, frozenset(event.message_ids)) for event in events if not event.quotes]
    quotes = (quote for event in events for quote in event.quotes)
    return [*older, *(Memory(exchange([one], longest=QUOTE_LENGTH), frozenset((one.message_id,))) for one in quotes)]


async def _events(memory: core.CognitiveMemory) -> list[core.Event]:
    found: list[core.Event] = []
    while page := await memory.events(core.Scene.operator(), limit=PAGE, offset=len(found)):
        found += page
    return found
