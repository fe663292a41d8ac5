"""Reads settings from NoneBot and the process environment, and the data directory; both once, at import."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nonebot import get_driver, logger
from nonebot_plugin_localstore import get_plugin_data_dir
from pydantic import BaseModel, Field

import cognitive_memory_core as core

from . import replies

FIELD = "cognitive_memory"
_NESTED = FIELD + "__"


class Config(BaseModel):
    """The plugin's part of NoneBot's settings: ``COGNITIVE_MEMORY__GROUP__KEY`` lines of .env, nested."""

    cognitive_memory: dict[str, Any] = Field(default_factory=dict)


@dataclass(frozen=True)
class Setup:
    """The values that the plugin starts with; a ``problem`` is one Chinese line and keeps the memory absent."""

    settings: core.Settings
    data_dir: Path | None
    problem: str = ""


def read_setup(given: object, environ: Mapping[str, str], data_dir: Path | None) -> Setup:
    """Read settings from NoneBot's ``cognitive_memory`` value and the environment, which wins; never raises.

    NoneBot reads the environment only for keys that are also in .env, so the rest is read here.
    """
    if given is not None and not isinstance(given, Mapping):
        return Setup(core.Settings(), data_dir, replies.log.SETTINGS_ARE_NO_GROUP)
    mapping = _merged(given or {}, _from_environment(environ))
    try:
        settings = core.Settings.from_mapping(mapping)
    except core.BadArgument as refused:
        return Setup(core.Settings(), data_dir, str(refused))
    _warn(mapping, settings)
    return Setup(settings, data_dir, "" if data_dir else replies.log.NO_DIRECTORY)


def _warn(mapping: Mapping[str, object], settings: core.Settings) -> None:
    if unknown := core.unknown_keys(mapping):
        logger.warning(replies.log.logged(replies.log.unknown_settings(unknown)))
    if dormant := core.dormant_keys(settings):
        logger.warning(replies.log.logged(replies.log.dormant_settings(dormant)))


def _from_environment(environ: Mapping[str, str]) -> Mapping[str, object]:
    found: dict[str, object] = {}
    for name, value in sorted((name.lower(), value) for name, value in environ.items()):
        if name == FIELD and isinstance(whole := _decoded(value), dict):
            found.update(whole)
        elif name.startswith(_NESTED):
            _put(found, name.removeprefix(_NESTED).split("__"), _decoded(value))
    return found


def _put(group: dict[str, object], path: list[str], value: object) -> None:
    *parents, key = path
    for parent in parents:
        child = group.get(parent)
        if not isinstance(child, dict):
            child = group[parent] = {}
        group = child
    group[key] = value


def _decoded(value: str) -> object:
    """Decode a value as NoneBot decodes a line of .env: as JSON if possible, else as text."""
    try:
        return json.loads(value.strip())
    except ValueError:
        return value


def _merged(under: Mapping[str, object], over: Mapping[str, object]) -> Mapping[str, object]:
    merged = dict(under)
    for key, value in over.items():
        below = merged.get(key)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            value = _merged(below, value)  # noqa: PLW2901  # the two groups, joined
        merged[key] = value
    return merged


def _data_dir() -> Path | None:
    """Return localstore's directory for this plugin; localstore inspects its caller, so only this module asks."""
    try:
        return get_plugin_data_dir()
    except (OSError, RuntimeError):
        return None


setup = read_setup(getattr(get_driver().config, FIELD, None), os.environ, _data_dir())
if setup.problem:
    logger.error(replies.log.logged(setup.problem))
