"""Tests of the schedule of evolution: due rounds, missed rounds, and an unreadable cron."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path

import pytest

from .stage import Stage

START = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)


class Rounds:
    """A clock, a daily due time at 04:00, and the rounds that were started."""

    def __init__(self) -> None:
        """Start at noon."""
        self.at = START
        self.started: list[datetime] = []
        self.error: Exception | None = None

    def now(self) -> datetime:
        """Return the instant."""
        return self.at

    def next_due(self, after: datetime) -> datetime:
        """Return 04:00 after an instant."""
        if self.error:
            raise self.error
        due = after.replace(hour=4, minute=0)
        return due if due > after else due + timedelta(days=1)

    async def evolve(self) -> int:
        """Record a round."""
        self.started.append(self.at)
        return 1


async def test_a_round_runs_once_when_it_is_due(stage: Stage, tmp_path: Path) -> None:
    """A minute's look starts one round a day; the first look ever starts none."""
    from nonebot_plugin_cognitive_memory.commands.scheduled import tick

    rounds = Rounds()
    for _ in range(2 * 24 * 60):
        await tick(tmp_path / "last.json", rounds.next_due, rounds.evolve, rounds.now)
        rounds.at += timedelta(minutes=1)
    assert [(one.hour, one.minute) for one in rounds.started] == [(4, 0), (4, 0)]


async def test_missed_rounds_are_caught_up_once(stage: Stage, tmp_path: Path) -> None:
    """A bot that was off for days runs one round when it is back; a clock that was set back starts none."""
    from nonebot_plugin_cognitive_memory.commands.scheduled import tick

    rounds = Rounds()
    look = partial(tick, tmp_path / "last.json", rounds.next_due, rounds.evolve, rounds.now)
    await look()
    rounds.at += timedelta(days=5)
    for _ in range(3):
        await look()
    assert rounds.started == [START + timedelta(days=5)]
    rounds.at = START
    await look()
    assert len(rounds.started) == 1


async def test_the_schedule_follows_the_setting(stage: Stage) -> None:
    """The default cron is 04:00 in the configured zone."""
    pytest.importorskip("apscheduler")
    from nonebot_plugin_cognitive_memory.commands import scheduled

    due = scheduled._next_due(START)
    assert due is not None
    assert due.isoformat() == "2026-03-02T04:00:00+08:00"
