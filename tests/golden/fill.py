"""Fill a data directory through the public names of whichever version of the core is imported.

It is run with an older checkout in front of ``sys.path``, so it uses only what the oldest version has, and asks for the
rest. Run by ``python -m tests.golden``; see there.
"""

from __future__ import annotations

import asyncio
import json
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import cognitive_memory_core as core

ZONE = timezone(timedelta(hours=8))
NOON = datetime(2026, 3, 4, 12, 0, tzinfo=ZONE)
GROUP = core.Scene.group("10001", "2000001", user_name="阿棠", group_name="读书会")
OTHER = core.Scene.group("10001", "2000002", user_name="小北", group_name="读书会")
AWAY = core.Scene.group("10001", "2000009", user_name="老周", group_name="读书会")
PRIVATE = core.Scene.private("2000001", user_name="阿棠")
QUIET = core.Scene.group("10002", "2000001", user_name="阿棠", group_name="桌游局")
CLUB = core.Scene.group("10003", "2000001", user_name="豆沙", group_name="开发组")
RULES = (
    ("2000001", "豆沙", "以后每周五晚上讨论新番吧"),
    ("2000002", "小林", "好，每周五晚上讨论新番"),
    ("2000003", "阿墨", "同意"),
    ("2000003", "阿墨", "群里不要讨论政治"),
    ("2000001", "豆沙", "对，不讨论政治"),
)
LINES = (
    (GROUP, "我对花生过敏，点菜的时候帮我看着点"),
    (OTHER, "我下个月搬到杭州，书先放在阿棠家"),
    (GROUP, "读书会改到每周六下午三点"),
    (PRIVATE, "我喜欢喝乌龙茶，不加糖"),
)


class Clock:
    """A clock that stands."""

    def now(self) -> datetime:
        """Return noon."""
        return NOON

    def elapsed(self) -> float:
        """Return no time."""
        return 0.0


def settings() -> core.Settings:
    """Return settings under which profiles do not wait."""
    chosen: dict[str, Any] = {"profile": {"merge_delay_seconds": 0, "merge_min_facts": 1}}
    if "--exact" in sys.argv:
        chosen["vector_store"] = {"backend": "exact"}
    return core.Settings.model_validate(chosen)


async def said(memory: Any) -> None:
    """Log the lines, and consider them as dialogues of their places."""
    lines = [
        core.Message(f"m{number}", scene, text, NOON + timedelta(seconds=number))
        for number, (scene, text) in enumerate(LINES)
    ]
    for line in lines:
        await _done(memory.observe(line))
    await asyncio.sleep(0.6)
    await memory.consider(GROUP, lines[:3])
    await memory.consider(PRIVATE, lines[3:])


async def _done(answer: Any) -> None:
    if answer is not None:
        await answer


async def told(memory: Any) -> None:
    """Hand in turns, pins, switches and an opt-out; then forget an event, and correct and hide where that exists."""
    for number, scene in enumerate((GROUP, OTHER, PRIVATE)):
        turn = core.Turn(
            scene,
            memo=f"第 {number} 轮：聊了读书会",
            observations=[f"{scene.user_name}({scene.user_id}) 想读《第{number}本书》", "读书会有三个人"],
            source_message="那就这样定了",
            request_id=f"r{number}",
            happened_at=NOON,
        )
        await memory.remember(turn)
    await memory.drain(30)
    await memory.pin(GROUP, "群主在广州", for_group=True)
    await memory.pin(PRIVATE, "别在早上发消息")
    await memory.opt_out(AWAY.user_id)
    await memory.set_switch(QUIET, "record_only")
    await memory.forget_event(core.Scene.operator(), (await memory.events(core.Scene.operator(), limit=50))[-1].id)
    if hasattr(memory, "set_sharing"):
        await memory.set_sharing("2000002", True)
    if hasattr(memory, "incognito"):
        await memory.incognito(OTHER, 30)
    if hasattr(memory, "correct_event"):
        await memory.correct_event(
            core.Scene.operator(), (await memory.events(core.Scene.operator(), limit=50))[0].id, "读书会有四个人"
        )


async def left(memory: Any) -> None:
    """Leave jobs that nobody does: they are what an upgrade finds in pending/."""
    for number in range(3):
        lent = [f"阿棠(2000001) 借了第 {number} 本书"]
        await memory.remember(core.Turn(GROUP, memo=f"待办 {number}", observations=lent, happened_at=NOON))
    await memory.consider(OTHER, [core.Message("m9", OTHER, "我把钥匙留在前台了", NOON)])


class Grower:
    """A model that makes two beliefs of a group, and refuses everything else."""

    async def ask(self, ask: Any) -> Any:
        """Answer in JSON Lines, with the lines of the group that support each belief."""
        if ask.name != "record_changes" and "evol" not in f"{ask.name} {ask.purpose}":
            raise core.UnavailableError("only asked to evolve")
        rows = (("每周五晚上讨论新番", (1, 2, 3)), ("群里不讨论政治", (4, 5)))
        made = ({"action": "create", "statement": said, "change_reason": "都说了", "lines": n} for said, n in rows)
        return ask.parse("\n".join(json.dumps(row, ensure_ascii=False) for row in made))


async def grown(data_dir: Path) -> None:
    """Let a group evolve, change its beliefs by hand, and tell of a problem met twice, which becomes a belief too."""
    chosen = settings().model_dump() | {"models": {"evolution": {"model_name": "m", "api_url": "http://127.0.0.1:9"}}}
    open_settings = core.Settings.model_validate(chosen)
    async with core.CognitiveMemory.open(open_settings, data_dir, clock=Clock(), chat=Grower()) as memory:
        for number, (user_id, name, text) in enumerate(RULES):
            scene = core.Scene.group(CLUB.group_id, user_id, user_name=name, group_name="开发组", is_admin=True)
            await memory.observe(core.Message(f"g{number}", scene, text, NOON - timedelta(minutes=9 - number)))
        await asyncio.sleep(0.6)
        evolution = await memory.evolve(CLUB)
        assert evolution.created == 2, evolution
        friday, politics = (await memory.beliefs(CLUB)).beliefs
        await memory.set_belief_strength(CLUB, friday.id, 0.9)
        await memory.retire_belief(CLUB, politics.id, "不用再说了")
        told = data_dir.with_name("experiences.jsonl")
        head = {"format": "cognitive-memory", "version": 1}
        told.write_text("\n".join(json.dumps(row) for row in (head, *map(experience, range(4)))), "utf-8")
        assert await memory.import_(told) == 4
        await memory.drain(30)
        first, *others = await memory.suggestions(CLUB)
        await memory.decide_suggestion(CLUB, first.id, accept=True)
        for other in others:
            await memory.decide_suggestion(CLUB, other.id, accept=False)


def experience(number: int) -> dict[str, object]:
    """Return what somebody told of the same problem, on another day."""
    person = f"200000{1 + number % 2}"
    return {
        "type": "event",
        "id": f"experience{number}",
        "text": f"({person}) 第 {number + 1} 次遇到依赖装不上，换了镜像源，好了",
        "kind": "experience",
        "request_type": "group",
        "group_id": CLUB.group_id,
        "user_id": person,
        "sender_id": person,
        "happened_at": (NOON - timedelta(days=number)).isoformat(),
        "detail": {"pain": "依赖装不上", "solution": "换了镜像源", "outcome": "好了"},
    }


def bury(data_dir: Path) -> None:
    """Move the first job into failed/, as this version buries: the file with its error."""
    pending, failed = data_dir / "queues" / "pending", data_dir / "queues" / "failed"
    first = min(pending.iterdir())
    body = json.loads(first.read_text("utf-8"))
    failed.mkdir(exist_ok=True)
    text = json.dumps({**body, "error": "坏了", "failed_at": NOON.isoformat()}, ensure_ascii=False)
    (failed / first.name).write_text(text, "utf-8")
    first.unlink()


async def main(data_dir: Path) -> None:
    """Fill the directory in two lives: one that works, one that leaves its jobs."""
    async with core.CognitiveMemory.open(settings(), data_dir, clock=Clock()) as memory:
        await said(memory)
        await told(memory)
        await memory.drain(30)
        if "--exact" not in sys.argv and hasattr(memory, "reindex"):
            await memory.reindex()
    if "--grown" in sys.argv:
        await grown(data_dir)
    async with core.CognitiveMemory.open(settings(), data_dir, background=False, clock=Clock()) as memory:
        await left(memory)
    bury(data_dir)
    (data_dir / "overrides.json").write_text('{"query.auto_top_k": 5}\n', "utf-8")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
