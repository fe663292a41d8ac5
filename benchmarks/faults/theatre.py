"""One NoneBot in this process, without a network, with the plugin; events and API calls are those of tests/plugin."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

import nonebot

import cognitive_memory_core as core
from tests.support.waiting import until

if TYPE_CHECKING:
    from tests.plugin.stage import Stage

SUPERUSERS = tuple(str(number) for number in range(1_000_001, 1_001_001))
PATIENCE = 60.0  # seconds
PICTURE = "（图片）"


@asynccontextmanager
async def opened(**given: Any) -> AsyncGenerator[core.CognitiveMemory, None]:
    """Start NoneBot with the plugin and its memory in a temporary folder; possible once in a process.

    ``given`` are more arguments for ``nonebot.init``.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        nonebot.init(
            driver="~none",
            log_level="ERROR",
            superusers=set(SUPERUSERS),
            command_start={"/"},
            localstore_data_dir=folder,
            cognitive_memory={
                "capture": {"announce": "off"},
                "queue": {"turns_per_minute": 0},  # a fast machine would reach it
                "vector_store": {"backend": "exact"},
            },
            **given,
        )
        from nonebot.adapters.onebot import v11, v12  # noqa: PLC0415  # adapters after nonebot.init

        for adapter in (v11.Adapter, v12.Adapter):
            nonebot.get_driver().register_adapter(adapter)
        nonebot.load_plugin("nonebot_plugin_cognitive_memory")
        from nonebot_plugin_cognitive_memory.lifecycle import lifetime  # noqa: PLC0415  # after the plugin was loaded

        await lifetime.start()
        await until(lambda: lifetime.memory.is_running)
        try:
            yield lifetime.memory
        finally:
            await lifetime.stop()


def a_stage(protocol: str = "v11") -> Stage:
    """Return a bot account whose API calls are recorded."""
    from tests.plugin.stage import Stage  # noqa: PLC0415  # imports adapters

    return Stage(protocol)


def a_message(content: object, user: int, group: int | None = None, **fields: Any) -> Any:
    """Return a message event."""
    from tests.plugin.stage import message  # noqa: PLC0415  # imports adapters

    return message(content, user, group, **fields)


async def heard(stage: Stage, event: Any) -> str:
    """Let a bot handle an event; return what it answered, "" for nothing."""
    before = len(stage.calls)
    stage.heard = event
    await stage.bot.handle_event(event)
    return "\n".join(text for api, data in stage.calls[before:] for text in said(api, data))


def said(api: str, data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts of an API call that sends something."""
    for segment in segments(api, data):
        yield str(segment.data.get("text", "")) if segment.type == "text" else PICTURE


def segments(api: str, data: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the segments of an API call that sends something, also those of merged forwards."""
    if "forward" in api:
        for node in data.get("messages", ()):
            content = node["data"]["content"] if isinstance(node, dict) else node.data["content"]
            yield from parsed(content)
    elif api.startswith("send"):
        yield from parsed(data.get("message"))


def parsed(message: object) -> Sequence[Any]:
    """Return the segments of a message as the platform parses it: text alone may contain codes."""
    from nonebot.adapters.onebot import v11, v12  # noqa: PLC0415  # adapters after nonebot.init
    from nonebot.compat import type_validate_python  # noqa: PLC0415

    return message if isinstance(message, v12.Message) else type_validate_python(v11.Message, message)


def unhurried() -> None:
    """Let everybody call as if they had not called yet."""
    from nonebot_plugin_cognitive_memory.commands import entry  # noqa: PLC0415  # after the plugin was loaded

    entry._pace._left.clear()  # noqa: SLF001  # the row is not about the limit of calls


async def told(scene: core.Scene, *observations: str, **fields: Any) -> None:
    """Let the memory of the bot learn something in a place, and wait until it has."""
    from nonebot_plugin_cognitive_memory import get_memory  # noqa: PLC0415  # after the plugin was loaded

    await get_memory().remember(core.Turn(scene, observations=observations, **fields))
    await get_memory().drain(PATIENCE)


def a_superuser() -> int:
    """Return a superuser who has called nothing in a while."""
    return int(SUPERUSERS[next(_turns) % len(SUPERUSERS)])


_turns = count()
