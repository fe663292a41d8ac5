"""Bots whose API calls are recorded and answered here, and events as the platform sends them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from itertools import count
from pathlib import Path
from typing import Any

import nonebot
from nonebot import plugin as plugins
from nonebot.adapters import Event
from nonebot.adapters.onebot import v11, v12

import cognitive_memory_core as core
from tests.support.waiting import PATIENCE

BOT = 3850617294
SUPERUSER = 1000001
ANON = 80000000
Answer = Mapping[str, Any] | Exception | None
_numbers = count(1)


@dataclass
class Stage:
    """One bot account. ``answers`` holds the platform's answers to API calls; all other calls succeed.

    A call whose message contains one of ``refused_texts`` is refused. A bot of v12 hears messages of v11 as v12 sends
    them, and its platform tells the role of who spoke last when it is asked.
    """

    protocol: str = "v11"
    account: int = BOT
    answers: dict[str, Answer] = field(default_factory=dict)
    calls: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    refused_texts: list[str] = field(default_factory=list)
    bot: Any = None
    heard: Event | None = None
    spoke: v11.MessageEvent | None = None

    def __post_init__(self) -> None:
        """Connect the bot to an adapter without a network."""
        if self.protocol == "v11":
            self.bot = v11.Bot(_adapter(v11.Adapter, self._call), str(self.account))
        else:
            self.bot = v12.Bot(_adapter(v12.Adapter, self._call), str(self.account), "impl", "qq")

    async def _call(self, _bot: object, api: str, **data: Any) -> Any:
        self.calls.append((api, data))
        answer = self.answers.get(api)
        if isinstance(answer, Exception):
            raise answer
        if api == "get_msg" and answer is None and isinstance(self.heard, v11.MessageEvent):
            return _as_stored(self.heard)
        if api == "get_group_member_info" and answer is None and self.spoke is not None:
            is_theirs = data["user_id"] == str(self.spoke.user_id)
            return {"qq.role": self.spoke.sender.role if is_theirs else "member"}
        if any(text in str(data.get("message")) for text in self.refused_texts):
            raise v11.ActionFailed if self.protocol == "v11" else v12.ActionFailed
        return {"message_id": next(_numbers) + 900_000} if answer is None else answer

    async def hear(self, event: Event) -> list[str]:
        """Let the bot handle an event; return what it sent."""
        before = len(self.calls)
        if self.protocol == "v12" and isinstance(event, v11.MessageEvent):
            self.spoke, event = event, as_twelve(event)
        self.heard = event
        await self.bot.handle_event(event)
        sent = [data["message"] for api, data in self.calls[before:] if api in ("send_msg", "send_message")]
        assert all(segment.type == "text" for said in sent for segment in said), sent
        return [said.extract_plain_text() for said in sent]

    async def ask(self, text: str, user: int, group: int | None = None, **fields: Any) -> str:
        """Send a text to the bot; return its only answer, "" for none."""
        answers = await self.hear(message(text, user, group, **fields))
        assert len(answers) <= 1, answers
        return answers[0] if answers else ""


@contextmanager
def loaded_plugin(folder: Path, name: str, source: str) -> Iterator[Any]:
    """Load a plugin's module from a new file; afterwards it hears nothing more and can be loaded again.

    All tests of a process share one NoneBot, and no test knows which others the process ran before.
    """
    (folder / f"{name}.py").write_text(source, "utf-8")
    sys.path.insert(0, str(folder))
    loaded = nonebot.load_plugin(name)
    assert loaded
    try:
        yield loaded.module
    finally:
        for matcher in loaded.matcher:
            matcher.destroy()
        plugins._revert_plugin(loaded)
        plugins._managers.remove(loaded.manager)
        del sys.modules[name]
        sys.path.remove(str(folder))


async def said(scene: core.Scene, *texts: str) -> None:
    """Let the person of a scene say lines that the memory considers."""
    from nonebot_plugin_cognitive_memory import get_memory

    at = datetime.now(timezone.utc)
    await get_memory().consider(scene, [core.Message(str(new_id()), scene, text, at) for text in texts])
    assert await get_memory().drain(PATIENCE)


async def told(scene: core.Scene, *facts: str) -> None:
    """Let the memory learn facts in a scene, each of a turn of its own."""
    from nonebot_plugin_cognitive_memory import get_memory, record_end

    for fact in facts:
        assert await record_end(scene, "", [fact], source_message="")
    assert await get_memory().drain(PATIENCE)


def new_id() -> int:
    """Return an unused number."""
    return 2_000_000 + next(_numbers)


def message(content: object, user: int, group: int | None = None, **fields: Any) -> v11.MessageEvent:
    """Return a message event of OneBot v11; ``content`` is a text or a list of segments."""
    segments = content if isinstance(content, list) else [{"type": "text", "data": {"text": content}}]
    place = {"message_type": "private", "sub_type": "friend"}
    if group is not None:
        place = {"message_type": "group", "sub_type": "normal", "group_id": group}
    event = v11.Adapter.json_to_event(
        {
            "time": int(time.time()),
            "self_id": BOT,
            "post_type": "message",
            "message_id": next(_numbers),
            "user_id": user,
            "message": segments,
            "raw_message": "",
            "font": 0,
            "sender": {"user_id": user, "nickname": "阿棠", "card": "", "role": "member"},
            **place,
            **fields,
        }
    )
    assert isinstance(event, v11.MessageEvent)
    return event


def notice(notice_type: str, **fields: Any) -> Event:
    """Return a notice event of OneBot v11."""
    event = v11.Adapter.json_to_event(
        {"time": int(time.time()), "self_id": BOT, "post_type": "notice", "notice_type": notice_type, **fields}
    )
    assert event is not None
    return event


def twelve(kind: str, detail_type: str, **fields: Any) -> Event:
    """Return an event of OneBot v12."""
    event = v12.Adapter.json_to_event(
        {
            "id": f"e{next(_numbers)}",
            "time": time.time(),
            "type": kind,
            "detail_type": detail_type,
            "sub_type": "",
            "self": {"platform": "qq", "user_id": str(BOT)},
            **fields,
        },
        "impl",
    )
    assert event is not None
    return event


def twelve_message(text: str, user: str, group: str | None = None, **fields: Any) -> Event:
    """Return a message event of OneBot v12."""
    said = {
        "message_id": f"m{next(_numbers)}",
        "message": [{"type": "text", "data": {"text": text}}],
        "alt_message": text,
        "user_id": user,
        **({} if group is None else {"group_id": group}),
        **fields,
    }
    return twelve("message", "private" if group is None else "group", **said)


def as_twelve(event: v11.MessageEvent) -> Event:
    """Return a message of v11 as v12 sends it; the sender's name is an extension that some implementations send."""
    group = getattr(event, "group_id", None)
    parts = [_PARTS.get(part.type, _same)(part.data) | {} for part in event.original_message]
    kinds = [_KINDS.get(part.type, part.type) for part in event.original_message]
    said = [{"type": kind, "data": data} for kind, data in zip(kinds, parts, strict=True)]
    return twelve_message(
        "",
        str(event.user_id),
        None if group is None else str(group),
        message=said,
        alt_message=event.raw_message,
        message_id=str(event.message_id),
        time=float(event.time),
        sender={"nickname": event.sender.nickname, "card": event.sender.card},
    )


_KINDS = {"at": "mention", "record": "voice"}
_PARTS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "at": lambda data: {"user_id": str(data["qq"])},
    "reply": lambda data: {"message_id": str(data["id"])},
    "image": lambda data: {"file_id": str(data.get("file", ""))},
}


def _same(data: dict[str, Any]) -> dict[str, Any]:
    return data


def texts(messages: Sequence[Any]) -> list[str]:
    """Return the texts of messages."""
    return [each.text for each in messages]


def _adapter(kind: type[Any], call: Callable[..., Any]) -> Any:
    adapter = kind(nonebot.get_driver())
    adapter._call_api = call
    return adapter


def _as_stored(event: v11.MessageEvent) -> dict[str, Any]:
    """Return a message as the platform gives it back."""
    return {
        "message_type": event.message_type,
        "group_id": getattr(event, "group_id", None),
        "sender": {"user_id": event.user_id},
        "message": [{"type": part.type, "data": part.data} for part in event.original_message],
    }
