"""Tests that the examples run as published."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.model_server import Asked, Behaviour, ModelServer, Reply, message, status
from tests.support.network_guard import python_path
from tests.support.onebot import AHE, GROUP, MILI, OTHER_GROUP, ROOT, open_bot
from tests.support.waiting import until

EXAMPLES = ROOT / "examples"
COMPANION = (EXAMPLES / "companion_chat" / "plugins" / "companion.py").read_text("utf-8")
JUST_CONTEXT = (EXAMPLES / "just_context" / "just_context.py").read_text("utf-8")
SOON = "COGNITIVE_MEMORY__CAPTURE__CONSIDER_IDLE_MINUTES=0.01"
ENV = re.compile(r"```dotenv\n(.*?)```", re.DOTALL)


def calling(*calls: tuple[str, object], says: str | None = None) -> Behaviour:
    """Answer with calls of tools, beside words or without."""
    made = [
        {
            "id": f"c{number}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": given if isinstance(given, str) else json.dumps(given, ensure_ascii=False),
            },
        }
        for number, (name, given) in enumerate(calls)
    ]
    return message({"content": says, "tool_calls": made})


def set_up(server: ModelServer) -> list[str]:
    """Return the lines of .env that README of the companion asks for, with the address of a server."""
    shown = (EXAMPLES / "companion_chat" / ".env.example").read_text("utf-8")
    return [line for line in shown.splitlines() if not line.startswith("PORT=")] + [f"COMPANION__API_URL={server.url}"]


def system_of(asked: Asked) -> str:
    """Return the system prompt of a request."""
    return str(asked.body["messages"][0]["content"])


def told_by_tools(asked: Asked) -> list[dict[str, Any]]:
    """Return the answers of the tools in a request."""
    return [json.loads(one["content"]) for one in asked.body["messages"] if one["role"] == "tool"]


async def test_the_companion_remembers_and_looks_up(tmp_path: Path) -> None:
    """The model's call of ``end`` becomes memory: in the next prompt, found by the tool, and in no other group."""
    fact = f"米粒({MILI}) 的猫叫年糕，只吃罐头"
    async with ModelServer() as server:
        server.chat = calling(("end", {"memo": "记下了年糕的口味", "observations": [fact]}), says="好，记住啦。")
        async with open_bot(tmp_path, {"companion": COMPANION}, set_up(server)) as (_, client):
            who = {"group": GROUP, "user": MILI, "name": "米粒"}
            assert await client.ask("我家的猫叫年糕，只吃罐头", **who) == "好，记住啦。"
            first = server.asked[0].body
            assert {"end", "search_events", "memory_add"} <= {one["function"]["name"] for one in first["tools"]}
            assert first["model"] == "some-model"
            await client.ask_until("/记忆 列表", "只吃罐头", **{**who, "user": AHE, "name": "阿禾"})

            server.chat = _once(calling(("search_events", {"query": "年糕吃什么"})), message({"content": "罐头。"}))
            asked = len(server.asked)
            assert await client.ask("年糕吃什么来着？", group=GROUP) == "罐头。"
            question, looked_up = server.asked[asked:]
            assert fact in system_of(question)
            assert [one["content"] for one in question.body["messages"][1:]] == [
                f"米粒({MILI})：我家的猫叫年糕，只吃罐头",
                "好，记住啦。",
                f"阿禾({AHE})：年糕吃什么来着？",
            ]
            [found] = told_by_tools(looked_up)
            assert found["events"][0]["text"] == f"机器人记：“{fact}”"

            asked = len(server.asked)
            server.chat = message({"content": "不知道。"})
            await client.ask("年糕吃什么来着？", group=OTHER_GROUP, user=AHE)
            assert "罐头" not in system_of(server.asked[asked])


async def test_the_companion_survives_a_bad_model(tmp_path: Path) -> None:
    """Wrong tools, broken arguments, endless calls, silence and a failing server each get one answer."""
    wrong = calling(("no_such_tool", {}), ("search_events", "{broken"), ("get_profile", {"entity_type": 7}))
    cases: Sequence[tuple[Any, str]] = (
        (_once(wrong, message({"content": "想起来了。"})), "想起来了。"),
        (calling(("memory_list", {})), "……"),
        (message({"content": ""}), "……"),
        (status(500), "模型现在连不上，等一会儿再叫我吧。"),
    )
    async with ModelServer() as server, open_bot(tmp_path, {"companion": COMPANION}, set_up(server)) as (_, client):
        for number, (behaviour, wanted) in enumerate(cases):
            server.chat = behaviour
            assert await client.ask(f"第 {number} 问", group=GROUP) == wanted
        failures = [told for asked in server.asked[1:2] for told in told_by_tools(asked)]
        assert [one["ok"] for one in failures] == [False, False, False]


async def test_just_a_context(tmp_path: Path) -> None:
    """The short example's prompt has what was said in the group, although it hands in nothing."""
    text = (EXAMPLES / "just_context" / "README.md").read_text("utf-8")
    [shown] = ENV.findall(text)
    async with ModelServer() as server:
        server.chat = message({"content": "罐头吧。"})
        env = [*shown.splitlines(), f"CHAT_API_URL={server.url}", SOON]
        async with open_bot(tmp_path, {"just_context": JUST_CONTEXT}, env) as (_, client):
            await client.ask("我家的猫叫年糕，只吃罐头不吃猫粮", group=GROUP, user=MILI, name="米粒")

            async def is_known() -> bool:
                assert await client.ask("年糕吃什么？", group=GROUP) == "罐头吧。"
                return "只吃罐头" in system_of(server.asked[-1])

            await until(is_known, pause=0.5)


def _once(*behaviours: Behaviour) -> Behaviour:
    """Return a behaviour that answers like each of these, one after another, and goes on with the last."""
    waiting = list(behaviours)

    def behave(asked: Asked) -> Reply:
        behaviour = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return behaviour(asked)

    return behave


@pytest.mark.parametrize("folder", [ROOT, EXAMPLES / "companion_chat"], ids=["bot.py", "companion_chat"])
def test_a_bot_script_loads_all_its_plugins(tmp_path: Path, folder: Path) -> None:
    """The bot script starts without an error message when nothing but the data directory is configured."""
    home = tmp_path / "bot"
    home.mkdir()
    shutil.copy(folder / "bot.py", home)
    if (folder / "plugins").is_dir():
        shutil.copytree(folder / "plugins", home / "plugins")
    run = subprocess.run(
        [sys.executable, "-c", "import bot"],
        cwd=home,
        env={**os.environ, "PYTHONPATH": python_path(ROOT), "LOCALSTORE_DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    log = run.stdout + run.stderr
    assert run.returncode == 0, log
    assert log.count("Succeeded to load plugin") >= len(list((home / "plugins").glob("*.py"))) + 1
    assert '"nonebot_plugin_cognitive_memory"' in log
    assert "ERROR" not in log
