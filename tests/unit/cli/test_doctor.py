"""Tests of ``cognitive-memory doctor``: each fault is found with one sentence that says what to do."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import cognitive_memory_core as core
from cognitive_memory_core.cli.doctor_variables import Finding
from cognitive_memory_core.store.ledger import ClockState, Ledger
from tests.support.bot_homes import ENV, BotHome
from tests.support.model_server import Reply, status, well
from tests.support.served_models import MISSING, model, script, served
from tests.support.vector_stores import chroma_answering


@pytest.fixture
def home(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> BotHome:
    """Return the directory of a bot without faults that has not started yet."""
    made = BotHome(tmp_path, capsys)
    made.write_env(*ENV)
    return made


def found(home: BotHome, check: str, *words: str) -> list[dict[str, str]]:
    """Run doctor; return what one check found beyond what is fine."""
    _, out, err = home.run("doctor", "--json", *words)
    assert err == ""
    told: Any = json.loads(out)
    return [one for one in told["findings"] if one["check"] == check and one["level"] != "fine"]


def the_only(home: BotHome, check: str, *words: str) -> dict[str, str]:
    """Return the only finding of a check, which says on one line what to do."""
    [one] = found(home, check, *words)
    assert one["advice"]
    assert "\n" not in one["what"] + one["advice"]
    return one


@pytest.mark.parametrize(
    ("line", "right"),
    [
        ("COGNITIVE_MEMORY_QUERY__AUTO_TOP_K=3", "COGNITIVE_MEMORY__QUERY__AUTO_TOP_K"),
        ("COGNITIVE_MEMORY_MODELS_HISTORIAN_API_KEY=x", "COGNITIVE_MEMORY__MODELS"),
        ("COGNITIVEMEMORY__TIMEZONE=UTC", "COGNITIVE_MEMORY__TIMEZONE"),
        ("NONEBOT_PLUGIN_COGNITIVE_MEMORY__TIMEZONE=UTC", "COGNITIVE_MEMORY__TIMEZONE"),
        ("MEMORY__QUERY__AUTO_TOP_K=3", "COGNITIVE_MEMORY__QUERY__AUTO_TOP_K"),
        ("QUERY__AUTO_TOP_K=3", "COGNITIVE_MEMORY__QUERY__AUTO_TOP_K"),
    ],
)
def test_a_wrong_prefix(home: BotHome, line: str, right: str) -> None:
    """A variable with a wrong prefix is named with the right one; other plugins' variables are left alone."""
    home.write_env(*ENV, line, "OTHER__QUERY=1", "LOG_LEVEL=INFO", "QUERY=1")
    assert right in the_only(home, "prefix", "--offline")["advice"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("COGNITIVE_MEMORY__QUERY__AUTO_TOPK=3", "query.auto_top_k"),
        ("COGNITIVE_MEMORY__QUERY__AUTO_TOP_K=很多", "应为整数"),
        ("COGNITIVE_MEMORY__TIMEZONE=Mars/Base", "Asia/Shanghai"),
    ],
)
def test_wrong_keys_and_values(home: BotHome, line: str, told: str) -> None:
    """An unknown key is named with the nearest one, a bad value with the reason."""
    home.write_env(*ENV, line)
    one = the_only(home, "values", "--offline")
    assert told in one["what"] + one["advice"]


def test_a_name_where_an_id_belongs(home: BotHome) -> None:
    """A name in a setting of ids is a fault that says what to write; a number is none, an unknown word a hint."""
    home.fill()
    home.write_env(*ENV, 'COGNITIVE_MEMORY__CAPTURE__IGNORE_USERS=["30001"]')
    assert not found(home, "ids", "--offline")
    home.write_env(*ENV, 'COGNITIVE_MEMORY__CAPTURE__IGNORE_GROUPS=["末班渡开发组"]')
    group = the_only(home, "ids", "--offline")
    assert (group["level"], "IGNORE_GROUPS 里的「末班渡开发组」" in group["what"]) == ("fault", True)
    assert "QQ 群号" in group["advice"]
    home.write_env(*ENV, 'COGNITIVE_MEMORY__CAPTURE__IGNORE_USERS=["米粒"]')
    assert "叫这个的是 30001" in the_only(home, "ids", "--offline")["advice"]
    home.write_env(*ENV, 'COGNITIVE_MEMORY__CAPTURE__GROUPS=["group-7f3a"]')
    assert the_only(home, "ids", "--offline")["level"] == "hint"


def test_unknown_bridges(home: BotHome) -> None:
    """A bridge that no chat plugin has is named with the ones that there are."""
    home.write_env(*ENV, 'COGNITIVE_MEMORY__BRIDGES=["llmchat", "openai:my_plugin", "ai-groupmate"]')
    assert not found(home, "bridges", "--offline")
    home.write_env(*ENV, 'COGNITIVE_MEMORY__BRIDGES=["llmchat", "lmchat", "openai"]')
    first, second = found(home, "bridges", "--offline")
    assert ("lmchat" in first["what"], "openai" in second["what"]) == (True, True)
    assert "suggarchat" in first["advice"]


def test_the_http_interface(home: BotHome) -> None:
    """A token that can be guessed, and a driver that cannot serve the interface, are faults."""
    home.write_env(*ENV, "DRIVER=~fastapi", "COGNITIVE_MEMORY__HTTP__TOKEN=0123456789abcdef")
    assert not found(home, "http", "--offline")
    home.write_env(*ENV, "DRIVER=~fastapi", "COGNITIVE_MEMORY__HTTP__TOKEN=short")
    one = the_only(home, "http", "--offline")
    assert "HTTP__TOKEN" in one["what"]
    assert "short" not in one["what"] + one["advice"]
    home.write_env(*ENV, "DRIVER=~websockets", "COGNITIVE_MEMORY__HTTP__TOKEN=0123456789abcdef")
    assert "~fastapi" in the_only(home, "http", "--offline")["advice"]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (("DRIVER=~none",), "DRIVER=~fastapi"),
        (("DRIVER=~httpx",), "DRIVER=~fastapi"),
        (("DRIVER=~fastapi", 'ONEBOT_WS_URLS=["ws://127.0.0.1:3001"]'), "~websockets"),
        (("DRIVER=~fastapi+~nosuchdriver",), "nonebot2[nosuchdriver]"),
    ],
)
def test_a_driver_without_websocket(home: BotHome, lines: tuple[str, ...], told: str) -> None:
    """A driver with which no OneBot WebSocket can be connected is named with the line that helps."""
    home.write_env(*ENV, *lines)
    assert told in the_only(home, "driver", "--offline")["advice"]


def test_the_open_http_door(home: BotHome) -> None:
    """A port that strangers reach without a signature is a fault; a secret or a loopback address closes it."""
    home.write_env(*ENV, "HOST=0.0.0.0", "ONEBOT_ACCESS_TOKEN=t")
    assert "ONEBOT_V11_SECRET" in the_only(home, "open-door", "--offline")["advice"]
    home.write_env(*ENV, "HOST=0.0.0.0", "ONEBOT_ACCESS_TOKEN=t", "ONEBOT_V11_SECRET=s")
    assert found(home, "open-door", "--offline") == []
    home.write_env(*ENV, "HOST=0.0.0.0", "ONEBOT_V11_SECRET=s")
    assert "ONEBOT_ACCESS_TOKEN" in the_only(home, "open-door", "--offline")["advice"]
    home.write_env(*ENV, "HOST=127.0.0.1")
    assert found(home, "open-door", "--offline") == []


def test_a_directory_that_cannot_be_written(home: BotHome) -> None:
    """A data directory in which no file can be created is named with the reason, and nothing is left in a good one."""
    home.run("doctor", "--offline")
    assert sorted(path.name for path in home.path.iterdir()) == [".env"]
    (home.path / "data").mkdir(mode=0o500)
    if not os.access(home.path / "data", os.W_OK):
        assert str(home.path / "data") in the_only(home, "writable", "--offline")["what"]


@pytest.mark.parametrize("where", ["data", "data/nonebot_plugin_cognitive_memory"])
def test_a_file_in_place_of_the_data_directory(home: BotHome, where: str) -> None:
    """A file where the data directory or a folder above it should be is called a file, in one finding and no other."""
    file = home.path / where
    file.parent.mkdir(exist_ok=True)
    file.write_text("a file where a folder should be")
    one = the_only(home, "writable", "--offline")
    assert one["what"] == f"{file} 是一个文件，数据目录放不进去"
    assert "移走" in one["advice"]
    _, out, _ = home.run("doctor", "--offline")
    assert "任务" not in out
    assert found(home, "overrides", "--offline") == found(home, "ledger", "--offline") == []


def test_a_damaged_ledger(home: BotHome) -> None:
    """A ledger that is no database is a fault, and so is one that has vanished beside its profiles.

    No other check fails for it: a name in a setting of ids is told without the id.
    """
    home.fill()
    home.spoil_ledger()
    home.write_env(*ENV, 'COGNITIVE_MEMORY__CAPTURE__IGNORE_USERS=["米粒"]')
    assert "ledger.db" in the_only(home, "ledger", "--offline")["what"]
    assert "米粒" in the_only(home, "ids", "--offline")["what"]
    for path in home.data_dir.glob("ledger.db*"):
        path.unlink()
    (home.data_dir / "profiles" / "users").mkdir(parents=True, exist_ok=True)
    (home.data_dir / "profiles" / "users" / "1.md").write_text("---\n---\n")
    assert "不见了" in the_only(home, "ledger", "--offline")["what"]


def test_damaged_rows(home: BotHome) -> None:
    """A ledger that can be read, but has a row that contradicts itself, is a fault to mend from a backup."""
    home.fill()
    home.change_ledger("UPDATE events SET user_id = user_id || '1', group_id = group_id || '1'")
    one = the_only(home, "ledger", "--offline")
    assert "events: row" in one["what"]
    assert "备份" in one["advice"]


def test_failed_jobs(home: BotHome) -> None:
    """Failed jobs are counted, with the commands that show and repeat them."""
    home.fill()
    home.fail_jobs(2)
    one = the_only(home, "ledger", "--offline")
    assert "2 个" in one["what"]
    assert "status --retry" in one["advice"]


def test_a_clock_that_went_back(home: BotHome) -> None:
    """A clock behind what the bot saw last is a fault."""
    home.fill()

    async def see_the_future() -> None:
        ledger = await Ledger.open(home.data_dir / "ledger.db")
        later = datetime.now(timezone.utc) + timedelta(days=3)
        await ledger.housekeeping.keep_clock(ClockState(None, later, 0.0))
        await ledger.close()

    asyncio.run(see_the_future())
    assert "系统时间" in the_only(home, "ledger", "--offline")["what"]


def test_an_own_font(home: BotHome) -> None:
    """A font in the operator's own folder is the one that cards are drawn with."""
    own = home.data_dir / "fonts"
    own.mkdir(parents=True)
    (own / "mine.ttf").write_bytes(b"")
    assert str(own / "mine.ttf") in home.run("doctor", "--offline")[1]


@pytest.mark.parametrize(
    ("kind", "role", "answer", "told"),
    [
        ("chat", "historian", status(401), "密钥"),
        ("chat", "historian", lambda _: Reply(MISSING, 404), "没有这个接口或模型"),
        ("chat", "historian", lambda _: Reply(MISSING, 400), "没有这个接口或模型"),
        ("chat", "historian", lambda _: Reply(b"<html>hello</html>"), "网页"),
        ("embeddings", "embedding", status(403), "密钥"),
        ("embeddings", "embedding", lambda _: Reply(MISSING, 404), "没有这个接口或模型"),
        ("rerank", "rerank", status(401), "密钥"),
    ],
)
def test_a_model_that_refuses(home: BotHome, kind: str, role: str, answer: Callable[..., Reply], told: str) -> None:
    """A refused key and an unknown model name are told apart, for each kind of model; the key is not shown."""
    with served(script(kind, answer)) as url:
        home.write_env(*ENV, *model(role, url))
        [one] = [one for one in found(home, "models") if role in one["what"]]
    assert one["level"] == "fault"
    assert told in one["what"]
    assert "canary" not in one["what"] + one["advice"]


def test_a_model_that_is_not_there(home: BotHome) -> None:
    """An address at which nothing listens is told from a refused key."""
    home.write_env(*ENV, *model("historian", "http://127.0.0.1:9/v1"))
    assert "连不上" in the_only(home, "models")["what"]


@pytest.mark.parametrize(
    ("lines", "is_older", "told"),
    [
        ((), False, "没有配置模型：由规则史官整理"),
        (('BRIDGES=["llmchat"]',), False, "没有配置模型：机器人运行时借 llmchat 的"),
        (('BRIDGES=["llmchat"]', "MODELS__HISTORIAN__BORROW=off"), False, "没有配置模型：由规则史官整理"),
        (('BRIDGES=["llmchat"]',), True, "不会自动借用 llmchat 的模型"),
        (('BRIDGES=["llmchat"]', "MODELS__HISTORIAN__BORROW=llmchat"), True, "没有配置模型：机器人运行时借 llmchat 的"),
    ],
)
def test_whose_model_is_borrowed(home: BotHome, lines: tuple[str, ...], is_older: bool, told: str) -> None:  # a table
    """Without a model of its own, doctor and status say from whom the running bot borrows, or how it would."""
    home.write_env(*ENV, *(f"COGNITIVE_MEMORY__{line}" for line in lines))
    assert is_older or told in home.run("doctor", "--offline")[1]  # before the first start, too
    home.fill()
    if is_older:
        with closing(sqlite3.connect(home.data_dir / "ledger.db")) as ledger, ledger:
            ledger.execute("DELETE FROM meta WHERE key = 'borrows'")
    assert told in home.run("doctor", "--offline")[1]
    assert ("借 llmchat 的模型" in home.run("status")[1]) is ("机器人运行时借" in told)


@pytest.mark.parametrize(
    ("role", "given", "missing"),
    [
        ("HISTORIAN", "API_KEY", "MODEL_NAME"),
        ("HISTORIAN", "MODEL_NAME", "API_URL"),
        ("EVOLUTION", "API_URL", "MODEL_NAME"),
        ("EMBEDDING", "MODEL_NAME", "API_URL"),
        ("RERANK", "API_KEY", "MODEL_NAME"),
    ],
)
def test_a_model_that_is_half_set(home: BotHome, role: str, given: str, missing: str) -> None:
    """A model with a key and no name, or a name and no address, is not used, and doctor says what is missing."""
    home.write_env(*ENV, f"COGNITIVE_MEMORY__MODELS__{role}__{given}=sk-canary")
    for words in ((), ("--offline",)):
        [one] = [one for one in found(home, "models", *words) if one["level"] == "fault"]
        assert f"{role}__{missing}" in one["what"]
        assert "canary" not in one["what"] + one["advice"]


@pytest.mark.parametrize(("answer", "told"), [(401, "TOKEN"), (403, "TOKEN"), (503, "503"), (None, "URL")])
def test_a_chroma_server_that_refuses(home: BotHome, answer: int | None, told: str) -> None:
    """A Chroma server that is away, or refuses the token, is a fault; the token is not shown."""
    keys = "COGNITIVE_MEMORY__VECTOR_STORE__{}={}".format
    with chroma_answering(answer or 200) as url:
        home.write_env(*ENV, keys("BACKEND", "chroma"), keys("URL", url), keys("TOKEN", "sk-canary"))
        found_there = found(home, "vectors")
        assert not found(home, "vectors", "--offline")
    assert bool(found_there) == bool(answer)
    [one] = found_there or found(home, "vectors")
    assert told in one["what"]
    assert "重启" in one["advice"]
    assert "canary" not in one["what"] + one["advice"]


def test_models_that_answer(home: BotHome) -> None:
    """Models that answer are no fault; --offline asks none of them."""
    with served(script("chat", well)) as url:
        home.write_env(*ENV, *model("historian", url), *model("embedding", url), *model("rerank", url))
        assert found(home, "models") == []
    assert "没有试" in the_only_hint(home)


def the_only_hint(home: BotHome) -> str:
    """Return the only finding about models without asking them."""
    [one] = found(home, "models", "--offline")
    return one["what"]


def test_changed_dimensions(home: BotHome) -> None:
    """Vectors of another length than the stored ones are a fault, whether .env or the server changed it."""
    with served(script("chat", well)) as url:
        settings = {"vector_store": {"backend": "exact"}, "models": {"embedding": {"api_url": url, "model_name": "m"}}}

        async def store() -> None:
            async with core.CognitiveMemory.open(
                core.Settings.from_mapping(settings), home.data_dir, background=False
            ) as memory:
                await memory.remember(core.Turn(core.Scene.group("1", "2"), observations=("米粒对花生过敏",)))
                assert await memory.drain(60)

        asyncio.run(store())
        home.write_env(*ENV, *model("embedding", url, model_name="m"))
        assert [one for one in found(home, "models") if one["level"] == "fault"] == []
    shorter = script("embeddings", lambda _: Reply(b'{"data": [{"index": 0, "embedding": [0.6, 0.8]}]}'))
    with served(shorter) as url:
        home.write_env(*ENV, *model("embedding", url, model_name="m"))
        [one] = [one for one in found(home, "models") if one["level"] == "fault"]
        assert "2 维" in one["what"]


def test_every_check_has_a_test_of_its_own() -> None:
    """Each check of the command is named in this file, or its fault in the journey of a newcomer."""
    from cognitive_memory_core.cli.doctor import CHECKS

    journey = {"env", "packages", "fonts", "clock", "disk", "superusers", "own-directory", "owner"}
    assert not [name for name in CHECKS.keys() - journey if f'"{name}"' not in Path(__file__).read_text("utf-8")]
    assert Finding("fine", "x").advice == ""
