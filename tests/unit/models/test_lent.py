"""Tests of a memory that uses the chat model that a program beside it is set up with."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from cognitive_memory_core import CognitiveMemory, LentModel, Message, ModelSettings, Settings, Turn
from cognitive_memory_core.models.chat import lent_chat
from cognitive_memory_core.models.lent_models import Lender
from cognitive_memory_core.models.spending import Budget
from cognitive_memory_core.ports import SystemClock
from cognitive_memory_core.settings.schema import Live
from tests.support.ledgers import a_ledger
from tests.support.model_server import ModelServer, slowly, status, tool_call
from tests.support.puppet import answering
from tests.support.telling import EXACT, READING, a_memory, tell
from tests.support.waiting import PATIENCE, until

from .test_chat import ASK, GOOD

KEY, HTTP = "sk-CANARY-KEY", "http://"
SAID = "阿禾(2156083317) 在 2026年3月{}日 读完了一本书"


class Companion:
    """A program that lends what stands in ``model``, or fails with ``error``."""

    def __init__(self, server: ModelServer) -> None:
        """Lend a model of a server that answers carefully."""
        server.chat = answering()
        self.model: LentModel | None = LentModel("llmchat", server.url, KEY, "some-model")
        self.error: Exception | None = None
        self.asked = 0

    async def lend(self) -> LentModel | None:
        """Return the model of this moment."""
        self.asked += 1
        if self.error:
            raise self.error
        return self.model


@pytest.fixture
def companion(server: ModelServer) -> Companion:
    """Return a companion with one usable model."""
    return Companion(server)


def change(companion: Companion, **parts: Any) -> None:
    """Change parts of a companion's model."""
    assert companion.model is not None
    companion.model = replace(companion.model, **parts)


@asynccontextmanager
async def borrowing(folder: Path, companion: Companion, **models: object) -> AsyncIterator[CognitiveMemory]:
    """Open a memory that may borrow."""
    settings = Settings.from_mapping({**EXACT.model_dump(exclude={"models"}), "models": models})
    async with a_memory(folder, settings, lend=companion.lend) as memory:
        yield memory


def begun_by_an_older_version(folder: Path) -> None:
    """Make a directory what a version that cannot borrow left."""
    with closing(sqlite3.connect(folder / "ledger.db")) as ledger, ledger:
        assert ledger.execute("DELETE FROM meta WHERE key = 'borrows'").rowcount == 1


def everything_in(folder: Path) -> bytes:
    """Return the bytes of every file."""
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


async def is_told(memory: CognitiveMemory, words: str) -> bool:
    """Return whether status tells the operator this."""
    return words in (await memory.status()).last_error


async def told(memory: CognitiveMemory, day: int) -> None:
    """Tell the memory one thing of a day of its own."""
    assert await tell(memory, READING, SAID.format(day))


async def test_a_statement_is_written_by_the_lent_model(
    tmp_path: Path, server: ModelServer, companion: Companion
) -> None:
    """In a new directory, without a model of its own, the historian asks the lent one; status says whose it is."""
    async with borrowing(tmp_path, companion) as memory:
        await told(memory, 1)
        state = await memory.status()
        assert memory.borrows
        assert (state.model, state.lender, state.calls_today > 0) == ("some-model", "llmchat", True)
        assert "historian" not in state.without_model
    assert server.asked[0].body["model"] == "some-model"
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("borrow", ["auto", "off", "llmchat", "suggarchat"])
async def test_a_directory_opened_before_lends_nothing_to_a_provider_by_an_upgrade(
    tmp_path: Path, server: ModelServer, companion: Companion, borrow: str
) -> None:
    """There "auto" borrows nothing, and only the companion's name does; "off" and another's name never."""
    async with a_memory(tmp_path):
        pass
    begun_by_an_older_version(tmp_path)
    async with borrowing(tmp_path, companion, historian={"borrow": borrow}) as memory:
        await told(memory, 1)
        assert ("historian" in (await memory.status()).without_model) is (borrow != "llmchat")
    assert bool(server.asked) is (borrow == "llmchat")
    assert bool(companion.asked) is (borrow not in ("auto", "off"))


@pytest.mark.parametrize("local", ["auto", "hash"])
async def test_a_lent_embedding_model_makes_the_vectors_where_none_is_chosen(
    tmp_path: Path, server: ModelServer, companion: Companion, local: str
) -> None:
    """What is stored goes to the lender's embedding model with its key, unless the operator chose "hash"."""
    assert companion.model
    theirs = replace(companion.model, api_key="sk-e", model_name="bge")
    companion.model = replace(companion.model, embedding=theirs)
    async with borrowing(tmp_path, companion, embedding={"local": local}) as memory:
        await told(memory, 1)
        await memory.search_events(READING, "读完了什么")
        assert memory.embedder == ("bge" if local == "auto" else "hash")
    keys = {asked.path.rpartition("/")[2]: asked.headers["authorization"] for asked in server.asked}
    assert keys.get("embeddings") == ("Bearer sk-e" if local == "auto" else None)


async def test_a_refused_key_of_a_lent_embedding_model_is_told_by_the_lenders_name(
    tmp_path: Path, server: ModelServer, companion: Companion
) -> None:
    """Where the provider refuses it, memory goes on without vectors, and the status says whose key it is."""
    assert companion.model
    server.embeddings = status(401)
    companion.model = replace(companion.model, embedding=companion.model)
    async with borrowing(tmp_path, companion) as memory:
        await memory.search_events(READING, "读完了什么")
        assert "llmchat 的密钥" in (await memory.status()).last_error


async def test_what_is_lent_is_read_at_each_call(
    tmp_path: Path, server: ModelServer, companion: Companion, caplog: pytest.LogCaptureFixture
) -> None:
    """Another model, none, a failing companion and a model again: each counts from the next call, without a restart."""
    caplog.set_level(logging.INFO)
    first, used = companion.model, []
    assert first is not None
    async with borrowing(tmp_path, companion) as memory:
        for day, model in enumerate([first, replace(first, model_name="other-model"), None, first], 1):
            companion.model = model
            before = len(server.asked)
            await told(memory, day)
            used.append({asked.body["model"] for asked in server.asked[before:]})
        companion.error = OSError("no file")
        before = len(server.asked)
        await told(memory, 9)
        assert len(server.asked) == before
        await memory.observe(Message("m1", READING, "周五一起吃饭吧", datetime.now(timezone.utc)))
        assert "还没接大模型" in (await memory.evolve(READING)).message
    assert used == [{"some-model"}, {"other-model"}, set(), {"some-model"}]
    assert caplog.text.count("用 llmchat 的模型") == 3
    assert KEY not in caplog.text


async def test_a_refused_key_waits_for_the_operator_and_is_called_the_companions(
    tmp_path: Path, server: ModelServer, companion: Companion
) -> None:
    """The job waits, status names the companion's key; a new key there is used, and nothing is lost."""
    server.chat = status(401)
    assert companion.model is not None
    async with borrowing(tmp_path, companion) as memory:
        await memory.remember(Turn(READING, observations=(SAID.format(1),)))
        await until(lambda: is_told(memory, "llmchat 的密钥"))
        assert "COGNITIVE_MEMORY" not in (await memory.status()).refusal
        server.chat = answering()
        companion.model = replace(companion.model, api_key="sk-new")
        await memory.revive()
        assert await memory.drain(PATIENCE)
        assert len(await memory.events(READING)) == 1
        assert not (await memory.status()).refusal


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("model_name", ""),
        ("model_name", 7),
        ("model_name", "a\nb"),
        ("api_key", None),
        ("api_key", "k" * 8_001),
        ("api_url", ["http://127.0.0.1"]),
        ("api_url", "http://127.0.0.1/" + "v" * 2_000),
        ("proxy", 8080),
        ("lender", "\x1b[31m"),
    ],
)
async def test_values_that_are_no_model_are_not_used(
    tmp_path: Path, server: ModelServer, companion: Companion, part: str, value: Any
) -> None:
    """A part of another type, too long, missing or with control characters counts as no model, and the rules work."""
    change(companion, **{part: value})
    async with borrowing(tmp_path, companion) as memory:
        await told(memory, 1)
        assert "historian" in (await memory.status()).without_model
    assert not server.asked


@pytest.mark.parametrize(
    ("part", "value", "named"),
    [
        ("api_url", HTTP + "169.254.169.254/v1", "llmchat 的模型地址"),
        ("api_url", "ftp://127.0.0.1/v1", "llmchat 的模型地址"),
        ("api_key", "sk\nX-Header: 1", "llmchat 的密钥"),
        ("proxy", "socks5://127.0.0.1:1", "llmchat 的代理"),
        ("proxy", "127.0.0.1:1", "llmchat 的代理"),
    ],
)
async def test_an_address_is_checked_as_one_of_the_settings_is(
    tmp_path: Path, companion: Companion, part: str, value: str, named: str
) -> None:
    """A cloud's metadata service, a key with a line end, a proxy without a scheme: nothing is sent, and it is named."""
    change(companion, **{part: value})
    async with borrowing(tmp_path, companion) as memory:
        await memory.remember(Turn(READING, observations=(SAID.format(1),)))
        await until(lambda: is_told(memory, named))


async def test_its_proxy_is_used(tmp_path: Path, server: ModelServer, companion: Companion) -> None:
    """Requests go to the proxy with the companion's address in them, and with the proxy's password."""
    proxy = server.url.replace("http://", HTTP + "me:CANARY-PASSWORD@").removesuffix("/v1")
    change(companion, api_url="http://model.example/v1", proxy=proxy)
    async with borrowing(tmp_path, companion) as memory:
        await told(memory, 1)
    assert server.asked[0].path.startswith("http://model.example/v1/")
    assert "proxy-authorization" in server.asked[0].headers


async def test_keys_are_in_no_file_and_no_line_of_the_log(
    tmp_path: Path, server: ModelServer, companion: Companion, caplog: pytest.LogCaptureFixture
) -> None:
    """After answers, refusals and a bad address, neither key nor proxy is in the directory, the log or any text."""
    caplog.set_level(logging.DEBUG)
    assert companion.model is not None
    good = replace(companion.model, proxy=server.url.replace("http://", HTTP + "me:CANARY-PASSWORD@"))
    async with borrowing(tmp_path, companion) as memory:
        companion.model = good
        await told(memory, 1)
        server.chat = status(401)
        await memory.remember(Turn(READING, observations=(SAID.format(2),)))
        await until(lambda: is_told(memory, "llmchat 的密钥"))
    companion.model = replace(good, proxy="socks5://me:CANARY-PASSWORD@127.0.0.1:1")
    async with borrowing(tmp_path, companion) as memory:
        await until(lambda: is_told(memory, "llmchat 的代理"))
        shown = f"{await memory.status()} {companion.model!r}"
    assert "CANARY" not in caplog.text + shown
    assert b"CANARY" not in everything_in(tmp_path)


async def test_an_answer_on_its_way_is_not_cut_off(server: ModelServer) -> None:
    """A call that runs while the companion's model changes gets its answer; the next call goes to the new model."""
    companion = Companion(server)
    assert companion.model is not None
    server.chat = [slowly(0.5, tool_call(GOOD)), tool_call(GOOD)]
    budget = Budget(a_ledger().housekeeping, SystemClock(), Live(Settings(daily_calls=0)))
    stack = AsyncExitStack()
    chat = lent_chat(Lender(companion.lend, is_new=True), ModelSettings(), "historian", budget, stack)
    first = asyncio.ensure_future(chat.ask(ASK))
    await server.is_asked(1)
    companion.model = replace(companion.model, model_name="other-model")
    assert await chat.ask(ASK) == GOOD["text"]
    assert not first.done()
    assert await first == GOOD["text"]
    assert [asked.body["model"] for asked in server.asked] == ["some-model", "other-model"]
    await stack.aclose()
