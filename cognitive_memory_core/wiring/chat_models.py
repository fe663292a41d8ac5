"""Builds historian and merger: by chat models if configured, by rules otherwise and when the daily calls are spent."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from ..context.compression import Summariser
from ..context.summary import ModelSummariser
from ..evolution.evolver import EvolverModel
from ..historian.profiles.model_merger import ModelMerger
from ..historian.profiles.rule_merger import RuleMerger
from ..historian.rewriting.rewriter import ModelHistorian
from ..historian.rewriting.rules import RuleDialogueFilter, RuleHistorian
from ..models.breaker import Breaker, GuardedChat
from ..models.call_budget import BackedHistorian, BackedMerger, Budget, BudgetedChat
from ..models.caller_models import CallerChat
from ..models.chat import OpenAIChat
from ..models.client import ModelClient
from ..models.meter import MeteredChat, SpendingMeter
from ..ports.models import Chat, Historian, Merger
from ..ports.tally import Tally
from ..prompts.library import PromptLibrary
from ..prompts.template import read_templates
from ..settings import ChatRole, Live, ModelSettings, Settings

log = logging.getLogger(__name__)
ROLES: tuple[ChatRole, ...] = ("historian", "triage", "merge", "evolution")


@dataclass(frozen=True)
class ChatModels:
    """Historian, merger and summariser, and the breakers around their models."""

    historian: Historian
    merger: Merger
    budget: Budget
    breakers: tuple[Breaker, ...] = ()
    summariser: Summariser | None = None
    evolver: EvolverModel | None = None

    @property
    def has_model(self) -> bool:
        """Whether any chat model is used."""
        return bool(self.breakers)


@dataclass(frozen=True)
class _ModelInUse:
    """A chat model with its breaker and settings."""

    wanted: ModelSettings
    chat: Chat
    breaker: Breaker


async def chat_models_of(
    settings: Live[Settings],
    prompts: Path,
    meter: SpendingMeter,
    stack: AsyncExitStack,
    given: Chat | None,
    *,
    tally: Tally,
) -> ChatModels:
    """Build the chat models; ``given`` replaces all of them, ``prompts`` is the folder of the operator's templates."""
    rules, merging, budget = RuleHistorian(), RuleMerger(), Budget(meter, settings)
    asked = (
        _given_for_all_roles(given, settings.current, meter) if given else await _asked(settings.current, meter, stack)
    )
    if not asked:
        return ChatModels(rules, merging, budget)
    library = await asyncio.to_thread(_library, prompts)
    chats = {role: BudgetedChat(asked[role].chat if role in asked else None, budget) for role in ROLES}
    historian = ModelHistorian(chats["historian"], chats["triage"], library, settings, rules, tally=tally)
    merger = ModelMerger(chats["merge"], library, settings, tally)
    breakers = tuple({id(one): one.breaker for one in asked.values()}.values())
    summariser = ModelSummariser(chats["historian"], library, settings)
    backed = BackedHistorian(historian, rules, budget, RuleDialogueFilter()), BackedMerger(merger, merging)
    evolver = EvolverModel(chats["evolution"], library, summariser.summary) if "evolution" in asked else None
    return ChatModels(*backed, budget, breakers, summariser, evolver)


def _library(folder: Path) -> PromptLibrary:
    """Load the templates; log each unusable template of the operator and use the package's instead."""
    library = PromptLibrary(read_templates(folder))
    for problem in library.problems:
        log.warning("%s", problem)
    return library


def _given_for_all_roles(chat: Chat, settings: Settings, meter: SpendingMeter) -> Mapping[ChatRole, _ModelInUse]:
    breaker = Breaker("historian")
    held = CallerChat(chat, settings.models.historian.timeout_seconds)
    guarded = GuardedChat(MeteredChat(held, meter, counts_calls=True), breaker)
    return dict.fromkeys(ROLES, _ModelInUse(ModelSettings(), guarded, breaker))


async def _asked(settings: Settings, meter: SpendingMeter, stack: AsyncExitStack) -> Mapping[ChatRole, _ModelInUse]:
    """Build the configured chat models; roles with equal settings share one model and its breaker."""
    made: dict[ChatRole, _ModelInUse] = {}
    for role in ROLES:
        wanted = settings.models.of(role)
        if wanted.model_name:
            twin = next((one for one in made.values() if one.wanted == wanted), None)
            made[role] = twin or await _made(role, wanted, meter, stack)
    return made


async def _made(role: ChatRole, wanted: ModelSettings, meter: SpendingMeter, stack: AsyncExitStack) -> _ModelInUse:
    client = await asyncio.to_thread(ModelClient, wanted, role, meter)
    stack.push_async_callback(client.close)
    breaker = Breaker(role)
    return _ModelInUse(wanted, GuardedChat(MeteredChat(OpenAIChat(wanted, client), meter), breaker), breaker)
