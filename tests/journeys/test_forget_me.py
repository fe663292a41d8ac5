"""Tests that the command by which a person is forgotten leaves nothing of them, whatever was going on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.support.model_server import ModelServer, never
from tests.support.onebot import GROUP, MILI, OTHER_GROUP, OneBotClient, Version, open_bot, version_of
from tests.support.waiting import until

ONLY = 'from nonebot import require\n\nrequire("nonebot_plugin_cognitive_memory")\n'
PERSON, NAMES = 7318264059, ("雪泥鸿爪客", "Wanderer_Zhi")
PHRASES = ("暗号青石板", "暗号纸飞机", "暗号旧雨伞")
HERE = {"group": GROUP, "user": PERSON, "name": NAMES[0]}
THERE = {"group": OTHER_GROUP, "user": PERSON, "name": NAMES[1]}
PRIVATE = {"user": PERSON, "name": NAMES[0]}


def left_of(data: Path, words: Sequence[str]) -> set[tuple[str, str]]:
    """Return the files that still hold one of these words, with the word."""
    forms = [(word, form) for word in words for form in {word.encode(), json.dumps(word)[1:-1].encode()}]
    return {(path.name, word) for path, content in _files(data) for word, form in forms if form in content}


def _files(data: Path) -> Iterator[tuple[Path, bytes]]:
    for path in sorted(data.rglob("*")):
        try:
            yield path, path.name.encode() + (b"" if path.is_dir() else path.read_bytes())
        except FileNotFoundError:
            continue


async def gone(data: Path, words: Sequence[str]) -> None:
    """Wait until no file holds one of these words."""
    await until(lambda: not left_of(data, words))


async def asked_twice(client: OneBotClient) -> str:
    """Ask to be forgotten and confirm it; return the last answer."""
    assert "再发一次" in await client.ask("/记忆 忘记我", **PRIVATE)
    return await client.ask("/记忆 忘记我", **PRIVATE)


async def live(client: OneBotClient) -> None:
    """Let the person speak in two groups and in private, and others mention them."""
    await client.say(f"我住在{PHRASES[0]}旁边，以后聚餐就近吧", **HERE)
    await client.say(f"我养了一只叫{PHRASES[1]}的鹦鹉", **THERE)
    await client.say(f"我的生日礼物想要{PHRASES[2]}", **PRIVATE)
    await client.say(f"{NAMES[0]}几点来？记得叫上{NAMES[0]}({PERSON})", group=GROUP, user=MILI, name="米粒")


@pytest.mark.parametrize("version", version_of("v11"))
async def test_nothing_is_left_of_gathered_lines(tmp_path: Path, version: Version) -> None:
    """Lines gathered to be considered, the person's own and those that name them, leave nothing, at the end too."""
    words = (str(PERSON), *NAMES, *PHRASES)
    async with open_bot(tmp_path, {"only": ONLY}, version=version) as (bot, client):
        await live(client)
        await until(lambda: {word for _, word in left_of(bot.data, words)} == set(words))
        assert "删掉了" in await asked_twice(client)
        await gone(bot.data, words)
        assert bot.stop() == 0  # what is gathered is handed over now
        assert left_of(bot.data, words) == set()


@pytest.mark.parametrize("version", version_of("v12"))
async def test_nothing_is_left_of_jobs(tmp_path: Path, version: Version) -> None:
    """Jobs that wait and run while the model never answers leave nothing."""
    words = (str(PERSON), *NAMES, *PHRASES)
    async with ModelServer() as server:
        server.chat = never
        env = [
            f"COGNITIVE_MEMORY__MODELS__HISTORIAN__API_URL={server.url}",
            "COGNITIVE_MEMORY__MODELS__HISTORIAN__MODEL_NAME=m",
            "COGNITIVE_MEMORY__CAPTURE__CONSIDER_IDLE_MINUTES=0.01",
        ]
        async with open_bot(tmp_path, {"only": ONLY}, env, version) as (bot, client):
            await live(client)
            await until(lambda: any((bot.data / "queues" / "processing").glob("*.json")))
            assert "删掉了" in await asked_twice(client)
            await gone(bot.data, words)
            bot.stop()
            assert left_of(bot.data, words) == set()


@pytest.mark.parametrize("version", version_of("v11"))
async def test_only_the_id_of_who_opted_out_is_left(tmp_path: Path, version: Version) -> None:
    """Somebody who opted out before leaves the id alone, without which the opt-out would have no effect."""
    words = (*NAMES, *PHRASES)
    async with open_bot(tmp_path, {"only": ONLY}, version=version) as (bot, client):
        await live(client)
        assert "不记你" in await client.ask("/记忆 别记我", **PRIVATE)
        assert await asked_twice(client)
        await gone(bot.data, words)
        bot.stop()
        assert left_of(bot.data, words) == set()
        assert {name for name, _ in left_of(bot.data, [str(PERSON)])} <= {"ledger.db", "ledger.db-wal"}
