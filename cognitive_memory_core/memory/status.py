"""The status of a memory: state and figures as one value, collected from what is open."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import datetime, time, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from ..domain.figures import LEDGER_ROWS, Activity, IndexState, MergeState, PurgeState, Spending, Totals
from ..domain.instants import Interval
from ..domain.job import QueueCounts
from ..domain.scope import Scene
from ..errors import UnavailableError
from ..ports import is_hashing
from ..tasks import ErrorState, restarts
from ..vectors.chroma.store import server_refusal

if TYPE_CHECKING:
    from .learning import Learning
    from .opened import Opened

SERVER_SECONDS = 2.0  # how long a status waits for a Chroma server


@dataclass(frozen=True)
class Status:
    """State and figures of the memory. ``index_lag`` counts events that wait for a vector.

    ``without_model`` lists "historian" and "embedding" where no model is set or lent. ``model`` is the name of the
    historian's model, ``lender`` whose it is, if it is not the memory's own. ``breakers`` pairs each guarded store or
    model with its state: "uninitialised", "ready" or "failed". ``index`` is the progress of the vector store; while it
    lacks rows or is unavailable, exact search answers. ``purge`` has the time since which erased bytes wait to be
    removed, and the time of the last purge. ``merges`` counts the facts that wait for profiles. ``refused`` counts
    turns and dialogues rejected with QueueFull since the start. ``dropped_messages`` counts messages dropped since the
    start because the log's buffer was full, ``removed_messages`` those deleted since the start to keep within
    ``capture.log_max_mb``. ``restarts`` pairs each background loop that something cancelled with how often it was
    started again. ``failing`` pairs each failing component with its error; ``last_error`` is the latest error.
    ``refusal``: why a provider refuses the key or the model, "" if none does; jobs wait, up to an hour.
    ``is_over_daily_calls``: the day's model calls are used up, and the rules replace the models.
    """

    is_running: bool
    reason: str = ""
    jobs: QueueCounts = field(default_factory=QueueCounts)
    refused: int = 0
    totals: Totals = field(default_factory=Totals)
    index_lag: int = 0
    index: IndexState = field(default_factory=IndexState)
    purge: PurgeState = field(default_factory=PurgeState)
    paused: bool = False
    breakers: tuple[tuple[str, str], ...] = ()
    last_error: str = ""
    refusal: str = ""
    failing: tuple[tuple[str, str], ...] = ()
    merges: MergeState = field(default_factory=MergeState)
    spent_today: tuple[Spending, ...] = ()
    is_over_daily_calls: bool = False
    without_model: tuple[str, ...] = ()
    model: str = ""
    lender: str = ""
    dropped_messages: int = 0
    removed_messages: int = 0
    restarts: tuple[tuple[str, int], ...] = ()

    @property
    def calls_today(self) -> int:
        """Number of model calls today."""
        return sum(spending.calls for spending in self.spent_today)

    @property
    def tokens_today(self) -> int:
        """Number of tokens used today."""
        return sum(spending.tokens for spending in self.spent_today)

    @property
    def damage(self) -> str:
        """A sentence of ``failing`` on what is damaged in the ledger's file, and what to do; "" if nothing is."""
        return next((error for name, error in self.failing if name == LEDGER_ROWS), "")


async def collected_status(learning: Learning, *, reason: str) -> Status:
    """Return the status; if the ledger is unavailable, its figures are zero and ``last_error`` says so.

    ``reason`` says why no memories are made; "" if they are.
    """
    opened = learning.opened
    settings, failing = opened.settings.current, _failing(learning)
    if refusal := await asyncio.to_thread(server_refusal, settings.vector_store, SERVER_SECONDS):
        failing = (("vectors", refusal), *(one for one in failing if one[0] != "vectors"))
    lent = await learning.lent()
    without = {"historian": bool(lent or learning.has_own_chat), "embedding": not is_hashing(opened.embedder)}
    status = Status(
        is_running=not reason,
        reason=reason,
        jobs=opened.queue.counts(),
        refused=opened.intake.admission.refused,
        paused=learning.worker.paused,
        breakers=tuple((breaker.name, breaker.state) for breaker in learning.breakers),
        last_error=await asyncio.to_thread(opened.owner.problem) or next((error for _, error in failing), ""),
        failing=failing,
        refusal=next((one.refusal for one in learning.breakers if one.refusal), ""),
        is_over_daily_calls=learning.budget.is_spent,
        without_model=tuple(name for name, is_set in without.items() if not is_set),
        model=lent.model_name if lent else settings.models.historian.model_name,
        lender=lent.lender if lent else "",
        dropped_messages=opened.buffer.dropped,
        removed_messages=learning.upkeep.removed,
        restarts=tuple(restarts.items()),
    )
    today = opened.budget.today
    try:
        await opened.budget.flush()
        spent = await opened.ledger.housekeeping.spent(today)
        return replace(
            status,
            totals=await opened.ledger.archive.totals(),
            index_lag=await learning.index_lag(),
            spent_today=tuple(one for day, one in spent if day == today),
            index=await opened.reconciler.state() if opened.reconciler else IndexState(),
            purge=await opened.ledger.eraser.purge_due(),
            merges=await learning.merging.state(),
        )
    except UnavailableError as away:
        return replace(status, last_error=str(away))


async def collected_activity(opened: Opened, scene: Scene, days: int) -> Activity:
    """Count what is stored of a place, in total and by day; of all places for an operator without a group."""
    zone = opened.settings.current.zone
    today = opened.clock.now().astimezone(zone).date()
    midnights = [
        datetime.combine(today - timedelta(days=back), time(), tzinfo=zone) for back in range(days - 1, -2, -1)
    ]
    await opened.buffer.flush()
    scope = scene.scope if scene.has_place else None
    return await opened.ledger.archive.activity(scope, [Interval(start, end) for start, end in pairwise(midnights)])


def _failing(learning: Learning) -> tuple[tuple[str, str], ...]:
    """Return the failing components with their errors: loops, the last failure first, then stores and models."""
    troubles: tuple[ErrorState, ...] = (
        *(loop.trouble for loop in (*learning.loops, *learning.learning_loops)),
        learning.opened.buffer.read_errors,
        learning.opened.buffer.crowding,
        learning.opened.name_observer.trouble,
        learning.opened.watch.trouble,
        learning.upkeep.damage,
        *learning.worker.error_states,
        *learning.merging.error_states,
        *learning.profile_indexer.error_states,
    )
    lasting = sorted((one for one in dict.fromkeys(troubles) if one.error), key=lambda one: one.began, reverse=True)
    away = [one for one in learning.breakers if one.last_error and (one.state == "failed" or one.refusal)]
    return (*((one.name, one.error) for one in lasting), *((one.name, one.last_error) for one in away))
