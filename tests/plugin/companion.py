"""A chat plugin as an author writes one; imported by tests after NoneBot was initialised."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any

from nonebot import on_message, on_notice
from nonebot.adapters import Bot, Event
from nonebot.params import Depends

from nonebot_plugin_cognitive_memory import (
    Consider,
    CurrentScene,
    GetProfile,
    Memory,
    MemoryContext,
    MemoryTools,
    RecordEnd,
    SearchEvents,
    SearchProfiles,
)


@dataclass
class Companion:
    """The actions of its handlers, and the values that were injected."""

    says: str = ""
    says_in: int | None = None
    ends: tuple[Any, ...] | None = None
    met: dict[str, Any] = field(default_factory=dict)
    ended: list[str | None] = field(default_factory=list)

    async def everything(  # noqa: PLR0917  # every name there is
        self,
        memory: Memory,
        scene: CurrentScene,
        context: MemoryContext,
        record_end: RecordEnd,
        consider: Consider,
        search_events: SearchEvents,
        get_profile: GetProfile,
        search_profiles: SearchProfiles,
        tools: MemoryTools,
    ) -> None:
        """Receive every injected value."""
        found = dict(locals())
        self.met = {name: value for name, value in found.items() if name != "self"}

    async def speak(self, bot: Bot, event: Event) -> None:
        """Send something to the asker or to a group."""
        if self.says_in is not None:
            await bot.call_api("send_group_msg", group_id=self.says_in, message=self.says)
        elif self.says:
            await bot.send(event, self.says)

    async def end(self, record_end: RecordEnd) -> None:
        """End the turn."""
        if self.ends is not None:
            self.ended.append(await record_end(*self.ends))


@contextmanager
def listening(companion: Companion) -> Iterator[Companion]:
    """Register a chat plugin that listens to everything while the block runs."""
    matchers = [on_message(priority=50), on_notice(priority=50)]
    for matcher in matchers:
        for handler in (companion.everything, companion.speak, companion.end):
            matcher.handle()(handler)
    try:
        yield companion
    finally:
        for matcher in matchers:
            matcher.destroy()


def given(value: object) -> Any:
    """Return a dependency that gives a value, validated against the parameter's type."""

    async def give() -> object:
        return value

    return Depends(give, validate=True)


def handler_of(kind: Any, value: object, seen: list[object]) -> Any:
    """Return a handler that takes a value of a type."""

    async def handler(taken: object) -> None:
        seen.append(taken)

    handler.__annotations__["taken"] = Annotated[kind, given(value)]
    return handler
