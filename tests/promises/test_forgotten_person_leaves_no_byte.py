"""README: an erased person leaves no byte."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from cognitive_memory_core import CognitiveMemory, Message, NotPermitted, Scene, Settings, Turn
from tests.support.ledgers import leave_copy
from tests.support.telling import READING_MILI, a_memory, recalled, tell
from tests.support.waiting import PATIENCE

PERSON = "7318264059"
NAMES = ("雪泥鸿爪客", "Wanderer_Zhi", '阿"芷')
READING = Scene.group("618203471", PERSON, user_name=NAMES[0], group_name="山脚读书会")
GAMES = Scene.group("930417652", PERSON, user_name=NAMES[1], group_name="周末桌游搭子")
PRIVATE = Scene.private(PERSON, user_name=NAMES[2])
CANARIES = [f"暗号{number:02d}号{word}" for number, word in enumerate("甲乙丙丁戊己庚辛壬癸" * 5)]
BEFORE = datetime.now(timezone.utc) - timedelta(hours=1)


def told_of(data: Path) -> list[tuple[str, str]]:
    """Return the files that still hold a word of the person, with the word."""
    words = (PERSON, *NAMES, *CANARIES)
    forms = [(word, form) for word in words for form in {word.encode(), json.dumps(word)[1:-1].encode()}]
    return [(str(path.relative_to(data)), word) for path in _files(data) for word, form in forms if form in _seen(path)]


def _files(data: Path) -> Iterator[Path]:
    yield from sorted(data.rglob("*"))


def _seen(path: Path) -> bytes:
    """Return a file's name and content, or a folder's name; a file removed meanwhile counts as empty."""
    try:
        return path.name.encode() + (b"" if path.is_dir() else path.read_bytes())
    except FileNotFoundError:
        return b""


async def purged(memory: CognitiveMemory) -> None:
    """Wait until the bytes of what was erased are gone."""
    for _ in range(600):
        if (await memory.status()).purge.erased_at is None:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the purge never ended")


def lay_by_hand(data: Path, rest: Iterator[str]) -> None:
    """Add files as left by crashes, older versions and operators."""
    failed = data / "queues" / "failed"
    seed = {"sender_id": int(PERSON), "sender_name": NAMES[0], "group_id": 1, "new_info": [next(rest)]}
    (failed / "0000000000000001-seed1.3.json").write_text(json.dumps(seed), "utf-8")
    told = {"user_id": 42, "group_id": 1, "new_info": [f"{NAMES[0]}({PERSON})来过"], "error": f"{NAMES[1]}：看不懂"}
    (failed / "0000000000000002-seed2.3.json").write_text(json.dumps(told, ensure_ascii=False), "utf-8")
    (failed / "0000000000000003-torn.1.json").write_text(f'{{"user_id": "{PERSON}", "memo": "{next(rest)}', "utf-8")
    (data / "queues" / "pending" / "0000000000000004-half.0.json.tmp").write_text(next(rest), "utf-8")
    older = [
        f"和{NAMES[0]}聊了书",
        {"summary": next(rest), "location": {"type": "private", "name": PERSON}},
        f"{NAMES[2]}来过",
    ]
    (data / "end_summaries.before-1.json").write_text(json.dumps(older), "utf-8")
    (data / "end_summaries.corrupt-1.json").write_text(f'["{NAMES[0]}', "utf-8")
    lay_profiles(data / "profiles", rest)


def lay_profiles(profiles: Path, rest: Iterator[str]) -> None:
    """Add profile files as left by the older mode, by people and by damage, with revisions."""
    theirs = f'---\nentity_id: "{PERSON}"\nname: {NAMES[0]}\nmood: {next(rest)}\n---\n{next(rest)}\n'
    others = (
        f'---\n# {NAMES[1]}\nname: 米粒\ntags: [{NAMES[0]}]\nseen: {{"{PERSON}": ["{NAMES[1]}"]}}\n---\n怕{NAMES[0]}\n'
    )
    for name, text in (
        (f"users/{PERSON}.md", theirs),
        (f"users/{PERSON}.damaged-20260101T000000.000000Z", next(rest)),
        (f"users/{PERSON}.md.tmp", next(rest)),
        (f"history/users/{PERSON}/20260101T000000.000000Z.md", theirs),
        ("users/2680914375.md", others),
        ("users/2680914375.damaged-20260101T000000.000000Z", f"{NAMES[0]}，"),
        ("history/users/2680914375/20260101T000000.000000Z.md", others),
        ("users/3417085926.md", f"坏了：{NAMES[1]}"),
        ("history/users/3417085926/20260101T000000.000000Z.md", "---\nname: 豆沙\n---\n爱吃甜\n"),
    ):
        (profiles / name).parent.mkdir(parents=True, exist_ok=True)
        (profiles / name).write_text(text, "utf-8")


async def live(memory: CognitiveMemory, rest: Iterator[str]) -> None:
    """Let the person speak, and be spoken of, in every way."""
    for number, scene in enumerate((READING, GAMES, PRIVATE)):
        await memory.observe(Message(f"m{number}", scene, next(rest), BEFORE))
        await memory.observe(Message(f"b{number}", scene, f"好的{NAMES[number]}", BEFORE, is_bot=True))
        await tell(memory, scene, f"{NAMES[number]}({PERSON}) 说{next(rest)}", memo=next(rest), happened_at=BEFORE)
        await memory.remember(Turn(scene, memo=next(rest)))
        lines = [f"我喜欢{next(rest)}", f"我住在{next(rest)}"]
        await memory.consider(scene, [Message(f"c{number}{line[1]}", scene, line, BEFORE) for line in lines])
        await memory.observe(Message(f"n{number}", scene, next(rest), BEFORE))
        await memory.pin(scene, next(rest))
    await memory.observe(Message("o1", READING_MILI, f"@{PERSON} {NAMES[0]}几点来？", BEFORE))
    await memory.pin(READING_MILI, f"{NAMES[0]}管水果", for_group=True)
    await tell(
        memory,
        READING_MILI,
        f"米粒(2680914375) 说{NAMES[0]}({PERSON}) 养了鹦鹉",
        memo=f"聊了{NAMES[1]}的鹦鹉",
        happened_at=BEFORE,
    )
    events = await memory.events(READING_MILI)
    await memory.forget_event(READING_MILI, events[-1].id)
    (puzzle, *_) = await tell(memory, READING_MILI, "米粒(2680914375) 喜欢拼图", happened_at=datetime.now(timezone.utc))
    await memory.listings.note_missed(Scene.operator(), READING, f"谁喜欢{next(rest)}", puzzle.id)
    await memory.pause()
    await memory.remember(Turn(READING, observations=(next(rest),), memo=next(rest)))
    lines = [Message("m9", READING, next(rest), BEFORE), f"{NAMES[0]}：{next(rest)}", f"豆沙：{NAMES[0]}呢"]
    await memory.remember(Turn(READING_MILI, observations=(f"{NAMES[0]}没来",), recent_messages=lines))


async def test_a_forgotten_person_leaves_no_byte_and_never_comes_back(tmp_path: Path) -> None:
    """After an erasure no byte of the person's words or names is left, and nothing brings them back."""
    data, export, rest = tmp_path / "data", tmp_path / "old.jsonl", iter(CANARIES)
    async with a_memory(data, Settings()) as memory:
        await live(memory, rest)
        await memory.export(export)
        lay_by_hand(data, rest)
    leave_copy(data / "ledger.db", next(rest))
    used = CANARIES[: CANARIES.index(next(rest))]
    assert len(used) > 30
    assert {word for _, word in told_of(data)} == {PERSON, *NAMES, *used}
    async with a_memory(data, Settings()) as memory:
        await memory.pause()
        with pytest.raises(NotPermitted):
            await memory.forget_user(READING_MILI, PERSON)
        forgotten = await memory.forget_user(READING, PERSON)
        assert min(forgotten.events, forgotten.messages, forgotten.memos, forgotten.pins, forgotten.names) > 2
        assert forgotten.profiles > 0
        assert forgotten.copies == (str(export),)
        await memory.resume()
        await purged(memory)
        assert told_of(data) == []
        await come_back(memory, export)
        assert "鹦鹉" in await recalled(memory, READING_MILI, "谁养了鹦鹉")
        assert await memory.drain(PATIENCE)
        for scene in (READING, PRIVATE):
            assert await memory.get_profile(scene, "user", PERSON) is None
        profile = await memory.get_profile(Scene.operator(), "user", "2680914375")
        assert profile is not None
        assert profile.summary == "怕某位成员"
        profile = await memory.get_profile(Scene.operator(), "user", "3417085926")
        assert profile is not None
        assert profile.summary == "爱吃甜"
    assert told_of(data) == []


async def come_back(memory: CognitiveMemory, export: Path) -> None:
    """Try to bring the person back by a retry, by earlier lines, by an import and by a new index."""
    assert await memory.remember(Turn(READING, memo=CANARIES[0], request_id="r1", happened_at=BEFORE)) is None
    assert await memory.consider(READING, [Message("m1", READING, f"我喜欢{CANARIES[1]}", BEFORE)]) is None
    await memory.observe(Message("m0", READING, CANARIES[2], BEFORE))
    await memory.import_(export)
    await memory.revive()
    await memory.reindex()
    assert await memory.drain(PATIENCE)
    for scene in (READING_MILI, PRIVATE, Scene.operator()):
        for canary in CANARIES:
            found = await memory.search_events(scene, canary, top_k=50)
            assert not [hit for hit in found if canary in hit.event.text]


async def test_a_backup_can_be_opened_as_a_data_directory(tmp_path: Path) -> None:
    """A backup holds stored and queued content, opens as a data directory, and has nothing of erased people."""
    data, copy = tmp_path / "data", tmp_path / "copy"
    async with a_memory(data) as memory:
        await tell(memory, READING, f"{NAMES[0]}({PERSON}) 说{CANARIES[0]}", memo=CANARIES[1])
        await tell(memory, READING_MILI, "米粒(2680914375) 养了鹦鹉", memo="聊了鹦鹉")
        await memory.forget_user(READING, PERSON)
        await memory.pause()
        await memory.remember(Turn(READING_MILI, observations=("米粒(2680914375) 怕狗",)))
        await memory.backup(copy)
        await memory.resume()
    assert told_of(copy) == []
    assert not [path for path in copy.rglob("*") if path.stat().st_mode & 0o077]
    async with a_memory(copy) as memory:
        assert await memory.drain(PATIENCE)
        assert "鹦鹉" in await recalled(memory, READING_MILI, "鹦鹉")
        assert "怕狗" in await recalled(memory, READING_MILI, "怕狗")
        assert [memo.text for memo in await memory.memos(READING_MILI)] == ["聊了鹦鹉"]
