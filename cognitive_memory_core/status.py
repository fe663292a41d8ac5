"""What the memory says of itself."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from .domain.job import QueueCounts
from .historian.indexing.reconciler import IndexState
from .historian.profiles.merging import MergeState
from .ports.ledger import PurgeState, Spending, Totals


@dataclass(frozen=True)
class Status:
    """How the memory is. ``index_lag`` counts events without a vector; ``without_model`` names what runs on rules.

    ``breakers`` pairs each guarded store or model with its state: "uninitialised", "ready" or "failed". ``index`` says
    how far the vector store is; while it lacks rows, or is away, exact search answers. ``purge`` says since when bytes
    of what was erased wait to be removed, and when the last were. ``merges`` counts the facts that wait for profiles.
    ``refused`` counts the turns and dialogues that were not taken since the start, each with a QueueFull to its caller.
    ``dropped_messages`` counts the lines that were not written into the log since the start: its buffer was full.
    ``failing`` pairs each part that fails at present with its error, and ``last_error`` is the latest of those.
    ``is_over_daily_calls``: the day's model calls are spent, and the rules work on.
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
    failing: tuple[tuple[str, str], ...] = ()
    merges: MergeState = field(default_factory=MergeState)
    spent_today: tuple[Spending, ...] = ()
    is_over_daily_calls: bool = False
    without_model: tuple[str, ...] = ()
    dropped_messages: int = 0

    @property
    def calls_today(self) -> int:
        """Model calls of the day."""
        return sum(spending.calls for spending in self.spent_today)

    @property
    def tokens_today(self) -> int:
        """Tokens of the day."""
        return sum(spending.tokens for spending in self.spent_today)

    def with_error(self, error: str) -> Status:
        """Say what went wrong while asking."""
        return replace(self, last_error=error)
