"""Tests of the plugin's background loops."""

from __future__ import annotations

from pathlib import Path

import pytest

import cognitive_memory_core as core
from tests.support.waiting import until


async def test_an_unforeseen_error_ends_no_loop(app: object) -> None:
    """A round that raises anything is repeated after a pause, and shows as the loop's error until one succeeds."""
    from nonebot_plugin_cognitive_memory.running_loops import IDLE, RunningLoops

    rounds: list[str] = []

    async def work() -> float:
        rounds.append(loop.last_error)
        if len(rounds) < 3:
            raise ZeroDivisionError
        return IDLE

    loop = core.BackgroundLoop("test", work, first_pause=0.01)
    loops = RunningLoops(loop)
    loops.start()
    loops.start()
    await until(lambda: len(rounds) == 3 and not loop.last_error)
    assert [bool(error) for error in rounds] == [False, True, True]
    assert await loops.stop()
    assert not await loops.stop()


async def test_they_can_be_started_again(app: object) -> None:
    """After a stop the loops run again from the next start on."""
    from nonebot_plugin_cognitive_memory.running_loops import IDLE, RunningLoops

    rounds: list[int] = []

    async def work() -> float:
        rounds.append(1)
        return IDLE

    loops = RunningLoops(core.BackgroundLoop("test", work))
    for times in (1, 2):
        loops.start()
        await until(lambda times=times: len(rounds) == times)
        await loops.stop()


async def test_departures_are_looked_at_after_an_unforeseen_error(
    app: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Places that the bot left are still forgotten in time after a round failed in a way that nobody foresaw."""
    from nonebot_plugin_cognitive_memory.left_places import Leaving, LeftPlaces

    leaving, rounds = Leaving(LeftPlaces(tmp_path / "departed.json")), list[int]()

    async def forget_due() -> int:
        rounds.append(1)
        if len(rounds) == 1:
            raise RuntimeError
        return 0

    monkeypatch.setattr(leaving, "forget_due", forget_due)
    await leaving.start()
    await until(lambda: len(rounds) > 1)
    await leaving.stop()
