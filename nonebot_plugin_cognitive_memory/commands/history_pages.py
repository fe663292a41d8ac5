"""Reads back what was said in a place, page by page, from the history that a OneBot end keeps.

Pages come backwards from the newest, in each end's dialect: ends differ in what an older page is asked for by. An
answer is never believed: what is no message of the place is skipped, a page that only repeats ends the history, and
its size is bounded.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any, cast

from nonebot.adapters import Bot
from nonebot.compat import type_validate_python
from nonebot.exception import AdapterException

import cognitive_memory_core as core

from .. import heard
from ..command_table import chat_text
from ..config import setup
from ..heard import line_number, sent_at
from ..onebot import v11, worded
from ..scene import find_scene, line_id

PAUSE = 1.5  # seconds between two calls
PATIENCE = 30.0  # seconds for one answer
LATEST = 4_102_444_800  # the year 2100; a later time is an error
LARGEST = 2_000  # lines of one page that are looked at
Line = Mapping[str, Any]


class HistoryRefused(Exception):
    """The end has no history for the bot, or stopped answering; the argument is the error's name."""


_LIGHT = {"disable_get_url": True, "parse_mult_msg": False}  # no addresses of files, no contents of forwarded chats
DIALECTS = {  # by the beginning of the name of the end: the lines of a page, and by what an older one is asked for
    "napcat": (100, "id as number"),
    "llonebot": (50, "number"),
    "llbot": (50, "number"),
    "lagrange": (20, "id"),
    "snowluma": (20, "id"),
}
UNKNOWN = (20, "both")


def older_than(line: Line, by: str) -> dict[str, object]:
    """Return how lines before a line are asked for: up to the number before its own, or by it, then the page has it.

    Some ends take the id of a line under the name of the number. An unknown end gets both, and the number if the line
    has one that is not its id.
    """
    if by == "number":
        number = str(line.get("message_seq", ""))
        return {"message_seq": max(int(number) - 1, 1) if number.isdigit() else number}
    by_id = {"message_id": line["message_id"]}
    if by == "id":
        return by_id
    number = line_number(line) if by == "both" else ""
    by_number = {**_LIGHT, "message_seq": number or line["message_id"], "reverse_order": True, "reverseOrder": True}
    return {**by_number, **(by_id if by == "both" else {})}


async def history_pages(bot: Bot, scene: core.Scene, most: int) -> AsyncIterator[list[Line]]:
    """Yield the lines of a place in pages, the newest page first, ``most`` of them; each line once.

    Some ends refuse to give more lines than there are: a refusal is answered by asking for fewer. Raises HistoryRefused
    if the end gives none, or does not answer.
    """
    try:
        told = await asyncio.wait_for(bot.call_api("get_version_info"), PATIENCE)
    except (AdapterException, asyncio.TimeoutError):
        told = None
    end = str(told.get("app_name", "")).casefold() if isinstance(told, Mapping) else ""
    count, by = next((known for start, known in DIALECTS.items() if end.startswith(start)), UNKNOWN)
    api, place = "get_friend_msg_history", {"user_id": int(scene.user_id)}
    if scene.group_id:
        api, place = "get_group_msg_history", {"group_id": int(scene.group_id)}
    asked: dict[str, object] = {**_LIGHT} if by in ("id as number", "both") else {}
    seen = set[str]()
    while len(seen) < most:
        try:
            answer = await asyncio.wait_for(bot.call_api(api, **place, **asked, count=count), PATIENCE)
        except v11.ActionFailed as refused:
            fewest = 2 if seen else 1  # an older page contains the line by which it is asked for
            if count > fewest:
                count = max(count // 2, fewest)
                await asyncio.sleep(PAUSE)
                continue
            if seen:
                return
            wording = refused.info.get("wording") or refused.info.get("message") or type(refused).__name__
            raise HistoryRefused(str(wording)[:80]) from refused
        except (AdapterException, asyncio.TimeoutError) as silent:
            raise HistoryRefused(type(silent).__name__) from silent
        page = _lines(answer, scene)
        fresh = {str(line["message_id"]): line for line in page if str(line["message_id"]) not in seen}
        if not fresh:
            return
        yield sorted(fresh.values(), key=_order)[len(seen) - most :]
        seen.update(fresh)
        asked = older_than(min(page, key=_order), by)
        await asyncio.sleep(PAUSE)


def _lines(answer: object, scene: core.Scene) -> list[Line]:
    """Return those items of an answer that are messages of the place."""
    listed = answer.get("messages") if isinstance(answer, Mapping) else answer
    items = cast("list[object]", listed)[-LARGEST:] if isinstance(listed, list) else []
    lines = [cast("Line", item) for item in items if isinstance(item, Mapping)]
    return [
        line
        for line in lines
        if isinstance(line.get("message_id"), int | str)
        and isinstance(line.get("time"), int | float)
        and 0 < line["time"] < LATEST
        and str(line.get("group_id") or scene.group_id) == scene.group_id
    ]


def _order(line: Line) -> tuple[float, int]:
    return line["time"], int(line_number(line) or 0)


def past_message(bot: Bot, scene: core.Scene, line: Line) -> core.Message | str:
    """Return a line of the history as a message, as it would have been recorded; else why it is none."""
    private = {"message_type": "private", "sub_type": "friend"}
    group = {"message_type": "group", "sub_type": "normal", "group_id": scene.group_id}
    fields = {"raw_message": "", "font": 0, **line, "self_id": bot.self_id, **(group if scene.group_id else private)}
    sender = line.get("sender")
    person = line.get("user_id") or (sender.get("user_id") if isinstance(sender, Mapping) else None)
    if line.get("post_type") == "message_sent" or str(person) == bot.self_id:
        return "own"
    if not _is_content(line.get("message")):
        return "unreadable"
    try:
        kind = v11.GroupMessageEvent if scene.group_id else v11.PrivateMessageEvent
        event: Any = type_validate_python(kind, {**fields, "post_type": "message", "user_id": person})
    except ValueError:
        return "unreadable"
    said_by = find_scene(bot, event)
    if said_by is None or said_by.scope != scene.scope:  # another account of this bot, or nobody
        return "own" if said_by is None else "unreadable"
    wording = worded(event.message, bot.self_id, lambda user_id: heard.name_of(scene, user_id))
    text = chat_text(event.get_plaintext(), wording.text, setup.settings.capture.chat_commands)
    if text is None:
        return "command"
    return core.Message(
        line_id(event.message_id),
        said_by,
        text,
        sent_at(event),
        reply_to=line_id(wording.reply_to) if wording.reply_to else None,
        addressed_to_bot=not scene.group_id or bot.self_id in wording.mentioned,
        number=line_number(line) if scene.group_id else "",
    )


def _is_content(message: object) -> bool:
    """Return whether a message is a text, or a list of segments with types and fields."""
    segments = cast("list[object]", message) if isinstance(message, list) else [None]
    return isinstance(message, str) or all(
        isinstance(one, Mapping) and isinstance(one.get("type"), str) and isinstance(one.get("data", {}), Mapping)
        for one in cast("list[Mapping[str, object] | None]", segments)
    )
