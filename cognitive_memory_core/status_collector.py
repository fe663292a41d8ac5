"""Collects the status and the figures of an open memory from its components."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from itertools import pairwise

from .background import ErrorState, restarts
from .domain.figures import Activity
from .domain.interval import Interval
from .domain.scope import Scene
from .errors import UnavailableError
from .status import Status
from .vectors.chroma import server_refusal
from .wiring import UseCases

SERVER_SECONDS = 2.0  # how long a status waits for a Chroma server


@dataclass(frozen=True)
class StatusCollector:
    """Collects figures and present errors from the components."""

    use_cases: UseCases

    async def status(self, *, reason: str) -> Status:
        """Return the status; if the ledger is unavailable, its figures are zero and ``last_error`` says so.

        ``reason`` says why no memories are made; "" if they are.
        """
        use, adapters, failing = self.use_cases, self.use_cases.adapters, self._failing()
        vector_store = use.settings.current.vector_store
        if refusal := await asyncio.to_thread(server_refusal, vector_store, SERVER_SECONDS):
            failing = (("vectors", refusal), *(one for one in failing if one[0] != "vectors"))
        status = Status(
            is_running=not reason,
            reason=reason,
            jobs=adapters.queue.counts(),
            refused=use.intake.admission.refused,
            paused=use.worker.paused,
            breakers=tuple((breaker.name, breaker.state) for breaker in adapters.breakers),
            last_error=await asyncio.to_thread(adapters.owner.problem) or next((error for _, error in failing), ""),
            failing=failing,
            refusal=next((one.refusal for one in adapters.breakers if one.refusal), ""),
            is_over_daily_calls=adapters.chat_models.budget.is_spent,
            without_model=self._without_model(),
            dropped_messages=use.buffer.dropped,
            removed_messages=use.upkeep.removed,
            restarts=tuple(restarts.items()),
        )
        return await self._with_figures(status)

    async def activity(self, scene: Scene, days: int) -> Activity:
        """Count what is stored of a place, in total and by day; of all places for an operator without a group."""
        adapters, zone = self.use_cases.adapters, self.use_cases.settings.current.zone
        today = adapters.clock.now().astimezone(zone).date()
        midnights = [
            datetime.combine(today - timedelta(days=back), time(), tzinfo=zone) for back in range(days - 1, -2, -1)
        ]
        await self.use_cases.buffer.flush()
        scope = None if scene.kind == "operator" and not scene.group_id else scene.scope
        spans = [Interval(start, stop) for start, stop in pairwise(midnights)]
        return await adapters.ledger.archive.activity(scope, spans)

    async def _with_figures(self, status: Status) -> Status:
        use, adapters = self.use_cases, self.use_cases.adapters
        today = adapters.clock.now().astimezone(use.settings.current.zone).date()
        try:
            await adapters.meter.flush()
            return replace(
                status,
                totals=await adapters.ledger.archive.totals(),
                index_lag=await use.indexer.lag(),
                spent_today=tuple(await adapters.ledger.accounts.spent(today)),
                index=await use.reconciler.state(),
                purge=await use.purge.state(),
                merges=await use.merging.state(),
            )
        except UnavailableError as away:
            return status.with_error(str(away))

    def _failing(self) -> tuple[tuple[str, str], ...]:
        """Return the failing components with their errors: loops, the last failure first, then stores and models."""
        lasting = sorted((one for one in self._troubles() if one.error), key=lambda one: one.began, reverse=True)
        away = [
            (breaker.name, breaker.last_error)
            for breaker in self.use_cases.adapters.breakers
            if breaker.state == "failed" or breaker.refusal
        ]
        return (*((trouble.name, trouble.error) for trouble in lasting), *(one for one in away if one[1]))

    def _troubles(self) -> list[ErrorState]:
        """Return the error states of all background components, each once."""
        use = self.use_cases
        every = (
            *(loop.trouble for loop in (*use.loops, *use.learning_loops)),
            use.buffer.read_errors,
            use.buffer.crowding,
            use.name_observer.renaming.trouble,
            use.adapters.watch.trouble,
            use.integrity.trouble,
            *use.worker.error_states,
            *use.merging.error_states,
            *use.profile_indexer.error_states,
        )
        return list(dict.fromkeys(every))

    def _without_model(self) -> tuple[str, ...]:
        has_embedding = bool(self.use_cases.settings.current.models.embedding.model_name)
        missing = {"historian": not self.use_cases.adapters.chat_models.has_model, "embedding": not has_embedding}
        return tuple(name for name, is_missing in missing.items() if is_missing)
