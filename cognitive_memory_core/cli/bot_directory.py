"""Finds the settings in .env and the data directory in the same way as the bot, and opens the directory."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

from dotenv import dotenv_values

from .. import sentences
from ..directory_owner import LEDGER, is_owned
from ..errors import BadArgument, CognitiveMemoryError, DirectoryInUse
from ..memory.cognitive_memory import CognitiveMemory
from ..settings.configuration import Configuration, decoded, env_settings
from ..settings.schema import Settings
from .main import PLUGIN
from .parser import FAILED, refuse

ENVIRONMENT = "prod"  # NoneBot's own default


@dataclass(frozen=True)
class BotDirectory:
    """The files of a bot: ``files`` are the .env files that exist, ``variables`` their content by lower-case name.

    Settings of the process environment win, as they do in the bot. ``given_dir`` is the directory given with --data.
    """

    home: Path
    files: tuple[Path, ...]
    variables: Mapping[str, str]
    environ: Mapping[str, str]
    given_dir: Path | None = None
    is_offline: bool = False  # no model may be called

    def value(self, name: str) -> str:
        """Return the value of a variable by its name in lower case; "" if it is not set."""
        return self.environ.get(name) or self.variables.get(name, "")

    @property
    def given(self) -> Mapping[str, object]:
        """The memory's settings from .env and the environment, by dotted key."""
        return {**env_settings(self.variables), **env_settings(self.environ)}

    @property
    def place(self) -> Path:
        """The data directory, which may be missing: that of --data or of .env, else the usual one."""
        return self.given_dir or self.set_dir or shared_dir()

    @property
    def data_dir(self) -> Path:
        """The data directory; raises BadArgument if neither --data nor .env names it and the usual one is missing."""
        if not (self.given_dir or self.set_dir or self.place.is_dir()):
            raise BadArgument(sentences.command_line.NO_DATA_DIR)
        return self.place

    @property
    def has_ledger(self) -> bool:
        """Whether a bot has stored something in the data directory."""
        return (self.place / LEDGER).is_file()

    @property
    def existing_dir(self) -> Path:
        """The data directory; raises BadArgument if it has no ledger."""
        data_dir = self.data_dir
        if not self.has_ledger:
            raise BadArgument(sentences.command_line.NO_LEDGER.format(path=data_dir))
        return data_dir

    @property
    def set_dir(self) -> Path | None:
        """The data directory that .env or the environment sets; None if neither does."""
        own = decoded(self.value("localstore_plugin_data_dir"))
        if isinstance(own, dict) and PLUGIN in own:
            return (self.home / Path(str(cast("dict[str, object]", own)[PLUGIN])).expanduser()).absolute()
        if folder := self.value("localstore_data_dir"):
            return (self.home / Path(folder).expanduser()).absolute() / PLUGIN
        is_here = self.value("localstore_use_cwd").strip().lower() in {"true", "1", "yes", "on", "y", "t"}
        return self.home / "data" / PLUGIN if is_here else None

    @cached_property
    def configuration(self) -> Configuration:
        """The settings in force in a bot that starts now; raises BadArgument."""
        return Configuration(self.given, self.place if self.place.is_dir() else None)

    @property
    def settings(self) -> Settings:
        """The settings in force; raises BadArgument."""
        return self.configuration.settings


def bot_directory(arguments: argparse.Namespace) -> BotDirectory:
    """Read the .env files that the arguments name; raises BadArgument for one that is missing or unreadable."""
    environ = {name.lower(): value for name, value in os.environ.items()}
    named: Path | None = arguments.env
    if named is not None and not named.is_file():
        raise BadArgument(sentences.command_line.NO_SUCH_FILE.format(path=named))
    first = (named or Path(".env")).absolute()
    variables = _variables(first)
    which = environ.get("environment") or variables.get("environment") or ENVIRONMENT
    files = [first] if named else [first, first.with_name(f".env.{which}")]
    for file in files[1:]:
        variables |= _variables(file)
    data: Path | None = arguments.data
    found, is_offline = tuple(file for file in files if file.is_file()), getattr(arguments, "offline", False)
    return BotDirectory(first.parent, found, variables, environ, data and data.absolute(), is_offline)


def shared_dir() -> Path:
    """Return the directory that localstore uses if none is set; all bots of a system user share it."""
    if os.name == "nt":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif (Path.home() / "Library" / "Application Support").is_dir():
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "nonebot2" / PLUGIN


def _variables(file: Path) -> dict[str, str]:
    if not file.is_file():
        return {}
    try:
        found = dotenv_values(file, encoding="utf-8")
    except (OSError, UnicodeDecodeError) as unreadable:
        words = sentences.command_line
        reason = words.NOT_UTF8 if isinstance(unreadable, UnicodeDecodeError) else words.NOT_READABLE
        raise BadArgument(sentences.caller.UNREADABLE_FILE.format(path=file, reason=reason)) from unreadable
    return {name.lower(): value for name, value in found.items() if value is not None}


def finished(work: Callable[[argparse.Namespace, BotDirectory], Awaitable[int]], arguments: argparse.Namespace) -> int:
    """Run a subcommand on the bot's directory and return its status; say every expected failure in one sentence."""

    async def worked() -> int:
        return await work(arguments, bot_directory(arguments))

    logging.getLogger("cognitive_memory_core").addHandler(logging.NullHandler())
    try:
        return asyncio.run(worked())
    except DirectoryInUse:
        return refuse(sentences.command_line.BOT_IS_RUNNING)
    except CognitiveMemoryError as refused:
        return refuse(refused)
    except BrokenPipeError:
        return FAILED
    except KeyboardInterrupt:
        return refuse(sentences.command_line.INTERRUPTED)


@asynccontextmanager
async def owning(
    bot: BotDirectory, *, creates: bool = False, background: bool = False
) -> AsyncGenerator[CognitiveMemory, None]:
    """Open the directory as its owner; raises DirectoryInUse while a bot owns it.

    The settings are the bot's, with ``enabled`` on and ``shutdown_seconds`` 0, so that the command waits for no jobs.
    """
    data_dir, settings = bot.data_dir if creates else bot.existing_dir, bot.settings
    if await asyncio.to_thread(is_owned, data_dir):
        raise DirectoryInUse
    historian = settings.historian.model_copy(update={"shutdown_seconds": 0.0})
    settings = settings.model_copy(update={"historian": historian, "enabled": True})
    async with CognitiveMemory.open(settings, data_dir, background=background) as memory:
        yield memory
