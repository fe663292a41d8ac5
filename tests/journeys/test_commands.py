"""Tests of the commands that docs/commands.md lists, in a real bot."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.onebot import GROUP, ONLY, ROOT, Version, open_bot, version_of

ROW = re.compile(r"^\| `/记忆 (\S+?)[ `].*?（`(\w+)`", re.MULTILINE)
WORDS = {
    "show": "1",
    "search": "花生",
    "add": "米粒对花生过敏",
    "forget": "1",
    "correct": "1 我对芒果过敏",
    "share": "on",
    "pin": "周五不讨论工作",
    **dict.fromkeys(("history", "retire", "restore"), "1"),
    "view": "10001",
    "rollback": "10001",
}


def listed() -> list[tuple[str, str]]:
    """Return the Chinese and the English name of each command in the page's table."""
    return ROW.findall((ROOT / "docs" / "commands.md").read_text("utf-8"))


@pytest.mark.parametrize("version", version_of("v11"))
async def test_every_listed_command_answers(tmp_path: Path, version: Version) -> None:
    """Each command of the table is answered under both its names, never with an unknown-command or usage message.

    为什么 alone is: its usage tells to reply to one of the bot's messages.
    """
    async with open_bot(tmp_path, {"only": ONLY}, version=version) as (_, client):
        for chinese, english in listed():
            for head in (f"/记忆 {chinese}", f"/memory {english}"):
                answer = await client.ask(f"{head} {WORDS.get(english, '')}".strip(), group=GROUP, user=next(_people))
                assert answer
                assert "没有这个子命令" not in answer
                assert not answer.startswith("写法") or english == "why"


_people = iter(range(10001, 99999))


def test_the_page_shows_every_command() -> None:
    """docs/commands.md has an answer to each command of its table, and its pictures exist and are small."""
    page = (ROOT / "docs" / "commands.md").read_text("utf-8")
    called = set(re.findall(r"：`/(?:记忆|memory) ([^\s`]+)", page))
    missing = [names for names in listed() if called.isdisjoint(names)]
    assert not missing, "write their answers: python -m benchmarks transcript"
    pictures = [ROOT / "docs" / path for path in re.findall(r'src="([^"]+)"', page)]
    assert len(pictures) >= 4
    assert all(picture.stat().st_size < 150_000 for picture in pictures)
