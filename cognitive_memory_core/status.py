"""The status of a memory: state and figures, as one value."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from .domain.backlog import IndexState, MergeState
from .domain.figures import LEDGER_ROWS, PurgeState, Spending, Totals
from .domain.job import QueueCounts


@dataclass(frozen=True)
class Status:
    """State and figures of the memory. ``index_lag`` counts events that wait for a vector.

    ``without_model`` lists "historian" and "embedding" where no model is set. ``breakers`` pairs each guarded store or
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
        """What is damaged in the ledger's file, and what to do; "" if nothing is. ``failing`` has the same sentence."""
        return next((error for name, error in self.failing if name == LEDGER_ROWS), "")

    def with_error(self, error: str) -> Status:
        """Return the status with another ``last_error``."""
        return replace(self, last_error=error)
