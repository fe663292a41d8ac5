"""Memory for tests of the HTTP interface: the things that the examples of its document name, for any agent."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import cognitive_memory_core as core

from .export_files import written

GROUP_ID, PERSON = "10001", "2000001"
OLD_BELIEF, BELIEF = "b1f0c3d4e5a60718293a4b5c6d7e8f01", "b1f0c3d4e5a60718293a4b5c6d7e8f02"
EVENT, PIN, REVISION = "e5a60718293a4b5c6d7e8f0000000001", "5a60718293a4b5c6", "20260305T103000.123456Z"
FRIDAY = "每周五晚上讨论新番"


def exported_lines(
    agent: str = "default", suffix: str = "", canary: str = "", group_id: str = GROUP_ID, person: str = PERSON
) -> Iterator[dict[str, Any]]:
    """Yield the lines of an export: what the examples name, with a suffix to each id and a canary in each text."""
    now = datetime.now(timezone.utc) - timedelta(hours=2)
    place = {"agent": agent, "place": "group", "place_id": group_id}
    yield {
        "type": "event",
        "id": EVENT + suffix,
        "agent": agent,
        "text": f"阿棠({person}) 喜欢乌龙茶{canary}",
        "kind": "preference",
        "request_type": "group",
        "group_id": group_id,
        "user_id": person,
        "sender_id": person,
        "subjects": [person],
        "happened_at": now.isoformat(),
        "is_absolute": True,
    }
    chain = {"chain_id": OLD_BELIEF + suffix, "created_at": now.isoformat(), "updated_at": now.isoformat()}
    for number, (belief, statement) in enumerate(
        ((OLD_BELIEF, FRIDAY + canary), (BELIEF, f"{FRIDAY}，偏好科幻题材{canary}")), 1
    ):
        state = {"status": "active" if number > 1 else "deprecated", "is_current": number > 1}
        parent = OLD_BELIEF + suffix if number > 1 else None
        row = {"id": belief + suffix, "statement": statement, "version": number, "parent_id": parent}
        yield {"type": "belief", **place, **row, **chain, **state}
        log = {"belief_id": belief + suffix, "new_statement": statement, "changed_at": now.isoformat()}
        action = "update" if number > 1 else "create"
        yield {"type": "change", **place, **log, "id": f"c{number}{suffix}", "version": number, "action": action}
    pin = {"owner_id": "", "pinned_at": now.isoformat()}
    yield {"type": "pin", **place, **pin, "id": PIN + suffix, "text": f"周五聚餐{canary}"}
    profile = {"entity_type": "member", "agent": agent, "group_id": group_id, "user_id": person, "name": "阿棠"}
    text = {"tags": ["乌龙茶"], "summary": f"- 喜欢乌龙茶{canary}", "updated_at": now.isoformat()}
    yield {"type": "profile", **profile, **text}
    yield {"type": "revision", **profile, **text, "summary": f"- 喜欢茶{canary}", "id": REVISION}


async def plant(memory: core.CognitiveMemory, folder: Path, **fields: Any) -> None:
    """Import the lines into a memory."""
    lines = list(exported_lines(**fields))
    file = written(lines, folder / "planted.jsonl")
    assert await memory.import_(file) == len(lines)
    file.unlink()


async def failed_job(memory: core.CognitiveMemory, agent: str = "default") -> str:
    """Let a job of an agent fail for good; return its id."""
    scene = core.Scene.group(GROUP_ID, PERSON, agent=agent)
    job_id = await memory.remember(core.Turn(scene, observations=("第一件事",)))
    queue = memory._opened.queue
    claim = await queue.claim()
    assert claim
    await queue.bury(claim, "模型服务不接受密钥或余额不足（HTTP 401），请检查 API_KEY")
    assert job_id
    return job_id
