"""Tests of the benchmark that lets a memory live through a chat and looks into the contexts of its questions."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from benchmarks import answers
from benchmarks.answers import life
from benchmarks.chat_set import Chat, read
from benchmarks.labelled import ZONE

NOON = datetime(2026, 3, 1, 12, tzinfo=ZONE)
BOT, TANG, KAY = "900900", "101101", "102102"


def _world() -> dict[str, object]:
    def said(number: int, place: str, user: str, text: str) -> dict[str, object]:
        time = (NOON + timedelta(minutes=number)).isoformat()
        return {"id": f"m{number}", "place": place, "user_id": user, "name": {TANG: "唐唐", KAY: "阿凯"}[user],
                "time": time, "text": text, "reply_to": None}  # fmt: skip

    def asked(minute: int, text: str, answer: str, evidence: list[str], forbidden: list[str]) -> dict[str, object]:
        time = (NOON + timedelta(minutes=minute)).isoformat()
        return {"asker": TANG, "place": "g1", "time": time, "question": text, "type": "single", "evidence": evidence,
                "forbidden": forbidden, "answer": answer}  # fmt: skip

    return {
        "bot": {"user_id": BOT, "name": "灯芯"},
        "places": [
            {"id": "g1", "kind": "group", "group_id": "717171", "name": "读书会"},
            {"id": "p1", "kind": "private", "user_id": TANG},
        ],
        "messages": [
            said(1, "g1", TANG, "周会以后改到每周五晚上八点，地点定在三楼会议室"),
            said(2, "p1", TANG, "会议室的备用钥匙放在我抽屉里"),
            said(3, "g1", KAY, "我对花生过敏，聚餐别点花生"),
            *(said(30 + at, "g1", TANG, "哈哈哈") for at in range(12)),
        ],
        "facts": [
            {"id": "f1", "subject": KAY, "speaker": KAY, "place": "g1", "kind": "preference",
             "statement": f"阿凯({KAY})对花生过敏", "evidence": ["m3"]},
        ],
        "questions": [
            asked(2, "周会在哪里开", "三楼会议室", ["m1"], ["m2"]),
            asked(120, "阿凯对什么过敏", "花生", ["m3"], ["m2"]),
            asked(121, "备用钥匙在哪里", "", [], ["m2"]),
        ],
    }  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return the file of a small set: a group, a private chat, a fact, three questions."""
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(_world()), "utf-8")
    return path


@pytest.fixture
def chat(data: Path) -> Chat:
    """Return that set."""
    return read(data)


async def test_rules_read_the_chat_as_it_is_said(chat: Chat) -> None:
    """Without a model a context holds what was said before its question, and nothing of another place."""
    lived = await life(chat, "rules")
    while any(one.degraded for one in lived.shown):  # a busy machine was late with a context, which then lacks parts
        lived = await life(chat, "rules")
    first, second, third = lived.shown
    assert first.share == 1.0
    assert second.share == 1.0
    assert "花生" not in first.text
    assert not any(one.forbidden for one in (first, second, third))
    assert any("花生过敏" in event.text for event in lived.memories)
    assert lived.calls.total() == 0


def test_the_scripted_historian_writes_the_gold_facts(data: Path) -> None:
    """The gold facts pass through triage, gate and ledger, are found and counted, and the command prints them."""
    parser = ArgumentParser()
    answers.add_arguments(parser)
    report = answers.run(parser.parse_args(["--data", str(data), "--modes", "log", "gold"]))
    rows = {str(row[0]): row[1:] for row in report.rows}
    assert report.columns == ("figure", "n", "log", "gold")
    assert rows["some % single"] == (2, 100.0, 100.0)
    assert rows["forbidden shown"] == (3, 0, 0)
    assert rows["events stored"][1:] == ("", 1)
    assert rows["calls a message"][1] == ""
    assert rows["tokens of calls a message"][2] > 10
    assert rows["jobs that failed for good"][2] == 0
