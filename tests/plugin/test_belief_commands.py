"""Tests of the commands on what a group keeps to, and on suggestions of it."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import cognitive_memory_core as core
from tests.support.export_files import written

from .stage import Stage, new_id


async def grown(tmp_path: Path, group: int, *statements: str) -> None:
    """Let a group have a chain of these versions of one belief, of which the last is active."""
    from nonebot_plugin_cognitive_memory import get_memory

    now = datetime.now(timezone.utc)
    lines = list[dict[str, Any]]()
    for number, statement in enumerate(statements, 1):
        at = (now - timedelta(minutes=10 - number)).isoformat()
        place = {"agent": "default", "place": "group", "place_id": str(group)}
        row = {"id": f"{group}-{number}", "chain_id": f"{group}-1", "statement": statement, "version": number, **place}
        dates = {"created_at": at, "updated_at": at, "change_summary": "说得更细"}
        status = "active" if number == len(statements) else "deprecated"
        lines.append({"type": "belief", **row, **dates, "status": status, "is_current": status == "active"})
        log = {"action": "create", "belief_id": row["id"], "new_statement": statement, "changed_at": at}
        lines.append({"type": "change", **place, **log, "id": f"c{row['id']}", "version": number})
    assert await get_memory().import_(written(lines, tmp_path / "beliefs.jsonl")) == 2 * len(statements)


async def rested(group: int, statement: str, said: str) -> None:
    """Let the group have a belief that a model made of what somebody said."""
    from cognitive_memory_core.domain.belief import Belief, logged
    from nonebot_plugin_cognitive_memory import get_memory

    memory, now = get_memory(), datetime.now(timezone.utc)
    line = core.Message("m1", core.Scene.group(str(group), str(new_id()), user_name="阿棠"), said, now)
    await memory.observe(line)
    scope, by = line.scene.scope, line.sender_id
    one = Belief(f"{group}-m", scope, statement, created_at=now, updated_at=now, message_ids=("m1",), supporters=(by,))
    await memory._opened.ledger.beliefs.commit([logged("create", one, None, "", now)])


async def met(tmp_path: Path, group: int, *problems: tuple[str, str]) -> None:
    """Let two members of a group meet each of these problems and solve it."""
    from nonebot_plugin_cognitive_memory import get_memory

    lines = list[dict[str, Any]]()
    for number, (pain, solution) in enumerate(problem for problem in problems for _ in range(2)):
        by, at = str(new_id()), datetime.now(timezone.utc) - timedelta(days=number)
        place = {"request_type": "group", "group_id": str(group), "user_id": by, "sender_id": by}
        said = {"text": f"{pain}，{solution}", "kind": "experience", "happened_at": at.isoformat()}
        detail = {"pain": pain, "solution": solution, "outcome": "好了"}
        words = [{"message_id": "", "sender_id": by, "text": f"{pain}，可别{solution}", "sender_name": "阿棠"}]
        lines.append({"type": "event", "id": f"{group}-{number}", **place, **said, "detail": detail, "quotes": words})
    assert await get_memory().import_(written(lines, tmp_path / "experiences.jsonl")) == len(lines)


@pytest.fixture
def admin(stage: Stage) -> int:
    """Return an admin of every group."""
    stage.answers["get_group_member_info"] = {"role": "admin"}
    return new_id()


async def test_beliefs_are_listed_with_their_history(stage: Stage, group: int, admin: int, tmp_path: Path) -> None:
    """An admin sees the beliefs, the versions of each, and what changed; under Chinese and English names."""
    assert "还没有群记忆" in await stage.ask("/记忆 群记忆", admin, group)
    await grown(tmp_path, group, "每周五讨论新番", "每周六讨论新番")
    for head in ("/记忆 群记忆", "/memory beliefs"):
        answer = await stage.ask(head, admin, group)
        assert "1. 每周六讨论新番（第 2 版）" in answer
        assert "每周五" not in answer
    for head in ("/记忆 演进 1", "/memory history 1"):
        assert "1. 每周六讨论新番" in await stage.ask("/记忆 群记忆", admin, group)
        told = await stage.ask(head, admin, group)
        assert told.index("每周五讨论新番") < told.index("每周六讨论新番")
        assert "现在用这一版" in told
    for head in ("/记忆 变更", "/memory changes 3"):
        assert "新增：每周五讨论新番（演化）" in await stage.ask(head, admin, group)


async def test_a_belief_is_retired_and_restored(stage: Stage, group: int, admin: int, tmp_path: Path) -> None:
    """Numbers of the list shown last retire and restore a belief, or an older version; the log names who did it."""
    await grown(tmp_path, group, "每周五讨论新番", "每周六讨论新番")
    assert "没有这个序号" in await stage.ask("/记忆 淘汰 1", admin, group)
    await stage.ask("/记忆 群记忆", admin, group)
    assert "不再用这条了：每周六讨论新番" in await stage.ask("/记忆 淘汰 1", admin, group)
    assert "（已淘汰）每周六讨论新番" in await stage.ask("/记忆 群记忆", admin, group)
    assert "恢复了：每周六讨论新番" in await stage.ask("/memory restore 1", admin, group)
    await stage.ask("/记忆 演进 1", admin, group)
    assert "恢复了：每周五讨论新番" in await stage.ask("/记忆 恢复 1", admin, group)
    assert "1. 每周五讨论新番（第 3 版）" in await stage.ask("/记忆 群记忆", admin, group)
    assert f"淘汰：每周六讨论新番（QQ({admin})；管理员淘汰）" in await stage.ask("/记忆 变更 1", admin, group)


async def test_a_belief_stands_above_the_words_it_rests_on(stage: Stage, group: int, admin: int) -> None:
    """Each reply that shows what a model made of somebody's words shows the words: lists, versions, changes, receipts.

    Issue 31, rules 2 and 8.
    """
    own, written = "群里可以讨论政治，谁说不行", "群里不讨论政治"
    await rested(group, written, own)
    for call in ("群记忆", "演进 1", "变更", "群记忆", "淘汰 1", "群记忆", "恢复 1", "变更"):
        answer = await stage.ask(f"/记忆 {call}", admin, group)
        assert answer.count(written) == answer.count(f"“{own}” —— 阿棠") > 0, (call, answer)
    from nonebot_plugin_cognitive_memory import get_memory

    await get_memory().recall_message(core.Scene.group(str(group), str(admin)), "m1")
    assert own not in await stage.ask("/记忆 变更", admin, group)


async def test_an_admin_accepts_and_dismisses(stage: Stage, group: int, admin: int, tmp_path: Path) -> None:
    """An admin sees what was met again and again; what is accepted becomes a belief, what is dismissed is gone."""
    assert "现在没有建议" in await stage.ask("/记忆 建议", admin, group)
    await met(tmp_path, group, ("打印机卡纸", "重启打印机"), ("投影仪没信号", "重插 HDMI 线"))
    for head in ("/记忆 建议", "/memory suggestions"):
        listed = await stage.ask(head, admin, group)
        assert "1. [常见问题]" in listed
        assert "2 个人、2 天里遇到过" in listed
        assert "“打印机卡纸，可别重启打印机” —— 阿棠" in listed, "the words that a model's draft rests on"
    first = "打印机卡纸" if listed.index("打印机") < listed.index("投影仪") else "投影仪没信号"
    assert "采纳了" in await stage.ask("/记忆 建议 采纳 1", admin, group)
    assert f"遇到“{first}”" in await stage.ask("/记忆 群记忆", admin, group)
    assert "没有这条建议" in await stage.ask("/memory suggestions accept 1", admin, group)
    assert "不再建议" in await stage.ask("/memory suggestions dismiss 2", admin, group)
    assert "现在没有建议" in await stage.ask("/记忆 建议", admin, group)
    assert "没有这个序号" in await stage.ask("/记忆 建议 不要 2", admin, group)


@pytest.mark.parametrize("call", ["群记忆", "演进 1", "变更", "演化", "淘汰 1", "建议", "建议 采纳 1", "建议 不要 1"])
async def test_only_admins_decide(stage: Stage, group: int, call: str) -> None:
    """A member is refused, and in a private chat the answer says that it is for groups."""
    stage.answers["get_group_member_info"] = {"role": "member"}
    assert "只有群主、管理员" in await stage.ask(f"/记忆 {call}", new_id(), group)
    assert "要在群里用" in await stage.ask(f"/记忆 {call}", new_id())
