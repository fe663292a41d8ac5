"""Every command once, over a real WebSocket: writes docs/commands.md and the sample pictures.

A bot is started with a memory of two weeks; a member, an admin and a superuser use each command in a group or in
private. Nothing is edited afterwards. ``--font`` is a Chinese font file for the pictures, copied to where an operator
would put one; further files (a bold cut, emoji) may follow. Without it the pictures of the last run stay.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import re
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import cognitive_memory_core as core
from tests.support.clock import FrozenClock
from tests.support.onebot import GROUP, GROUP_NAME, OneBotClient, data_of, open_bot

from .measure import Report
from .transcript_script import ASKED, CHAT, DAYS, FILLERS, PEOPLE, PORTRAITS, RULES, Asked, Person, Proposal, Rules

ROOT = Path(__file__).resolve().parent.parent
PICTURES = "pictures"
MARK = "<!-- transcript:begin -->"  # what stands above it in commands.md is written by hand
PLUGIN = (
    "from nonebot import require\n"
    "require('nonebot_plugin_cognitive_memory')\n"
    "from nonebot_plugin_cognitive_memory.commands import entry\n"
    "from nonebot_plugin_cognitive_memory.limits import TokenBuckets\n"
    "entry._pace = TokenBuckets(1_000, 1_000)\n"  # one person sends more than ten commands a minute here
)
TOO_OFTEN = "命令用得太快了"
QUIET, PATIENCE = 1.0, 60.0  # seconds without a message after which an answer is over; seconds to wait for one
NOON, MIDNIGHT = 12, 0
NEW_A_DAY = 3  # lines of a day that say something new


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: fonts, and where to write."""
    parser.add_argument("--font", type=Path, action="append", default=[], help="a Chinese font, then others")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", help="where commands.md is written")


def run(options: argparse.Namespace) -> Report:
    """Play the script and write the page."""
    report = Report("transcript of the commands", ("command", "answers", "characters", "pictures"))
    spoken = asyncio.run(_played(options.font, options.docs / PICTURES))
    for one in spoken:
        report.add(one.asked.text, len(one.answers), sum(map(len, one.texts)), len(one.answers) - len(one.texts))
    report.failed = any(not one.answers or any(TOO_OFTEN in text for text in one.texts[:1]) for one in spoken)
    written = options.docs / "commands.md"
    written.write_text(page(written.read_text("utf-8") if written.exists() else "", spoken), "utf-8")
    return report


@dataclass
class Spoken:
    """A command and what the bot answered: texts, or the names of pictures."""

    asked: Asked
    answers: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)


def page(before: str, spoken: Sequence[Spoken]) -> str:
    """Return the page: what stands above the mark, then a chapter for each kind of asker."""
    chapters: dict[str, list[str]] = {}
    for one in spoken:
        chapters.setdefault(one.asked.chapter, []).append(_dialogue(one))
    body = "\n\n".join(f"### {title}\n\n" + "\n\n".join(dialogues) for title, dialogues in chapters.items())
    return (
        f"{before.partition(MARK)[0]}{MARK}\n\n## 每个命令的样子\n\n"
        "下面是一个真的机器人的回答，一字未改：它听着一个 OneBot v11 的 WebSocket，没有模型，只有规则史官；"
        "先有两周的聊天，其间群记忆演化过两次（那两次接了一个照稿回答的模型），三个人依次把每个命令用一遍。"
        "`python -m benchmarks transcript --font 字体文件` 重新生成这一页和图片。\n\n"
        f"{body}\n"
    )


def _dialogue(one: Spoken) -> str:
    where = "私聊" if one.asked.is_private else "群里"
    lines = [f"**{one.asked.person.name}**（{one.asked.person.rank}，{where}）：`{one.asked.text}`"]
    if one.asked.note:
        lines.append(one.asked.note)
    return "\n\n".join([*lines, *(answer for answer in one.answers)])


async def _played(fonts: Sequence[Path], pictures: Path) -> list[Spoken]:
    with tempfile.TemporaryDirectory(prefix="transcript-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        await _filled(home)
        for font in fonts:
            (data_of(home) / "fonts").mkdir(parents=True, exist_ok=True)
            shutil.copy(font, data_of(home) / "fonts")
        for name, hour in (("dark", MIDNIGHT), ("light", NOON)):  # the second run changes what the first one shows
            asked = ASKED if name == "light" else [replace(one, before=()) for one in ASKED if one.picture]
            async with _bot(home, hour) as client:
                stage = _Stage(client, pictures if fonts else None, name)
                spoken = [await stage.answered(one) for one in asked]
            if name == "light":
                whole = spoken
    return whole


@asynccontextmanager
async def _bot(home: Path, hour: int) -> AsyncIterator[OneBotClient]:
    """Run the bot in a time zone in which it is that hour now."""
    offset = (hour - datetime.now(timezone.utc).hour + 11) % 24 - 11
    env = [f"COGNITIVE_MEMORY__TIMEZONE=Etc/GMT{-offset:+d}", f'SUPERUSERS=["{PEOPLE["owner"].id}"]']
    env.append(f"COGNITIVE_MEMORY__HTTP__TOKEN={secrets.token_urlsafe()}")
    async with open_bot(home, {"only": PLUGIN}, env) as (_, client):
        client.roles = {(GROUP, person.id): person.role for person in PEOPLE.values()}
        yield client


@dataclass
class _Stage:
    client: OneBotClient
    pictures: Path | None
    look: str

    async def answered(self, one: Asked) -> Spoken:
        """Send a command, and the lines before it; return what came back."""
        for text in one.before:
            await self._say(one, text)
        if one.pause:
            await asyncio.sleep(one.pause)
        seen = len(self.client.calls)
        await self._say(one, one.text)
        spoken = Spoken(one)
        for api, params in await self._answers(seen):
            await asyncio.to_thread(self._take, spoken, api, params)
        return spoken

    async def _say(self, one: Asked, text: str) -> None:
        place: dict[str, Any] = {} if one.is_private else {"group": GROUP, "group_name": GROUP_NAME}
        await self.client.say(text, user=one.person.id, name=one.person.name, **place)

    async def _answers(self, seen: int) -> list[tuple[str, Mapping[str, Any]]]:
        """Wait for an answer, and until no further one comes."""
        waited, quiet = 0.0, 0.0
        count = 0
        while waited < PATIENCE and (not count or quiet < QUIET):
            await asyncio.sleep(0.1)
            waited, quiet = waited + 0.1, quiet + 0.1
            found = [call for call in self.client.calls[seen:] if call[0].startswith(("send_", "upload_"))]
            if len(found) > count:
                count, quiet = len(found), 0.0
        return found

    def _take(self, spoken: Spoken, api: str, params: Mapping[str, Any]) -> None:
        if api.startswith("upload_"):
            spoken.answers.append(f"（文件 `{params['name']}`）")
            return
        for part in params.get("message") or list(params.get("messages", ())):
            if part["type"] == "image":
                spoken.answers.append(self._picture(spoken.asked, part["data"]["file"]))
            else:
                text = part["data"]["text"] if part["type"] == "text" else _node_text(part)
                spoken.texts.append(text)
                spoken.answers.append(f"```text\n{text}\n```")

    def _picture(self, asked: Asked, file: str) -> str:
        name = f"{asked.picture or 'picture'}-{self.look}.png"
        if self.pictures is not None:
            self.pictures.mkdir(parents=True, exist_ok=True)
            (self.pictures / name).write_bytes(base64.b64decode(file.removeprefix("base64://")))
        return f'<img src="{PICTURES}/{name}" alt="{asked.picture}" width="420">'


def _node_text(node: Mapping[str, Any]) -> str:
    return "".join(part["data"]["text"] for part in node["data"]["content"])


async def _filled(home: Path) -> None:
    """Give the bot a memory of two weeks of chat, and profiles as an operator may write them by hand."""
    data, now = data_of(home), datetime.now(timezone.utc)
    clock = FrozenClock(now - timedelta(days=len(DAYS), hours=1))
    exact = core.Settings(vector_store=core.VectorStoreSettings(backend="exact"))
    async with core.CognitiveMemory.open(exact, data, clock=clock) as memory:
        for person in PEOPLE.values():  # who has been here for a week counts where a rule is agreed on
            await memory.note_name(_scene(person), clock.instant - timedelta(days=8))
        for day, lines in enumerate(DAYS):
            clock.advance(days=1)
            if lines:
                await _told(memory, clock, day, lines)
    for rules in RULES:
        await _evolved(data, now - timedelta(days=rules.days_ago, hours=1), rules)
    for path, text in PORTRAITS.items():
        file = data / "profiles" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("$NOW", now.strftime("%Y-%m-%dT%H:%M:%SZ")), "utf-8")
    broken = data / "queues" / "pending" / f"{round(now.timestamp() * 1_000_000)}-5b8e3f0c9d214a7f.0.json"
    broken.parent.mkdir(parents=True, exist_ok=True)
    broken.write_text("{", "utf-8")


async def _told(memory: core.CognitiveMemory, clock: FrozenClock, day: int, lines: int) -> None:
    """Let people say some lines on one day, and the historian consider them."""
    said: list[core.Message] = []
    for number in range(lines):
        at = clock.instant - timedelta(minutes=2 * (lines - number))
        who, text = CHAT[(day * 3 + number) % len(CHAT)]
        text = text if number < NEW_A_DAY else FILLERS[number % len(FILLERS)]
        said.append(core.Message(f"{day}-{number}", _scene(PEOPLE[who]), text, at))
    for message in said:
        await memory.observe(message)
    await memory.consider(said[-1].scene, said)
    await memory.drain(PATIENCE)


async def _evolved(data: Path, at: datetime, rules: Rules) -> None:
    """Let people speak of their rules, and the group evolve by the answers of a model that were written before."""
    exact = core.Settings(vector_store=core.VectorStoreSettings(backend="exact"))
    chat, clock = _WrittenAnswers(rules.proposals), FrozenClock(at)
    async with core.CognitiveMemory.open(exact, data, clock=clock, chat=chat, background=False) as memory:
        for number, (who, text) in enumerate(rules.said):
            said_at = at - timedelta(minutes=len(rules.said) - number)
            await memory.observe(core.Message(f"rules-{rules.days_ago}-{number}", _scene(PEOPLE[who]), text, said_at))
        evolution = await memory.evolve(_scene(PEOPLE["admin"]))
    if len(evolution.changes) != len(rules.proposals):
        raise RuntimeError(evolution.message)


class _WrittenAnswers:
    """A model whose proposals are written in the script; it looks up the numbers of the beliefs in the prompt."""

    def __init__(self, proposals: Sequence[Proposal]) -> None:
        """Answer with these."""
        self._proposals = proposals

    async def ask(self, ask: Any) -> Any:
        """Return the proposals as JSON Lines."""
        return ask.parse("\n".join(self._row(proposal, ask.prompt) for proposal in self._proposals))

    @staticmethod
    def _row(proposal: Proposal, prompt: str) -> str:
        row = {"action": proposal.action, "statement": proposal.statement, "change_reason": proposal.reason}
        found = re.search(rf"(B\d+)[^\n]*{re.escape(proposal.of)}", prompt) if proposal.of else None
        old = {"old_id": found.group(1)} if found else {}
        return json.dumps({**row, **old, "lines": list(proposal.lines)}, ensure_ascii=False)


def _scene(person: Person) -> core.Scene:
    return core.Scene.group(str(GROUP), str(person.id), user_name=person.name, group_name=GROUP_NAME)
