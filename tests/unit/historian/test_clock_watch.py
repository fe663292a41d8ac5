"""Tests that a wrong clock deletes no data and keeps nobody from being recorded."""

from __future__ import annotations

from datetime import timedelta

from cognitive_memory_core.historian.clock_watch import NEVER, STEADY, ClockWatch
from tests.support.builders import GROUP
from tests.support.clock import FrozenClock
from tests.support.ledgers import Ledger, a_ledger

YEARS = 730


async def watched(clock: FrozenClock, ledger: Ledger) -> ClockWatch:
    """Start watching a clock, as opening a memory does."""
    watch = ClockWatch(clock, ledger.housekeeping, elapsed=clock.elapsed)
    await watch.load()
    return watch


async def believed(clock: FrozenClock, ledger: Ledger) -> ClockWatch:
    """Watch a clock for a day."""
    watch = await watched(clock, ledger)
    for _ in range(24):
        clock.advance(seconds=STEADY / 24)
        watch.horizon()
    await watch.keep()
    return watch


async def test_a_clock_is_believed_after_a_day() -> None:
    """Nothing is deleted by age before the clock was watched for a day, not even after the first start."""
    clock, ledger = FrozenClock(), a_ledger()
    watch = await watched(clock, ledger)
    assert watch.horizon() == NEVER
    clock.advance(seconds=STEADY - 1)
    assert watch.horizon() == NEVER
    clock.advance(seconds=1)
    assert watch.horizon() == clock.now()


async def test_a_start_two_years_ahead_makes_nothing_older() -> None:
    """A start with a clock two years ahead, and the next correct start, delete nothing."""
    clock, ledger = FrozenClock(), a_ledger()
    await believed(clock, ledger)
    right = clock.now()
    clock.instant += timedelta(days=YEARS)
    watch = await watched(clock, ledger)
    assert abs(watch.horizon() - right) < timedelta(days=1)
    assert str(YEARS) in watch.trouble.error
    await watch.keep()
    clock.instant = right + timedelta(hours=1)
    watch = await watched(clock, ledger)
    assert watch.horizon() == clock.now()
    assert watch.trouble.error == ""


async def test_a_clock_that_is_set_while_it_runs_is_noticed() -> None:
    """A clock that jumps forward or back during a run is noticed."""
    clock, ledger = FrozenClock(), a_ledger()
    watch = await believed(clock, ledger)
    right = clock.now()
    for days in (YEARS, -YEARS):
        clock.instant = right + timedelta(days=days)
        assert watch.horizon() <= right
        assert watch.trouble.error
    assert watch.now() == right  # data forgotten with a clock that is behind covers messages up to today
    clock.instant = right
    assert watch.horizon() == right
    assert not watch.trouble.error


async def test_who_was_forgotten_in_the_future_is_recorded_again() -> None:
    """A record of forgetting dated in the future is corrected when the clock is right; others are unchanged."""
    clock, ledger = FrozenClock(), a_ledger()
    await believed(clock, ledger)
    right = clock.now()
    await ledger.eraser.forget_person("2000009", right, str)
    clock.instant += timedelta(days=YEARS)
    watch = await watched(clock, ledger)
    await ledger.eraser.forget_person("2000001", watch.now(), str)
    tombstones = await ledger.eraser.tombstones()
    assert tombstones.covers(None, (GROUP.user_id,), right + timedelta(days=300))
    await watch.keep()
    clock.instant = right + timedelta(minutes=1)
    await watched(clock, ledger)
    tombstones = await ledger.eraser.tombstones()
    assert not tombstones.covers(None, ("2000001",), clock.now())
    assert tombstones.covers(None, ("2000001",), right)
    assert tombstones.covers(None, ("2000009",), right)
