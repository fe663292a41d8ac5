"""Tests of the benchmark that lets a memory live through a chat and looks into the contexts of its questions."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from contextlib import AsyncExitStack
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import cognitive_memory_core as core
from benchmarks import answers, answers_sets
from benchmarks.answers_judge import graded
from benchmarks.answers_models import Address
from benchmarks.answers_modes import Life, Trial, life
from benchmarks.answers_pages import write_pages
from benchmarks.answers_shown import WINDOW
from benchmarks.chat_set import Chat, read, windows_of
from benchmarks.labelled import ZONE
from tests.support.model_server import ModelServer
from tests.support.puppet import Question, answering

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
            *(said(30 + at, "g1", TANG, "哈哈哈") for at in range(WINDOW)),
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


def test_windows_close_when_full_or_silent(chat: Chat) -> None:
    """Twenty lines of people, or ten silent minutes, close a window; a silent one is handed over after the silence."""
    scene = core.Scene.group("7", TANG)
    said = [core.Message(f"m{at}", scene, "一句话", NOON + timedelta(minutes=at)) for at in (*range(25), 60)]
    assert [len(window) for window in windows_of(said)] == [20, 5, 1]
    assert [window.at for window in chat.windows()] == [NOON + timedelta(minutes=minute) for minute in (13, 51, 12)]


async def test_rules_read_the_chat_as_it_is_said(chat: Chat) -> None:
    """Without a model a context holds what was said before its question, and nothing of another place."""
    lived = await life(chat, "rules", Trial())
    first, second, third = lived.shown
    assert first.share == 1.0
    assert first.is_at_hand
    assert second.share == 1.0
    assert "花生" not in first.text
    assert not any(one.forbidden for one in (first, second, third))
    assert any("花生过敏" in event.text for event in lived.memories)
    assert lived.calls.total() == 0


async def test_the_scripted_historian_writes_the_gold_facts(chat: Chat) -> None:
    """The gold facts pass through triage, gate and ledger, are found, and their calls are counted."""
    lived = await life(chat, "gold", Trial())
    assert [event.text for event in lived.memories] == [f"阿凯({KAY})对花生过敏"]
    assert lived.memories[0].message_ids == ("m3",)
    assert lived.shown[1].share == 1.0
    assert lived.calls["triage"] == 2
    assert lived.tokens["triage"] > 100
    assert lived.failures.total() == lived.buried == 0


async def test_the_scripted_historian_says_what_a_fact_replaces(tmp_path: Path) -> None:
    """A gold fact that supersedes an earlier one of the same person is stored as its replacement."""
    world: dict[str, Any] = _world()
    later = {**world["messages"][2], "id": "m4", "text": "复查过了 我对花生不过敏了 以后可以点"}
    world["messages"] += [{**later, "time": (NOON + timedelta(minutes=100)).isoformat()}]
    world["facts"][0]["superseded_by"] = "f2"
    newer = {**world["facts"][0], "id": "f2", "statement": f"阿凯({KAY})复查后对花生不过敏了", "evidence": ["m4"]}
    world["facts"] += [{**newer, "superseded_by": None}]
    path = tmp_path / "newer.json"
    path.write_text(json.dumps(world), "utf-8")
    lived = await life(read(path), "gold", Trial())
    old, new = sorted(lived.memories, key=lambda event: event.happened_at)
    assert (old.message_ids, new.message_ids) == (("m3",), ("m4",))
    assert (old.replaces, new.replaces) == ("", old.id)


async def test_imported_facts_and_bare_lines_are_modes(chat: Chat) -> None:
    """Facts may be imported instead of read, and the log is measured alone."""
    imported, log = await life(chat, "imported", Trial()), await life(chat, "log", Trial())
    assert [event.id for event in imported.memories] == ["f1"]
    assert not log.memories
    assert not log.reads
    assert imported.shown[1].share == log.shown[1].share == 1.0


async def test_a_model_at_an_address_reads_the_chat(chat: Chat) -> None:
    """The mode model asks an OpenAI-compatible server, and what that answers becomes memory."""
    async with ModelServer() as server:
        server.chat = answering()
        lived = await life(chat, "model", Trial(address=Address(server.url, "played")))
    assert lived.calls["triage"] == 2
    assert any("花生过敏" in event.text for event in lived.memories)
    assert all(asked.body["model"] == "played" for asked in server.asked)


async def test_a_mode_with_a_model_needs_its_address(chat: Chat) -> None:
    """Without an address the mode model says what is missing."""
    with pytest.raises(SystemExit, match="--model-url"):
        await life(chat, "model", Trial())


def _judging(question: Question) -> object:
    if question.name == "give_answer":
        return {"answer": "花生" if "花生过敏" in question.prompt else "记忆里没有"}
    return {"verdict": "right" if "【标准答案】\n花生" in question.prompt else "wrong", "reason": "对照过"}


async def test_a_judge_answers_from_the_context_and_grades(chat: Chat) -> None:
    """The judge reads context and question, then its answer beside the gold one; a failing call is not judged."""
    lived = await life(chat, "log", Trial())
    async with ModelServer() as server, AsyncExitStack() as stack:
        server.chat = answering(_judging)
        judge = await Address(server.url, "judge").opened(stack)
        judged = await graded(judge, lived.shown)
    assert [one.verdict for one in judged] == ["wrong", "right", "wrong"]
    assert judged[1].answer == "花生"
    asked = [text for one in server.asked for text in one.texts if text.startswith("【记忆】")]
    assert len(asked) == 3
    assert not any("标准答案" in text for text in asked)
    async with AsyncExitStack() as stack:
        gone = await Address(server.url, "judge").opened(stack)
        assert [one.verdict for one in await graded(gone, lived.shown[:1])] == [""]


async def test_contexts_are_written_apart_from_the_answers(chat: Chat, tmp_path: Path) -> None:
    """A reader gets one file with questions and contexts; answers and evidence stand in another."""
    lived = await life(chat, "log", Trial())
    contexts, right, _ = write_pages(tmp_path / "out", lived, [])
    page = contexts.read_text("utf-8")
    assert "周会在哪里开" in page
    assert lived.shown[1].text in page
    assert "single: 花生" not in page
    assert "single: 花生" in right.read_text("utf-8")


def test_the_command_prints_and_writes(data: Path, tmp_path: Path) -> None:
    """The command gives evidence by type, tokens a turn and calls a message for each mode, and writes the pages."""
    parser = ArgumentParser()
    answers.add_arguments(parser)
    report = answers.run(parser.parse_args(["--data", str(data), "--modes", "log", "gold", "--out", str(tmp_path)]))
    rows = {str(row[0]): row[1:] for row in report.rows}
    assert report.columns == ("figure", "n", "log", "gold")
    assert rows["some % single"] == (2, 100.0, 100.0)
    assert rows["some, or in the window %"] == (2, 100.0, 100.0)
    assert rows["forbidden shown"] == (3, 0, 0)
    assert rows["calls a message"][1] == ""
    assert isinstance(rows["calls a message"][2], float)
    assert (tmp_path / "gold-contexts.md").exists()


def test_a_part_of_a_chat_is_taken(chat: Chat) -> None:
    """The beginning of a chat keeps the questions that can be answered from it, and a draw is repeatable."""
    first = answers_sets.begun(chat, 2)
    assert [line.message.id for line in first.lines] == ["m1", "m2"]
    assert [question.text for question in first.questions] == ["周会在哪里开"]
    assert answers_sets.drawn(chat, 2, 5) == answers_sets.drawn(chat, 2, 5)


def test_other_formats_become_chats(tmp_path: Path) -> None:
    """A plain chat has lines only; conversations of two people have questions, and observations as facts."""
    plain, talk = tmp_path / "plain.json", tmp_path / "talk.json"
    entry = {"message_id": "m1", "sender": "u1", "sender_name": "Chen", "content": "大家早", "refer_list": [],
             "create_time": "2025-02-01T02:00:00+00:00"}  # fmt: skip
    plain.write_text(json.dumps({"session_meta": {"name": "项目组"}, "conversation_list": [entry]}), "utf-8")
    assert [line.message.text for line in answers_sets.chat_of(plain).lines] == ["大家早"]
    turn = {"dia_id": "D1:1", "speaker": "Ann", "text": "I adopted a cat"}
    told = {"session_1": [turn], "session_1_date_time": "1:56 pm on 8 May, 2023"}
    asked = [{"question": "Which pet?", "answer": "a cat", "category": 4, "evidence": ["D1:1"]}]
    noted = {"session_1_observation": {"Ann": [["Ann adopted a cat.", "D1:1"]]}}
    talks = [{"sample_id": "one", "conversation": told, "qa": asked, "observation": noted}]
    talk.write_text(json.dumps(talks), "utf-8")
    chat = answers_sets.chat_of(talk)
    assert chat.questions[0].answer == "a cat"
    assert chat.questions[0].evidence == {"one-D1:1"}
    assert chat.facts[0][1]["message_ids"] == ["one-D1:1"]


def test_a_life_counts_what_people_said() -> None:
    """Lines of the bot are no messages that a call is spent on."""
    assert Life("log", Chat((), (), (), ())).said == 0
