"""Tests of searching messages with real parts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from cognitive_memory_core import CognitiveMemory, Scene
from tests.support.builders import GROUP, a_message
from tests.support.clock import NOON, FrozenClock
from tests.support.telling import EXACT


def opened(path: Path, **options: Any) -> Any:
    """Open a memory with a fixed clock."""
    return CognitiveMemory.open(EXACT, path, **{"clock": FrozenClock(), **options})


async def said(memory: CognitiveMemory, *texts: str, scene: Scene = GROUP) -> None:
    """Observe messages an hour apart, the last one an hour ago."""
    for at, text in enumerate(texts):
        await memory.observe(a_message(text, scene, NOON - timedelta(hours=len(texts) - at)))


async def found(memory: CognitiveMemory, query: str, scene: Scene = GROUP, **narrowed: Any) -> list[str]:
    """Return the messages that a search of the log finds, best first."""
    hits = await memory.search_events(scene, query, **{"kinds": ("message",), **narrowed})
    assert {hit.event.kind for hit in hits} <= {"message"}
    return [hit.event.text for hit in hits]


async def first(memory: CognitiveMemory, questions: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return the first result of each question."""
    return {question: "".join((await found(memory, question))[:1]) for question, _ in questions}


CHINESE = [
    ("猫", "我家猫昨晚把花瓶打碎了"),
    ("柚", "楼下柚子特价"),
    ("咖啡", "山脚那家咖啡馆周三休息"),
    ("团建", "这个月团建改去划船"),
    ("花瓶", "我家猫昨晚把花瓶打碎了"),
    ("咖啡馆", "山脚那家咖啡馆周三休息"),
    ("打碎了", "我家猫昨晚把花瓶打碎了"),
    ("去划船", "这个月团建改去划船"),
]
MIXED = [
    ("v2.3.1", "昨天把v2.3.1发到测试环境了"),
    ("V2.3.1 什么时候发的", "昨天把v2.3.1发到测试环境了"),
    ("v2.3.10", "v2.3.10还没打包"),
    ("RTX4090", "我买了张RTX4090跑模型"),
    ("rtx 4090", "我买了张RTX4090跑模型"),
    ("谁有4090", "我买了张RTX4090跑模型"),
    ("GPT-4o", "GPT-4o的额度用完了"),
    ("gpt4o", "GPT-4o的额度用完了"),
    ("gpt 4o 额度", "GPT-4o的额度用完了"),
    ("28471095", "新群主的QQ是28471095，大家加一下"),
    ("@28471095", "新群主的QQ是28471095，大家加一下"),
    ("🍵", "下午一起🍵吗"),
    ("用 docker compose 启动", "服务用docker compose启动就行"),
    ("Docker", "服务用docker compose启动就行"),
]
WIDE = [
    ("ＲＴＸ４０９０", "我买了张RTX4090跑模型"),
    ("ｖ２．３．１", "昨天把v2.3.1发到测试环境了"),
    ("rtx5090", "隔壁有ＲＴＸ５０９０"),
    ("ﾃｽﾄ", "明日はテストです"),
]
TWO_SCRIPTS = [
    ("龙猫", "龍貓的電影週末重映"),
    ("周末重映", "龍貓的電影週末重映"),
    ("電影院", "新开的电影院在商场五楼"),
    ("电影院", "新开的电影院在商场五楼"),
    ("颱風", "台风要来了记得收衣服"),
    ("滷肉飯", "中午吃卤肉饭"),
]
ENGLISH = [
    ("meeting notes", "I uploaded the notes of our meetings"),
    ("upload", "I uploaded the notes of our meetings"),
    ("who fixes the crashing tests", "the crashed test was fixed by Betty"),
    ("memories", "out of memory again"),
]


@pytest.mark.parametrize("asked", [CHINESE, MIXED, WIDE, TWO_SCRIPTS, ENGLISH], ids=["zh", "mixed", "wide", "tw", "en"])
async def test_a_line_is_found_however_it_is_written(tmp_path: Path, asked: list[tuple[str, str]]) -> None:
    """Short words, versions, codes, ids, emoji, and other widths, scripts and endings find their message first."""
    async with opened(tmp_path) as memory:
        await said(memory, *dict.fromkeys(line for _, line in (*CHINESE, *MIXED, *WIDE, *TWO_SCRIPTS, *ENGLISH)))
        assert await first(memory, asked) == dict(asked)
