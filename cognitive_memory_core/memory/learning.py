"""What learns, changes, forgets and reports over an open memory; loaded when the memory is open already."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from ..errors import UnavailableError
from ..evolution.evolver import Evolver
from ..evolution.suggesting import Suggesting
from ..historian.merging import EntityMerge, ProfileMerging
from ..historian.model_merger import ModelMerger
from ..historian.past_lines import PastLines
from ..historian.pipeline import Pipeline
from ..historian.rewriter import BackedHistorian, ModelHistorian
from ..historian.rules import RuleHistorian, RuleMerger
from ..historian.upkeep import Upkeep
from ..historian.worker import HistorianWorker
from ..migration.summaries import SummaryTakeover
from ..models.breaker import Breaker
from ..models.chat import ROLES, chats_of
from ..models.lent_models import LentModel
from ..models.spending import EVOLUTION, BudgetedChat
from ..ports import Chat, Historian, Merger
from ..prompts.library import PromptLibrary, read_templates
from ..quality.reporting import Reporting
from ..store.database.database import Snapshot
from ..tasks import BackgroundLoop
from ..transfer import imported
from ..vectors.indexer import BATCH, Indexer, ProfileIndexer
from .compression import ModelSummariser
from .forgetting import Forgetting
from .opened import Opened

log = logging.getLogger(__name__)
POLL, LONGEST_POLL = 0.02, 0.25  # seconds; each poll of a drain counts rows, so the interval grows


class Learning:
    """The use cases that need more than one read, and their background loops from :meth:`start` to :meth:`stop`.

    Both are idempotent. :meth:`open` builds historian, merger and evolver by chat models if they are configured, by
    rules otherwise and when the daily calls are spent. Where one part must react to another's work, a callback connects
    them there.
    """

    summariser: ModelSummariser | None = None
    evolver_model: tuple[Chat, PromptLibrary] | None = None
    historian: Historian
    merger: Merger
    chat_breakers: tuple[Breaker, ...] = ()
    has_own_chat = False

    def __init__(self, opened: Opened) -> None:
        """Prepare; nothing is built yet."""
        self.opened = opened
        self._is_started = False

    async def open(self, given: Chat | None) -> None:
        """Build the models and the use cases; ``given`` replaces every configured chat model."""
        opened, live = self.opened, self.opened.settings
        rules, merging_rules = RuleHistorian(), RuleMerger()
        self.historian, self.merger, self.budget = rules, merging_rules, opened.budget
        asked = await chats_of(live.current, self.budget, opened.resources, given, opened.lender)
        if asked:
            own = await asyncio.to_thread(read_templates, opened.data_dir / "prompts")
            library = await asyncio.to_thread(PromptLibrary, own)
            for problem in library.problems:  # the package's own template is used instead
                log.warning("%s", problem)
            missing = BudgetedChat(None, Breaker(""), self.budget)
            chats = {role: asked.get(role, missing) for role in ROLES}
            historian = ModelHistorian(chats["historian"], chats["triage"], library, live, rules, tally=opened.tally)
            self.historian = BackedHistorian(historian, rules, self.budget)
            self.merger = ModelMerger(chats["merge"], library, live, merging_rules, opened.tally)
            self.chat_breakers = tuple({id(one): one.breaker for one in asked.values()}.values())
            self.has_own_chat = any(one.lent is None for one in asked.values())
            self.summariser = ModelSummariser(chats["historian"], library, live)
            if "evolution" in asked:
                self.evolver_model = chats["evolution"], library
        self._build_historian()
        self._build_changes()
        opened.resources.push_async_callback(self.stop)

    def _build_historian(self) -> None:
        """Build what makes events, profiles and vectors of jobs."""
        opened, ledger, live = self.opened, self.opened.ledger, self.opened.settings
        embedder, size = opened.embedder, live.current.models.embedding.batch_size
        on_stored = opened.reconciler.nudge if opened.reconciler else lambda: None
        self.indexer = Indexer("Indexer", embedder, ledger.vectors, on_stored=on_stored, batch=max(size, BATCH))
        self.profile_indexer = ProfileIndexer(opened.profiles, ledger.profiles, ledger.profile_vectors, embedder)
        self.belief_indexer = Indexer("belief index", embedder, ledger.belief_vectors)
        entity = EntityMerge(
            self.merger,
            opened.profiles,
            ledger,
            live,
            opened.clock,
            group_names=opened.name_observer.groups,
            is_left_out=lambda key: key.user_id in opened.consent.opted_out,
            on_written=lambda: self.profile_indexer.nudge(),  # noqa: PLW0108  # it is built later
        )
        self.merging = ProfileMerging(entity, is_learning=lambda: opened.queue.counts().pending > 0)
        pipeline = Pipeline(
            historian=self.historian,
            ledger=ledger,
            events=ledger.events,
            memos=opened.memos,
            name_observer=opened.name_observer,
            consent=opened.consent,
            settings=live,
            asks_model=bool(self.chat_breakers),
        )
        self.worker = HistorianWorker(opened.queue, pipeline, live, on_stored=self.note_stored)
        self.past_lines = PastLines(
            ledger.log,
            opened.intake,
            live,
            opened.queue.counts,
            may_call=lambda: not self.chat_breakers or self.budget.leaves_half,
        )
        opened.intake.on_queued, opened.intake.on_withdrawn = self.worker.nudge, self.merging.nudge
        opened.intake.on_backfilled = self.past_lines.note_lines
        opened.on_restored = self.profile_indexer.nudge

    def _build_changes(self) -> None:
        """Build what evolves, forgets, corrects, reports and keeps the ledger in order."""
        opened, live, ledger, clock = self.opened, self.opened.settings, self.opened.ledger, self.opened.clock
        on_stored, model = self.belief_indexer.nudge, self.evolver_model
        self.evolver = Evolver(model, ledger, opened.consent, live, clock, opened.buffer.flush, on_stored)
        self.suggesting = Suggesting(
            ledger.events, ledger.beliefs, opened.consent, live, clock, opened.names.of, on_stored
        )
        self.forgetting = Forgetting(
            opened,
            suspended=self._suspended,
            on_erased=self._note_erased,
            on_changed=self.merging.nudge,
        )
        self.upkeep = Upkeep(ledger, live, opened.watch.horizon, self.forgetting.erase_due)
        self.takeover = SummaryTakeover(
            opened.data_dir, None if live.current.isolate_bots else live.current.agent, self.import_file, opened.disk
        )
        self.reporting = Reporting(ledger, opened.consent, live, clock, opened.queue.counts, self.index_lag, self.lent)

    async def lent(self) -> LentModel | None:
        """Return the model that is lent to the historian now; None if it has its own, or there is none."""
        lender, historian = self.opened.lender, self.opened.settings.current.models.historian
        return await lender.model(historian) if lender and lender.lends_to(historian) else None

    def may_evolve(self) -> bool:
        """Return whether a model for evolution can be asked within the calls of the day."""
        lender, wanted = self.opened.lender, self.opened.settings.current.models.of("evolution")
        is_missing = lender is not None and lender.lends_to(wanted) and lender.last is None
        return self.evolver_model is not None and not is_missing and self.budget.bears(EVOLUTION)

    @property
    def breakers(self) -> tuple[Breaker, ...]:
        """The breakers of stores and models."""
        return (*self.opened.breakers, *self.chat_breakers)

    @property
    def loops(self) -> list[BackgroundLoop]:
        """The loops that run whenever the memory is open."""
        return [*self.opened.loops, self.upkeep.loop]

    @property
    def learning_loops(self) -> list[BackgroundLoop]:
        """The loops that run while the memory forms new memories, beside those of worker and merging."""
        indexers = self.profile_indexer.loop, self.indexer.loop, self.belief_indexer.loop
        own, opened = (self.takeover.loop, self.past_lines.loop, *indexers), self.opened
        others = opened.reconciler, opened.embedder, opened.reranking
        return [*own, *(one.loop for one in others if one and one.loop)]

    def start(self) -> None:
        """Start the background loops; with ``enabled=false`` only those of log, names, memos and housekeeping."""
        if self._is_started:
            return
        self._is_started = True
        for loop in self.loops:
            loop.start()
        if self.opened.settings.current.enabled:
            for loop in (self.worker.loop, self.merging.loop, *self.learning_loops):
                loop.start()

    async def stop(self) -> None:
        """Stop the loops; running jobs get ``shutdown_seconds`` to end."""
        self._is_started = False
        await asyncio.gather(self.worker.stop(), self.merging.loop.stop())
        await asyncio.gather(*(loop.stop() for loop in (*self.loops, *self.learning_loops)))

    async def drain(self, seconds: float) -> bool:
        """Wait until no work is left; return False after ``seconds``. Starts the loops if they are not running."""
        resting = not self._is_started
        self.start()
        try:
            return await asyncio.wait_for(self._until_idle(), max(seconds, 0.0))
        except asyncio.TimeoutError:
            return False
        finally:
            if resting:
                await self.stop()

    async def _until_idle(self) -> bool:
        """Wait until no job waits, no merge is due and no vector is missing; shorten the loops' pauses meanwhile.

        While the memory is disabled no job runs; then return whether the captured messages could be written.
        """
        is_written, pause = await self.opened.buffer.flush(), POLL
        if not self.opened.settings.current.enabled:
            return is_written
        while not await self._is_idle():
            # wake the loops of the first stage that has work, and no later ones, so that these batch its output
            self.worker.nudge()
            if self.worker.is_idle:
                if not self.past_lines.is_idle:
                    self.past_lines.wake_now()
                self.merging.wake_now()
                if self.merging.is_idle:
                    for loop in (self.indexer, self.profile_indexer, self.belief_indexer, self.opened.reconciler):
                        if loop:
                            loop.wake_now()
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, LONGEST_POLL)
        await self.budget.flush()
        return True

    async def _is_idle(self) -> bool:
        is_at_rest = self.worker.is_idle and self.merging.is_idle and self.past_lines.is_idle
        if not is_at_rest or await self.takeover.is_due():
            return False
        try:
            has_work = await self.opened.ledger.database.read(self._has_work)
            return not (has_work or (self.opened.reconciler and await self.opened.reconciler.lag()))
        except UnavailableError:
            return False

    def _has_work(self, connection: Snapshot) -> bool:
        """Return whether facts wait for a merge or texts for a vector."""
        indexers = self.indexer, self.profile_indexer, self.belief_indexer
        return self.merging.has_waiting(connection) or any(one.has_lag(connection) for one in indexers)

    async def index_lag(self) -> int:
        """Return the number of events that have no vector yet."""
        return await self.opened.ledger.vectors.lag(self.opened.embedder.fingerprint)

    def reconsider(self) -> None:
        """Wake the loops that wait for a time computed from settings, after the settings changed."""
        self.worker.nudge()
        self.merging.nudge()
        self.upkeep.loop.nudge()

    def note_stored(self) -> None:
        """Wake the loops that process new events: the indexer and profile merging."""
        self.indexer.nudge()
        self.merging.nudge()

    def _note_erased(self) -> None:
        """Purge soon; reworded texts have no vector, and profiles that lost a place are merged anew."""
        self.note_stored()
        self.upkeep.loop.nudge()

    async def import_file(self, path: Path) -> int:
        """Import an export, then refresh caches and indexes; return the number of new rows."""
        await self.opened.consent.drop_ended_switches()
        absorbed = await imported(
            self.opened.ledger.archive, path, profiles=self.opened.profiles, is_excluded=self.opened.consent.keeps_out
        )
        await self.opened.consent.load()
        await self.profile_indexer.refresh()
        self.opened.names.drop()
        self.indexer.nudge()
        if self.opened.reconciler:
            self.opened.reconciler.nudge()
        return absorbed

    @asynccontextmanager
    async def _suspended(self) -> AsyncGenerator[None, None]:
        """Keep jobs, merges, evolution, decisions on suggestions and the takeover from running meanwhile."""
        async with AsyncExitStack() as stack:
            for work in (self.worker, self.merging, self.evolver, self.suggesting, self.takeover):
                await stack.enter_async_context(work.suspended())
            yield
