"""Tests of README's chat plugin, copied verbatim into a real bot."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.support.onebot import AHE, GROUP, MILI, OTHER_GROUP, ROOT, open_bot
from tests.support.waiting import until

OTHER = 3417085926
PLUGIN = re.compile(r"```python\n(.*?)```", re.DOTALL)
ENV = re.compile(r"```dotenv\n(.*?)```", re.DOTALL)


def shown(pattern: re.Pattern[str], file: str = "README.md") -> str:
    """Return the first block of a kind in a README; later blocks are for readers who want more."""
    block, *_ = pattern.findall((ROOT / file).read_text("utf-8"))
    return block


async def test_what_it_recorded_is_in_the_next_context(tmp_path: Path) -> None:
    """With README's plugin and .env, what was said is in the next turn's context, and in no other group's."""
    env = shown(ENV).splitlines()
    async with open_bot(tmp_path, {"readme": shown(PLUGIN)}, env) as (bot, client):
        await client.ask("我家的猫叫年糕，只吃罐头", group=GROUP, user=MILI, name="米粒")
        answer = await client.ask_until("年糕吃什么", "只吃罐头", group=GROUP, user=AHE)
        assert f"米粒({MILI})" in answer
        assert "【相关原话】" in answer
        elsewhere = await client.ask_until("年糕吃什么", "我现在记得", group=OTHER_GROUP, user=MILI, name="米粒")
        assert "我现在记得" in elsewhere
        assert "只吃罐头" not in elsewhere
        assert (bot.data / "ledger.db").is_file()


LINES = {MILI: "我家的猫叫年糕，只吃罐头", AHE: "我对花生过敏", OTHER: "下个月要去重庆出差"}
QUESTIONS = {"年糕吃什么": MILI, "谁对花生过敏": AHE, "谁要去重庆": OTHER, "猫叫什么名字": MILI}


def kept(data: Path) -> str:
    """Return what the ledger of a running bot remembers."""
    with closing(sqlite3.connect(f"file:{data / 'ledger.db'}?mode=ro", uri=True)) as ledger:
        return "\n".join(text for (text,) in ledger.execute("SELECT text FROM events"))


async def test_four_questions_find_what_was_said_five_seconds_before(tmp_path: Path) -> None:
    """Lines that nobody said to the bot are in the next prompt; of the questions none becomes a memory."""
    soon = "COGNITIVE_MEMORY__CAPTURE__CONSIDER_IDLE_MINUTES=0.2"
    async with open_bot(tmp_path, {"readme": shown(PLUGIN)}, [*shown(ENV).splitlines(), soon]) as (bot, client):
        for user, said in LINES.items():
            await client.say(said, group=GROUP, user=user, message=[{"type": "text", "data": {"text": said}}])
        await asyncio.sleep(5)
        for question, user in QUESTIONS.items():
            answer = await client.ask(question, group=GROUP, user=OTHER)
            assert LINES[user] in answer.partition("【相关原话】")[2]
        await until(lambda: LINES[AHE] in kept(bot.data))
        assert not [question for question in QUESTIONS if question in kept(bot.data)]


def test_both_readmes_show_the_same_plugin() -> None:
    """The English README has the same plugin, except for Chinese words, and the same .env."""
    chinese = re.compile(r"[\u4e00-\u9fff（），。：]+.*")
    ours, theirs = (shown(PLUGIN, file).splitlines() for file in ("README.md", "README.en.md"))
    code = [line for line in ours if not chinese.search(line)]
    assert [line for line in theirs if line in code] == code
    assert shown(ENV) == shown(ENV, "README.en.md")


def test_the_plugin_is_short() -> None:
    """README's plugin has at most twenty lines that are not blank."""
    assert len([line for line in shown(PLUGIN).splitlines() if line.strip()]) <= 20
