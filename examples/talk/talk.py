"""Talk to a bot without QQ: a OneBot v11 client that sends what you type and prints what the bot answers.

``python talk.py [address]``; the address is ws://127.0.0.1:8080/onebot/v11/ws if none is given. Needs ``websockets``.
A line is ``name: words`` in the group, ``@name: words`` in the group and to the bot, or ``name> words`` in private;
``2#name: words`` is said in a second group.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from itertools import count
from typing import Any
from zlib import crc32

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

BOT, GROUP, GROUP_NAME = 3850617294, 618203471, "山脚读书会"
LINE = re.compile(r"(@?)\s*(?:(\d)#)?\s*(.+?)\s*([:：>》])\s*(.+)")
OWNER = 10001  # of the group and, if .env says so, SUPERUSER
PEOPLE = {"豆沙": OWNER, "米粒": 10002, "阿禾": 10003}
numbers = count(int(time.time()) % 1_000_000_000)


def number_of(name: str) -> int:
    """Return the number of a person, which is the same in every run."""
    return PEOPLE.get(name) or 20_000 + crc32(name.encode()) % 1_000_000


def event_of(line: str) -> dict[str, Any] | None:
    """Return the OneBot event of a typed line, None if it names nobody."""
    found = LINE.fullmatch(line.strip())
    if found is None:
        return None
    called, group, name, mark, words = found.groups()
    person = number_of(name)
    is_private = mark in ">》"
    role = "owner" if person == OWNER else "member"
    place: dict[str, Any] = {"message_type": "private", "sub_type": "friend"}
    if not is_private:
        place = {"message_type": "group", "sub_type": "normal", "group_id": GROUP + int(group or 1) - 1}
    to_bot = [{"type": "at", "data": {"qq": str(BOT)}}] * bool(called)
    return {
        **place,
        "self_id": BOT,
        "post_type": "message",
        "time": int(time.time()),
        "message_id": next(numbers),
        "user_id": person,
        "message": [*to_bot, {"type": "text", "data": {"text": words}}],
        "raw_message": words,
        "font": 0,
        "sender": {"user_id": person, "nickname": name, "card": "", "role": role},
    }


def answer_to(call: Mapping[str, Any], said: Mapping[int, Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return what a protocol client answers to an API call of the bot; None if it fails."""
    given = call["params"]
    if call["action"] == "get_msg":
        return said.get(int(given["message_id"]))
    if call["action"] == "get_group_member_info":
        return {**given, "nickname": "群友", "role": "owner" if given["user_id"] == OWNER else "member"}
    if call["action"] == "get_group_info":
        return {
            **given,
            "group_name": GROUP_NAME if given["group_id"] == GROUP else f"第 {given['group_id'] - GROUP + 1} 个群",
        }
    return {"message_id": next(numbers)}


def shown(message: object) -> str:
    """Return a message of the bot as text."""
    if isinstance(message, str):
        return message
    parts = message if isinstance(message, list) else []
    return "".join(one["data"].get("text", "[图片]") for one in parts)


async def listen(wire: ClientConnection, said: Mapping[int, Mapping[str, Any]]) -> None:
    """Answer the bot's API calls and print its messages, until the bot stops."""
    with suppress(ConnectionClosed):
        async for frame in wire:
            call = json.loads(frame)
            data = answer_to(call, said)
            status = {"status": "ok", "retcode": 0} if data else {"status": "failed", "retcode": 1200}
            await wire.send(json.dumps({**status, "data": data, "echo": call["echo"]}))
            if "message" in call["params"]:
                print(f"机器人: {shown(call['params']['message'])}", flush=True)
    print("机器人停了：它再启动以后，重新运行这个脚本", flush=True)


async def main(address: str) -> None:
    """Connect, send each typed line, and print answers until the end of the input."""
    said: dict[int, Mapping[str, Any]] = {}
    headers = {"X-Self-ID": str(BOT), "X-Client-Role": "Universal"}
    async with connect(address, additional_headers=headers) as wire:
        print(
            "连上了。群里：米粒: 你好；对机器人：@米粒: 你好；私聊：米粒> 你好；第二个群：2#米粒: 你好；退出：Ctrl+D",
            flush=True,
        )
        listening = asyncio.create_task(listen(wire, said))
        with suppress(ConnectionClosed):
            while line := await asyncio.to_thread(sys.stdin.readline):
                if (event := event_of(line)) is None:
                    print("写成「名字: 要说的话」", flush=True)
                    continue
                said[event["message_id"]] = event
                await wire.send(json.dumps(event))
        await asyncio.sleep(2)  # for the last answer
        listening.cancel()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "ws://127.0.0.1:8080/onebot/v11/ws"))
