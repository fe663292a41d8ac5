"""Figures of the whole in-memory ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import date, datetime, timezone

from cognitive_memory_core.domain.scope import Scope
from cognitive_memory_core.ports.ledger import Spending
from cognitive_memory_core.ports.quality import ExaminedEvent, LineCount, LoggedDay, StoredCount

from .accounts import InMemoryAccounts
from .state import InMemoryState


class InMemoryQuality:
    """The figures of a state."""

    def __init__(self, state: InMemoryState, accounts: InMemoryAccounts) -> None:
        """Use a state and accounts that other ports share."""
        self._state = state
        self._accounts = accounts

    async def stored(self) -> list[StoredCount]:
        """Count the active events by place, speaker and kind."""
        found: dict[tuple[Scope, str, str], Counter[str]] = {}
        for event in self._state.standing():
            counts = found.setdefault((event.scope, event.sender_id, event.kind), Counter())
            shown = int(event.id in self._state.recalls)
            counts.update(events=1, absolute=int(event.is_absolute), recalled=shown, repeats=event.count)
        return [StoredCount(*key, **counts) for key, counts in found.items()]  # type: ignore[arg-type]  # a kind

    async def line_counts(self) -> list[LineCount]:
        """Count the lines of people by place and person."""
        said = (line for line in self._state.messages.values() if not line.is_bot)
        found = Counter((line.scene.scope, line.sender_id) for line in said)
        return [LineCount(scope, person, lines) for (scope, person), lines in found.items()]

    async def logged(self) -> list[LoggedDay]:
        """Count the lines of the log by day, oldest first."""
        lines, weights = Counter[date](), Counter[date]()
        for line in self._state.messages.values():
            day = line.sent_at.astimezone(timezone.utc).date()
            lines[day] += 1
            weights[day] += line.weight
        return [LoggedDay(day, lines[day], weights[day]) for day in sorted(lines)]

    async def statements(self, before: int | None, limit: int) -> list[ExaminedEvent]:
        """Return active events, the latest stored first."""
        numbers = self._state.numbers
        standing = sorted(self._state.standing(), key=lambda one: -numbers[one.id])
        return [
            ExaminedEvent(
                numbers[one.id],
                one.id,
                one.scope.key,
                one.text,
                one.kind,
                one.sender_id,
                one.subjects,
                one.is_absolute,
                one.confidence,
                one.happened_at,
                one.replaces,
            )
            for one in standing
            if before is None or numbers[one.id] < before
        ][: max(limit, 0)]

    async def spent(self, since: date) -> list[tuple[date, Spending]]:
        """Return what was spent from a day on, oldest first."""
        return [(day, spending) for day in self._accounts.days() if day >= since
                for spending in await self._accounts.spent(day)]  # fmt: skip

    async def tally(self, day: date, counts: Mapping[str, int], recalled: Mapping[str, int], at: datetime) -> None:
        """Add counts."""
        state = self._state
        for name, count in counts.items():
            state.tallies[day, name] = state.tallies.get((day, name), 0) + count
        for event_id, times in recalled.items():
            if event_id in state.events:
                state.recalls[event_id] = state.recalls.get(event_id, 0) + times

    async def tallies(self, since: date) -> list[tuple[date, str, int]]:
        """Return the counts from a day on, oldest first."""
        found = sorted((day, name, count) for (day, name), count in self._state.tallies.items())
        return [row for row in found if row[0] >= since]
