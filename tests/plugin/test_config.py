"""Tests of settings from NoneBot and the process environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

HERE = Path()


def read(given: Any = None, **environ: str) -> Any:
    """Return the setup for NoneBot's value and the environment."""
    from nonebot_plugin_cognitive_memory.config import read_setup

    return read_setup(given, environ, HERE)


@pytest.mark.parametrize(
    ("given", "key", "value"),
    [
        ({"agent": 123456}, "agent", "123456"),
        ({"timezone": ""}, "timezone", "Asia/Shanghai"),
        ({"enabled": "false"}, "enabled", False),
        ({"enabled": None}, "enabled", True),
        ({"query": {"auto_top_k": "5"}}, "query.auto_top_k", 5),
        ({"query": {"auto_top_k": ""}}, "query.auto_top_k", 8),
        ({"capture": {"auto_consider": False}}, "capture.auto_consider", "off"),
        ({"capture": {"groups": 10001}}, "capture.groups", ("10001",)),
        ({"capture": {"groups": "10001, 10002"}}, "capture.groups", ("10001", "10002")),
        ({"models": {"historian": {"model_name": 1e5}}}, "models.historian.model_name", "100000.0"),
    ],
)
def test_what_dotenv_makes_of_values(given: dict[str, Any], key: str, value: object) -> None:
    """Values decoded from .env as JSON are accepted: numbers for text, blanks for defaults."""
    setup = read(given)
    assert setup.problem == ""
    found: Any = setup.settings
    for part in key.split("."):
        found = getattr(found, part)
    assert found == value


def test_the_environment_alone() -> None:
    """Keys set only in the process environment are decoded and nested like those of .env."""
    setup = read(
        None,
        COGNITIVE_MEMORY__QUERY__AUTO_TOP_K="7",
        cognitive_memory__capture__groups="[10001, 10002]",
        COGNITIVE_MEMORY__AGENT=" 42 ",
        COGNITIVE_MEMORY__ENABLED="false",
        OTHER="x",
    )
    assert setup.settings.query.auto_top_k == 7
    assert setup.settings.capture.groups == ("10001", "10002")
    assert setup.settings.agent == "42"
    assert not setup.settings.enabled


def test_a_prefix_with_one_underscore_is_named(log: list[str]) -> None:
    """A variable with one underscore behind the prefix is named once; right ones and those of others are not."""
    from nonebot_plugin_cognitive_memory import config

    config.warn_of_prefixes(["cognitive_memory_query", "COGNITIVE_MEMORY_TIMEZONE"])
    config.warn_of_prefixes(["cognitive_memory", "COGNITIVE_MEMORY__TIMEZONE", "cognitive_memory__query", "PORT"])
    [line] = log
    assert line.strip().endswith("COGNITIVE_MEMORY_QUERY、COGNITIVE_MEMORY_TIMEZONE")


def test_without_a_directory() -> None:
    """If localstore gives no directory, the message names the setting to check."""
    from nonebot_plugin_cognitive_memory.config import read_setup

    assert "LOCALSTORE_DATA_DIR" in read_setup(None, {}, None).problem


def test_the_directory_is_the_plugins_own() -> None:
    """The files are in localstore's directory of this plugin, resolved once."""
    from nonebot_plugin_cognitive_memory.config import setup

    assert setup.data_dir is not None
    assert setup.data_dir.name == "nonebot_plugin_cognitive_memory"
