"""Tests of the command on suggestions."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from .stage import Stage, new_id


async def met(tmp_path: Path, group: int, *problems: tuple[str, str]) -> None:
    """Let two members of a group meet each of these problems and solve it."""
    from nonebot_plugin_cognitive_memory import get_memory

    lines: list[dict[str, Any]] = [{"format": "cognitive-memory", "version": 1}]
    for number, (pain, solution) in enumerate(problem for problem in problems for _ in range(2)):
        by, at = str(new_id()), datetime.now(timezone.utc) - timedelta(days=number)
        place = {"request_type": "group", "group_id": str(group), "user_id": by, "sender_id": by}
        said = {"text": f"{pain}，{solution}", "kind": "experience", "happened_at": at.isoformat()}
        detail = {"pain": pain, "solution": solution, "outcome": "好了"}
        lines.append({"type": "event", "id": f"{group}-{number}", **place, **said, "detail": detail})
    file = tmp_path / "experiences.jsonl"
    file.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines), "utf-8")
    assert await get_memory().import_(file) == len(lines) - 1


@pytest.fixture
def admin(stage: Stage) -> int:
    """Return an admin of every group."""
    stage.answers["get_group_member_info"] = {"role": "admin"}
    return new_id()


async def test_an_admin_accepts_and_dismisses(stage: Stage, group: int, admin: int, tmp_path: Path) -> None:
    """An admin sees what was met again and again; what is accepted becomes a belief, what is dismissed is gone."""
    assert "现在没有建议" in await stage.ask("/记忆 建议", admin, group)
    await met(tmp_path, group, ("打印机卡纸", "重启打印机"), ("投影仪没信号", "重插 HDMI 线"))
    for head in ("/记忆 建议", "/memory suggestions"):
        listed = await stage.ask(head, admin, group)
        assert "1. [常见问题]" in listed
        assert "2 个人、2 天里遇到过" in listed
    first = "打印机卡纸" if listed.index("打印机") < listed.index("投影仪") else "投影仪没信号"
    assert "采纳了" in await stage.ask("/记忆 建议 采纳 1", admin, group)
    assert f"遇到“{first}”" in await stage.ask("/记忆 群记忆", admin, group)
    assert "没有这条建议" in await stage.ask("/memory suggestions accept 1", admin, group)
    assert "不再建议" in await stage.ask("/memory suggestions dismiss 2", admin, group)
    assert "现在没有建议" in await stage.ask("/记忆 建议", admin, group)
    assert "没有这个序号" in await stage.ask("/记忆 建议 不要 2", admin, group)


@pytest.mark.parametrize("call", ["建议", "建议 采纳 1", "建议 不要 1"])
async def test_only_admins_see_and_decide(stage: Stage, group: int, call: str) -> None:
    """A member is refused, and in a private chat the answer says that it is for groups."""
    stage.answers["get_group_member_info"] = {"role": "member"}
    assert "只有群主、管理员" in await stage.ask(f"/记忆 {call}", new_id(), group)
    assert "要在群里用" in await stage.ask(f"/记忆 {call}", new_id())
