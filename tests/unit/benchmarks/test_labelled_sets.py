"""Tests of how the benchmarks load labelled data and compute their figures."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

import cognitive_memory_core as core
from benchmarks import groupchat
from benchmarks.labelled import ZONE

NOON = datetime(2026, 3, 1, 12, tzinfo=ZONE)
BOT, TANG, KAY = "900", "101", "102"


def _world() -> dict[str, object]:
    def said(number: int, place: str, user: str, text: str) -> dict[str, object]:
        time = NOON.replace(minute=number).isoformat()
        return {"id": f"m{number}", "place": place, "user_id": user, "name": user, "time": time, "text": text,
                "reply_to": None}  # fmt: skip

    def asked(minute: int, text: str, evidence: list[str], forbidden: list[str]) -> dict[str, object]:
        time = NOON.replace(minute=minute).isoformat()
        return {"asker": TANG, "place": "g1", "time": time, "question": text, "type": "single", "evidence": evidence,
                "forbidden": forbidden}  # fmt: skip

    return {
        "bot": {"user_id": BOT, "name": "灯芯"},
        "places": [
            {"id": "g1", "kind": "group", "group_id": "71", "name": "读书会"},
            {"id": "p1", "kind": "private", "user_id": TANG},
        ],
        "messages": [
            said(1, "g1", TANG, "周五的会议室在三楼"),
            said(2, "p1", TANG, "会议室的钥匙丢了"),
            said(3, "g1", KAY, "我养了一只鹦鹉"),
            said(5, "g1", KAY, "@灯芯 我说过的 关于我的 都忘掉吧"),
            said(7, "g1", TANG, "会议室改到五楼了"),
        ],
        "facts": [{"id": "f1", "subject": "g1", "speaker": TANG, "place": "g1", "kind": "norm",
                   "statement": "读书会的会议室改到五楼", "evidence": ["m7"]}],
        "questions": [
            asked(8, "会议室在几楼", ["m7"], ["m2"]),
            asked(4, "谁养了鹦鹉", ["m3"], []),
            asked(4, "会议室在几楼", ["m1"], ["m2", "m7"]),
            asked(6, "谁养了鹦鹉", [], ["m3"]),
        ],
    }  # fmt: skip


@pytest.fixture
def chat(tmp_path: Path) -> groupchat.Chat:
    """Return a small data set: a group, a private chat, a fact, and somebody who asks to be forgotten."""
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(_world()), "utf-8")
    return groupchat.read(path)


async def test_questions_are_asked_at_their_time(chat: groupchat.Chat) -> None:
    """A question finds earlier messages of its scope, and nothing of a person who asked to be forgotten."""
    answers = await groupchat.answered(chat)
    found = {(asked.text, asked.at.minute): given.found for asked, given in zip(chat.questions, answers, strict=True)}
    assert "m3" in found["谁养了鹦鹉", 4]
    assert "m1" in found["会议室在几楼", 4]
    assert "m7" not in found["会议室在几楼", 4]
    assert "m3" not in found["谁养了鹦鹉", 6]
    assert "m7" in found["会议室在几楼", 8]
    assert all("m2" not in ids for ids in found.values())


async def test_facts_are_known_from_their_last_evidence_on(chat: groupchat.Chat) -> None:
    """A fact is found only after the last message that supports it."""
    answers = await groupchat.answered(chat, kinds=groupchat.EVENTS, with_facts=True)
    found = {asked.at.minute: given.found for asked, given in zip(chat.questions, answers, strict=True)}
    assert found[8] == {"m7"}
    assert found[4] == frozenset()


def test_baselines_read_what_the_asker_may(chat: groupchat.Chat) -> None:
    """A private question reads that chat and the asker's own messages in groups; a group question only that group."""
    in_group = chat.questions[-1]
    in_private = replace(in_group, place="p1", scene=core.Scene.private(TANG))
    assert {line.message.id for line in chat.readable(in_group)} == {"m1", "m3", "m5", "m7"}
    assert {line.message.id for line in chat.readable(in_private)} == {"m1", "m2", "m7"}
