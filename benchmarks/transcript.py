"""Every command once, over a real WebSocket: writes docs/commands.md and the sample pictures.

A bot is started with the sample month of the tests; a member, an admin and a superuser use each command in a group or
in private. Nothing is edited afterwards. ``--font`` is a Chinese font file for the pictures, copied to where an
operator would put one; further files (a bold cut, emoji) may follow. Without it the pictures of the last run stay.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from tests.support import sample_month
from tests.support.onebot import BOT, OneBotClient, data_of, open_bot

from .measure import Report
from .transcript_script import ANSWER, ASKED, ASKS, PEOPLE, Asked

ROOT = Path(__file__).resolve().parent.parent
PICTURES = "pictures"
MARK = "<!-- transcript:begin -->"  # what stands above it in commands.md is written by hand
PLUGIN = (
    "from nonebot import on_message, require\n"
    "from nonebot.rule import fullmatch, to_me\n"
    "require('nonebot_plugin_cognitive_memory')\n"
    "from nonebot_plugin_cognitive_memory.commands import entry\n"
    "from nonebot_plugin_cognitive_memory.limits import TokenBuckets\n"
    "entry._pace = TokenBuckets(1_000, 1_000)\n"  # one person sends more than ten commands a minute here
    "from nonebot_plugin_cognitive_memory import MemoryContext\n"
    f"chat = on_message(rule=to_me() & fullmatch({ASKS!r}), priority=50)\n"
    "@chat.handle()\n"
    "async def answer(context: MemoryContext):\n"
    f"    await chat.finish({ANSWER!r})\n"
)
TOO_OFTEN = "命令用得太快了"
QUIET, PATIENCE = 1.0, 60.0  # seconds without a message after which an answer is over; seconds to wait for one
NOON, MIDNIGHT = 12, 0
GROUP, GROUP_NAME = int(sample_month.GROUP), "周末桌游社"


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
        "先有样例群一个月的聊天和记忆（`tests/support/sample_month.txt`），几个人依次把每个命令用一遍。"
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
        # the newest line is at most a week old
        weeks = max(datetime.now(timezone.utc) - sample_month.NOW, timedelta()) // timedelta(weeks=1)
        sample_month.FIRST_DAY += timedelta(weeks=weeks)
        sample_month.NOW += timedelta(weeks=weeks)
        await sample_month.made(data_of(home))
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
        client.answers["get_group_info"] = lambda params: {**params, "group_name": GROUP_NAME}
        yield client


@dataclass
class _Stage:
    client: OneBotClient
    pictures: Path | None
    look: str
    sent: int = 9_000_000  # the number of the bot's latest message

    def __post_init__(self) -> None:
        """Keep what the bot says, so that it can be replied to."""
        self.client.answers["send_msg"] = self._kept

    def _kept(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        self.sent += 1
        said = {"message_id": self.sent, "real_id": self.sent, "time": 1, "message_type": "group"}
        sender = {"user_id": BOT, "nickname": "小忆", "card": "", "role": "member"}
        self.client.said[self.sent] = {**said, "message": params["message"], "sender": sender}
        return {"message_id": self.sent}

    async def answered(self, one: Asked) -> Spoken:
        """Send a command, and the lines before it; return what came back."""
        for text in one.before:
            await self._say(one, text)
        if one.pause:
            await asyncio.sleep(one.pause)
        seen = len(self.client.calls)
        await self._say(one, one.text, replied=self.sent if one.replies else 0)
        spoken = Spoken(one)
        for api, params in await self._answers(seen):
            await asyncio.to_thread(self._take, spoken, api, params)
        return spoken

    async def _say(self, one: Asked, text: str, *, replied: int = 0) -> None:
        more: dict[str, Any] = {} if one.is_private else {"group": GROUP, "group_name": GROUP_NAME}
        if replied:
            parts = (("reply", {"id": str(replied)}), ("at", {"qq": str(BOT)}), ("text", {"text": text}))
            more["message"] = [{"type": kind, "data": data} for kind, data in parts]
        await self.client.say(text, user=one.person.id, name=one.person.name, **more)

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
