"""Tests of the schedule of evolution: due rounds, missed rounds, and an unreadable cron."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

START = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)


def next_due(after: datetime) -> datetime:
    """Return 04:00 after an instant."""
    due = after.replace(hour=4, minute=0)
    return due if due > after else due + timedelta(days=1)


async def test_a_round_runs_once_when_it_is_due(app: object, tmp_path: Path) -> None:
    """A minute's look starts one round a day; the first look ever starts none."""
    from nonebot_plugin_cognitive_memory.commands.scheduled import is_due
    from nonebot_plugin_cognitive_memory.json_file import JsonFile

    file = JsonFile[dict[str, Any]](tmp_path / "last.json", dict)
    minutes = [START + timedelta(minutes=number) for number in range(2 * 24 * 60)]
    started = [at for at in minutes if await is_due(file, at, next_due)]
    assert [(at.hour, at.minute) for at in started] == [(4, 0), (4, 0)]


async def test_missed_rounds_are_caught_up_once(app: object, tmp_path: Path) -> None:
    """A bot that was off for days runs one round when it is back; a clock that was set back starts none."""
    from nonebot_plugin_cognitive_memory.commands.scheduled import is_due
    from nonebot_plugin_cognitive_memory.json_file import JsonFile

    later = START + timedelta(days=5)
    files = (JsonFile[dict[str, Any]](tmp_path / "last.json", dict) for _ in range(4))
    due = [await is_due(file, at, next_due) for file, at in zip(files, (START, later, later, START), strict=True)]
    assert due == [False, True, False, False]


async def test_the_schedule_follows_the_setting(app: object) -> None:
    """The default cron is 04:00 in the configured zone."""
    pytest.importorskip("apscheduler")
    from nonebot_plugin_cognitive_memory.commands import scheduled

    due = scheduled.next_round(START)
    assert due is not None
    assert due.isoformat() == "2026-03-02T04:00:00+08:00"
