"""The settings, read from the bot's configuration."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nonebot import get_driver, logger
from nonebot.config import Config as NoneBotConfig
from nonebot_plugin_localstore import get_plugin_data_dir
from pydantic import BaseModel, Field

import cognitive_memory_core as core

from . import replies

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

    def path(self, file: str) -> Path | None:
        """Return the path of a file in the data directory; None without a directory."""
        return self.data_dir and self.data_dir / file


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
