"""What a check finds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from ...configuration import Configuration
from ...errors import BadArgument
from ..bot_directory import BotDirectory

Level = Literal["fine", "hint", "fault"]


@dataclass(frozen=True)
class Finding:
    """One sentence on what was found; a hint or a fault also says what to do."""

    level: Level
    what: str
    advice: str = ""


@dataclass
class ExaminedBot:
    """What is examined: a bot's files and variables; ``is_offline`` forbids calls of models."""

    bot: BotDirectory
    is_offline: bool = False

    @cached_property
    def configuration(self) -> Configuration | None:
        """The settings in force; None if the bot would refuse them."""
        try:
            return self.bot.configuration()
        except BadArgument:
            return None


Check = Callable[[ExaminedBot], Iterable[Finding] | AsyncIterator[Finding]]
"""Yields findings, nothing if there is nothing to say; one that is not asynchronous may block."""
