"""Builds historian and merger: by chat models if configured, by rules otherwise and when the daily calls are spent."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from ..evolution.evolver import EvolverModel
from ..historian.model_merger import ModelMerger
from ..historian.rewriter import BackedHistorian, BackedMerger, ModelHistorian
from ..historian.rules import RuleHistorian, RuleMerger
from ..models.breaker import Breaker
from ..models.chat import ROLES, chats_of
from ..models.spending import Budget, BudgetedChat, SpendingMeter
from ..ports.models import Chat, Historian, Merger
from ..ports.tally import Tally
from ..prompts.library import TEMPLATES, PromptLibrary, read_templates
from ..recall.compression import ModelSummariser, Summariser
from ..settings import Live, Settings

log = logging.getLogger(__name__)


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
    asked = await chats_of(settings.current, budget, stack, given)
    if not asked:
        return ChatModels(rules, merging, budget)
    library = await asyncio.to_thread(lambda: PromptLibrary(read_templates(prompts, TEMPLATES)))
    for problem in library.problems:  # the package's own template is used instead
        log.warning("%s", problem)
    missing = BudgetedChat(None, Breaker(""), budget)
    chats = {role: asked.get(role, missing) for role in ROLES}
    historian = ModelHistorian(chats["historian"], chats["triage"], library, settings, rules, tally=tally)
    merger = ModelMerger(chats["merge"], library, settings, tally)
    breakers = tuple({id(one): one.breaker for one in asked.values()}.values())
    summariser = ModelSummariser(chats["historian"], library, settings)
    backed = BackedHistorian(historian, rules, budget), BackedMerger(merger, merging)
    evolver = EvolverModel(chats["evolution"], library, summariser.summary) if "evolution" in asked else None
    return ChatModels(*backed, budget, breakers, summariser, evolver)
