"""Tests of places that the bot left, and of people who left a group."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import cognitive_memory_core as core

from .stage import BOT, Stage, new_id, notice, said, told, twelve
from .test_commands import standing

NOON = datetime(2026, 3, 4, 12, tzinfo=timezone.utc)


class Calendar:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        """Start at noon."""
        self.days = 0.0

    def now(self) -> datetime:
        """Return the current instant."""
        return NOON + timedelta(days=self.days)


@pytest.fixture
def calendar(app: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Calendar:
    """Let the bot keep a new record of departures, by a calendar that is moved by hand."""
    from nonebot_plugin_cognitive_memory import erasure, left_places

    calendar = Calendar()
    record = left_places.LeftPlaces(tmp_path / "departed.json", calendar.now)
    monkeypatch.setattr(left_places, "leaving", record)
    monkeypatch.setattr(erasure, "_forgetting", [*erasure._forgetting, record.forget])
    return calendar


def set_days(monkeypatch: pytest.MonkeyPatch, days: int) -> None:
    """Set after how many days a left place is forgotten."""
    from nonebot_plugin_cognitive_memory import config

    settings = core.Settings.from_mapping({"capture": {"forget_left_days": days}})
    monkeypatch.setattr(config.setup, "settings", settings)


async def looked() -> int:
    """Let the bot look for places whose time is over; return how many it forgot."""
    from nonebot_plugin_cognitive_memory import left_places

    assert left_places.leaving is not None
    before = len(left_places.leaving.file.value)
    await left_places.leaving.forget_due()
    return before - len(left_places.leaving.file.value)


def leaving(group: int, user: int = BOT, why: str = "kick_me") -> Any:
    """Return the notice that somebody left a group."""
    return notice("group_decrease", sub_type=why, user_id=user, operator_id=1000009, group_id=group)


@pytest.mark.parametrize(
    ("user", "why", "is_left"),
    [(BOT, "kick_me", True), (BOT, "leave", True), (0, "disband", True), (2000001, "leave", False)],
)
async def test_a_group_that_the_bot_left_is_kept_with_a_hint(
    stage: Stage, group: int, calendar: Calendar, log: list[str], user: int, why: str, is_left: bool
) -> None:
    """Removed, gone or dissolved: the log names the group and the setting once; a member's leave says nothing."""
    here = core.Scene.group(str(group), str(new_id()))
    await told(here, "小北喜欢夜跑")
    await stage.bot.handle_event(leaving(group, user, why))
    hints = [line for line in log if "机器人已不在" in line]
    assert len(hints) == is_left
    assert all(f"群 {group}" in line and "FORGET_LEFT_DAYS" in line for line in hints)
    calendar.days = 9999
    assert await looked() == 0
    assert len(await standing(here)) == 1


async def test_a_person_who_left_keeps_what_is_theirs(stage: Stage, group: int, calendar: Calendar) -> None:
    """What a member said stays with the group, and with them in private, when they leave, until they are forgotten."""
    user = new_id()
    here, private = core.Scene.group(str(group), str(user)), core.Scene.private(str(user))
    await said(here, "我喜欢夜跑")
    await stage.bot.handle_event(leaving(group, user, "leave"))
    assert await standing(here) == await standing(private) == [f"QQ({user})：“我喜欢夜跑”"]
    assert "夜跑" in await stage.ask("/记忆 列表", user)
    for _ in range(2):
        await stage.ask("/记忆 忘记我", user)
    assert await standing(here) == await standing(private) == []


async def test_a_left_group_is_forgotten_after_the_days_that_were_set(
    stage: Stage, group: int, calendar: Calendar, monkeypatch: pytest.MonkeyPatch, log: list[str]
) -> None:
    """With ``forget_left_days`` a left group is forgotten when they are over, not earlier; others stay."""
    set_days(monkeypatch, 30)
    here = core.Scene.group(str(group), str(new_id()))
    there = core.Scene.group(str(group + 500_000), str(new_id()))
    await told(here, "小北喜欢夜跑")
    await told(there, "小北喜欢晨跑")
    await stage.bot.handle_event(leaving(group))
    calendar.days = 29.9
    assert await looked() == 0
    calendar.days = 30
    assert await looked() == 1
    assert await standing(here) == []
    assert len(await standing(there)) == 1
    assert await looked() == 0
    assert any(f"离开群 {group}满 30 天" in line for line in log)


async def test_a_lost_friend_counts_where_the_platform_reports_it(
    twelve_stage: Stage, calendar: Calendar, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """OneBot v12 reports that a friendship ended; the private chat is forgotten in time, and its id with it."""
    set_days(monkeypatch, 7)
    friend = core.Scene.private(f"u{new_id()}")
    await told(friend, "小北喜欢夜跑")
    await twelve_stage.bot.handle_event(twelve("notice", "friend_decrease", user_id=friend.user_id))
    assert friend.user_id in (tmp_path / "departed.json").read_text("utf-8")
    calendar.days = 8
    assert await looked() == 1
    assert await standing(friend) == []
    assert friend.user_id not in (tmp_path / "departed.json").read_text("utf-8")


async def test_departures_survive_a_restart_and_a_damaged_file(app: object, tmp_path: Path) -> None:
    """The next process knows what was left and since when; a file that cannot be read counts as empty."""
    from nonebot_plugin_cognitive_memory.left_places import LeftPlaces

    calendar, path = Calendar(), tmp_path / "departed.json"
    scene = core.Scene.group("10001", str(BOT))
    await LeftPlaces(path, calendar.now).leave(scene)
    calendar.days = 5
    born = LeftPlaces(path, calendar.now)
    assert [found.scope for found in await born.due(5)] == [scene.scope]
    assert await born.due(6) == await born.due(0) == []
    for damage in ("{", "[[1]]", '[["a", "10001", "", "2026-01-01"]]', '[["a", "b", "c", "d"]]'):
        path.write_text(damage, "utf-8")
        assert await LeftPlaces(path, calendar.now).due(1) == []
