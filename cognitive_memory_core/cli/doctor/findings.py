"""What a check finds, and the bot that it examines."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from ...configuration import Configuration
from ...lost_ledger import LEDGER
from ...settings import Settings
from ..bot_directory import BotDirectory, shared_dir


@dataclass(frozen=True)
class Finding:
    """One sentence on what was found; a hint or a fault also says what to do."""

    level: Literal["fine", "hint", "fault"]
    what: str
    advice: str = ""


def fault(what: str, advice: str, **values: object) -> Finding:
    """Return what must be corrected; the values are filled into both sentences."""
    return Finding("fault", what.format(**values), advice.format(**values))


def hint(what: str, advice: str = "", **values: object) -> Finding:
    """Return what may be meant so; the values are filled into both sentences."""
    return Finding("hint", what.format(**values), advice.format(**values))


def fine(what: str, **values: object) -> Finding:
    """Return what is in order; the values are filled in."""
    return Finding("fine", what.format(**values))


@dataclass
class ExaminedBot:
    """What is examined: a bot's files and variables; ``is_offline`` forbids calls of models."""

    bot: BotDirectory
    is_offline: bool = False

    @cached_property
    def configuration(self) -> Configuration:
        """The settings in force; raises BadArgument if the bot would refuse them."""
        return self.bot.configuration()

    @property
    def settings(self) -> Settings:
        """The settings in force; raises BadArgument as above."""
        return self.configuration.settings

    @property
    def data_dir(self) -> Path:
        """The data directory, which may be missing."""
        return self.bot.given_dir or self.bot.set_dir or shared_dir()

    @property
    def has_ledger(self) -> bool:
        """Whether a bot has stored something in the data directory."""
        return (self.data_dir / LEDGER).is_file()


Check = Callable[[ExaminedBot], Iterable[Finding] | AsyncIterator[Finding]]
"""Yields findings, nothing if there is nothing to say; one that is not asynchronous may block.

A check that needs the settings in force ends with BadArgument where there are none: another one says what is wrong.
"""
