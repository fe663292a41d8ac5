"""The settings, read from the bot's configuration; models that chat plugins lend; small files, each one JSON value."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from nonebot import get_driver, logger
from nonebot.config import Config as NoneBotConfig
from nonebot_plugin_localstore import get_plugin_data_dir
from pydantic import BaseModel, Field, SecretStr

import cognitive_memory_core as core

from . import replies
from .limits import warn_once

MOST_BYTES = 16 * 1024 * 1024
T = TypeVar("T", bound=dict[Any, Any] | list[Any])


class JsonFile(Generic[T]):
    """A small file of one JSON value, which is empty while the file is missing, damaged or of another kind.

    ``value`` is what was read or written last. The file is readable by its owner only.
    """

    def __init__(self, path: Path, kind: type[T]) -> None:
        """Keep a value of this kind at ``path``."""
        self.value = self._written = kind()
        self._path = path
        self._kind = kind
        self._is_read = False
        self._turn = asyncio.Lock()
        self._writing = threading.Lock()  # a write whose task was cancelled continues in its thread

    async def read(self) -> T:
        """Return the value, read from the file at the first call."""
        async with self._turn:
            if not self._is_read:
                self.value = self._written = await asyncio.to_thread(self._parsed)
                self._is_read = True
        return self.value

    async def change(self, to: Callable[[T], T]) -> None:
        """Replace the value, also in the file, where a reader finds the old or the new one.

        Raises OSError if the file cannot be written; the value is the new one all the same. The file is not synced: a
        power cut may leave the old value, or nothing that can be read.
        """
        await self.read()
        async with self._turn:
            self.value = value = to(self.value)
            if value != self._written:
                await asyncio.to_thread(self._write, value)
                self._written = value

    def _parsed(self) -> T:
        with suppress(OSError, ValueError, RecursionError):
            if self._path.stat().st_size <= MOST_BYTES:
                value = json.loads(self._path.read_text("utf-8"))
                return value if isinstance(value, self._kind) else self._kind()
        return self._kind()

    def _write(self, value: T) -> None:
        with self._writing:
            draft = self._path.with_suffix(".tmp")
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(json.dumps(value))  # several times as quick as json.dump
            draft.replace(self._path)


FIELD = "cognitive_memory"


class Config(BaseModel):
    """The plugin's part of NoneBot's settings: ``COGNITIVE_MEMORY__GROUP__KEY`` lines of .env, nested."""

    cognitive_memory: dict[str, Any] = Field(default_factory=dict)


@dataclass
class Setup:
    """The data directory and the current settings, which are replaced as a whole when a hot setting changes.

    ``problem`` is one Chinese line on why there is no memory, else "". Without a problem ``configuration`` is set.
    """

    settings: core.Settings
    data_dir: Path | None
    problem: str = ""
    configuration: core.Configuration | None = None


def read_setup(given: object, environ: Mapping[str, str], data_dir: Path | None) -> Setup:
    """Read settings from NoneBot's ``cognitive_memory`` value, overridden by the environment; never raises.

    NoneBot reads the environment only for keys that are also in .env; the others are read here.
    """
    if given is not None and not isinstance(given, Mapping):
        return Setup(core.Settings(), data_dir, replies.log.SETTINGS_ARE_NO_GROUP)
    mapping = {**core.flat_settings(given or {}), **core.env_settings(environ)}
    try:
        configuration = core.Configuration(mapping, data_dir)
    except core.BadArgument as refused:
        return Setup(core.Settings(), data_dir, str(refused))
    for problem in configuration.problems:
        logger.warning(replies.log.logged(problem))
    if unknown := replies.log.env_names(core.unknown_keys(mapping)):
        logger.warning(replies.log.logged(replies.log.UNKNOWN_SETTINGS.format(names=unknown)))
    return Setup(configuration.settings, data_dir, "" if data_dir else replies.log.NO_DIRECTORY, configuration)


def settings_again(environ: Mapping[str, str]) -> Mapping[str, object]:
    """Read NoneBot's files again and return their settings, overridden by the environment; blocking.

    Values that bot.py passed to ``nonebot.init`` win over the files, as at the start. Raises ValueError for a file that
    NoneBot cannot parse, or if the files' value of ``cognitive_memory`` is not a mapping.
    """
    given = _of_files(get_driver().config)
    if given is not None and not isinstance(given, Mapping):
        raise ValueError(replies.log.SETTINGS_ARE_NO_GROUP)
    return {**core.flat_settings(given or {}), **_passed_to_init, **core.env_settings(environ)}


def _of_files(config: NoneBotConfig) -> object:
    return getattr(type(config)(_env_file=ENV_FILES), FIELD, None)


def _init_values(config: NoneBotConfig) -> Mapping[str, object]:
    """Return the settings that bot.py passed to ``nonebot.init``: those not from NoneBot's files; {} if unreadable."""
    given = getattr(config, FIELD, None)
    try:
        of_files = _of_files(config)
    except (ValueError, OSError):
        return {}
    known = core.flat_settings(of_files) if isinstance(of_files, Mapping) else {}
    passed = core.flat_settings(given) if isinstance(given, Mapping) else {}
    return {key: value for key, value in passed.items() if known.get(key) != value}


def warn_of_prefixes(names: Iterable[str]) -> None:
    """Log the variables that were meant for this plugin but have only one underscore after its name."""
    single, right = FIELD.upper() + "_", FIELD.upper() + "__"
    upper = {name.upper() for name in names}
    if wrong := "、".join(sorted(name[:80] for name in upper if name.startswith(single) and right not in name)):
        logger.warning(replies.log.logged(replies.log.WRONG_PREFIXES.format(names=wrong)))


_named = get_driver().config._env_file  # noqa: SLF001  # NoneBot keeps its files' names nowhere else
_names = [_named] if isinstance(_named, str | os.PathLike) else _named or ()
ENV_FILES = tuple(Path(name).expanduser().absolute() for name in _names)  # whether or not they exist
_passed_to_init = _init_values(get_driver().config)
_data_dir: Path | None = None
with suppress(OSError, RuntimeError):
    _data_dir = get_plugin_data_dir()  # localstore knows the plugin by this module
setup = read_setup(getattr(get_driver().config, FIELD, None), os.environ, _data_dir)
warn_of_prefixes([*os.environ, *get_driver().config.model_dump()])
if setup.problem:
    logger.error(replies.log.logged(setup.problem))


OPENAI = "https://api.openai.com/v1"  # where OpenAI's SDK asks if no address is set
SECONDS = 2.0  # that a chat plugin may take to read its settings
_lenders: dict[str, Callable[[], Awaitable[core.LentModel | None]]] = {}


def add_lender(name: str, lent: Callable[[], Awaitable[core.LentModel | None]]) -> None:
    """Let an attached chat plugin lend the model that ``lent`` returns; its name is that of its bridge."""
    _lenders[name] = lent


def lender_names() -> tuple[str, ...]:
    """Return the attached chat plugins from which the historian may borrow by its setting, in their order."""
    borrow = setup.settings.models.historian.borrow
    return tuple(name for name in _lenders if borrow in ("auto", name))


async def lent_model() -> core.LentModel | None:
    """Return the model of the first of :func:`lender_names` whose settings name a usable one; None if none does."""
    for name in lender_names():
        try:
            lent = await asyncio.wait_for(_lenders[name](), SECONDS)
        except Exception as unforeseen:  # noqa: BLE001  # a chat plugin's settings may raise anything; the rules go on
            warn_once(replies.chat_plugins.NOT_LENT.format(name=name, reason=type(unforeseen).__name__))
            continue
        if lent is not None and lent.is_usable:
            return lent
    return None


def lent_by(name: str, address: object, key: object, model: object, proxy: object = "") -> core.LentModel | None:
    """Return what a chat plugin's settings say; None if address, key or model is missing, or a part is no text."""
    given = [part.get_secret_value() if isinstance(part, SecretStr) else part for part in (address, key, model, proxy)]
    url, secret, model_name, through = (part.strip() if isinstance(part, str) else "" for part in given)
    if not (url and secret and model_name) or not isinstance(proxy or "", str | SecretStr):
        return None
    return core.LentModel(name, url, secret, model_name, through)
