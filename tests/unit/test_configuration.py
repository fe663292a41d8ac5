"""Tests of settings that are changed at run time and kept in overrides.json."""

from __future__ import annotations

import errno
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from cognitive_memory_core.domain.figures import Price
from cognitive_memory_core.errors import BadArgument, StorageRefused
from cognitive_memory_core.settings.configuration import (
    OVERRIDES_FILE,
    Configuration,
    found_key,
    setting_keys,
)
from cognitive_memory_core.settings.schema import Settings
from tests.support.disk import Fault, FaultyDisk


def stored(folder: Path) -> Any:
    """Return what overrides.json holds."""
    return json.loads((folder / OVERRIDES_FILE).read_text("utf-8"))


def write(folder: Path, text: str) -> None:
    """Write overrides.json as an operator would."""
    (folder / OVERRIDES_FILE).write_text(text, "utf-8")


def test_a_change_acts_is_stored_and_wins_over_env(tmp_path: Path) -> None:
    """A changed key has its new value at once and after the next start, whatever .env says."""
    configuration = Configuration({"query": {"auto_top_k": 5}}, tmp_path)
    moved = configuration.change("query.auto_top_k", "3")
    assert (moved.changed, moved.waiting, moved.problems) == (("query.auto_top_k",), (), ())
    assert configuration.settings.query.auto_top_k == 3
    assert stored(tmp_path) == {"query.auto_top_k": 3}
    assert (tmp_path / OVERRIDES_FILE).stat().st_mode & 0o777 == 0o600
    again = Configuration({"query": {"auto_top_k": 7}}, tmp_path)
    assert again.settings.query.auto_top_k == 3
    assert again.overridden == {"query.auto_top_k": "3"}
    state = again.state("query.auto_top_k")
    assert (state.value, state.default, state.env_value, state.is_overridden) == ("3", "8", "7", True)


@pytest.mark.parametrize("name", ["query.auto_top_k", "QUERY__AUTO_TOP_K", "COGNITIVE_MEMORY__QUERY__AUTO_TOP_K"])
def test_a_key_is_known_in_every_spelling(name: str) -> None:
    """A key is accepted as in the table, as in .env, and by its last part where that is unique."""
    assert found_key(name) == found_key(" auto_top_k ") == "query.auto_top_k"


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("query.auto_top_k", "很多", "应为整数"),
        ("query.auto_top_k", "", "要设成什么"),
        ("query.auto_top_k", "null", "要设成什么"),
        ("query.auto_top_k", "9" * 5_000, "太长"),
        ("query.auto_top_k", "[" * 3_000, "query.auto_top_k"),
        ("query.time_decay_boost", "Infinity", "不能大于"),
        ("query.diversity", "NaN", "query.diversity"),
        ("query.auto_topk", "5", "是不是 query.auto_top_k"),
        ("query", "5", "具体的键"),
        ("../../etc/passwd", "5", "没有"),
        ("", "5", "没有"),
        ("daily_calls", "5", "重启后生效"),
        ("models.historian.api_key", "sk-canary", "重启后生效"),
    ],
)
def test_what_cannot_be_set_is_one_sentence(tmp_path: Path, name: str, text: str, told: str) -> None:
    """Blank, mistyped, oversized and unknown input is refused with one Chinese line, and nothing is stored."""
    configuration = Configuration({}, tmp_path)
    with pytest.raises(BadArgument) as refused:
        configuration.change(name, text)
    said = str(refused.value)
    assert told in said
    assert "\n" not in said
    assert len(said) < 200
    assert "canary" not in said
    assert configuration.settings == Settings()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", ["{", "[1]", "5", "", "\ufeff{\x00", "[" * 100_000])
def test_a_damaged_file_is_named_and_kept(tmp_path: Path, content: str) -> None:
    """An unreadable overrides.json is named in one sentence and kept beside the next one."""
    write(tmp_path, content)
    configuration = Configuration({"query": {"auto_top_k": 5}}, tmp_path)
    [problem] = configuration.problems
    assert OVERRIDES_FILE in problem
    assert "\n" not in problem
    assert configuration.settings.query.auto_top_k == 5
    assert (tmp_path / OVERRIDES_FILE).read_text("utf-8") == content
    configuration.change("query.auto_top_k", "3")
    assert stored(tmp_path) == {"query.auto_top_k": 3}
    assert (tmp_path / f"{OVERRIDES_FILE}.damaged").read_text("utf-8") == content


def test_what_is_not_used_is_named_and_kept(tmp_path: Path) -> None:
    """An unknown, cold or bad key of overrides.json is named, does not act, and stays when others change."""
    content = {"query.auto_topk": 1, "daily_calls": 5, "query.diversity": "x", "query.auto_top_k": 4, "a\nb": 1}
    write(tmp_path, json.dumps(content))
    configuration = Configuration({}, tmp_path)
    assert len(configuration.problems) == 4
    assert not [problem for problem in configuration.problems if "\n" in problem]
    assert configuration.overridden == {"query.auto_top_k": "4"}
    assert configuration.settings.daily_calls == Settings().daily_calls
    configuration.change("query.profile_top_k", "2")
    assert stored(tmp_path) == {**content, "query.profile_top_k": 2}
    configuration.reset("query.auto_topk")
    assert "query.auto_topk" not in stored(tmp_path)


def test_a_refusing_disk_loses_nothing(tmp_path: Path) -> None:
    """Whichever operation the disk refuses, a change is refused in one sentence and the file is whole."""
    Configuration({}, tmp_path).change("query.auto_top_k", "3")
    for at in range(100):
        disk = FaultyDisk()
        configuration = Configuration({}, tmp_path, disk=disk)
        disk.arm(Fault(at, errno.ENOSPC))
        with suppress(StorageRefused):
            configuration.change("query.profile_top_k", "4")
        if not disk.has_struck:
            break
        assert stored(tmp_path)["query.auto_top_k"] == 3
        assert [path.name for path in tmp_path.iterdir()] == [OVERRIDES_FILE]
        write(tmp_path, '{"query.auto_top_k": 3}')
    assert at > 3
    assert stored(tmp_path) == {"query.auto_top_k": 3, "query.profile_top_k": 4}


def test_another_env_moves_hot_keys_only(tmp_path: Path) -> None:
    """After a reload hot keys of .env act, cold ones wait for a restart, and overridden ones are named."""
    configuration = Configuration({}, tmp_path)
    configuration.change("query.profile_top_k", "2")
    moved = configuration.reload({"query": {"auto_top_k": 4, "profile_top_k": 6}, "daily_calls": 7})
    assert moved.changed == ("query.auto_top_k",)
    assert moved.waiting == ("daily_calls",)
    assert moved.shadowed == ("query.profile_top_k",)
    assert (configuration.settings.query.auto_top_k, configuration.settings.query.profile_top_k) == (4, 2)
    assert configuration.settings.daily_calls == Settings().daily_calls
    [problem] = configuration.reload({"query": {"auto_top_k": "很多"}}).problems
    assert "COGNITIVE_MEMORY__QUERY__AUTO_TOP_K" in problem
    assert configuration.settings.query.auto_top_k == 4


def test_secrets_are_not_shown() -> None:
    """Keys and tokens are hidden, whether they are set or not shown as blank."""
    given = {"models": {"historian": {"api_key": "canary", "extra_body": {"k": "canary"}}}}
    configuration = Configuration(given, None)
    shown = [configuration.state(key) for key in setting_keys()]
    assert "canary" not in repr(shown)
    assert configuration.state("models.historian.api_key").value
    assert configuration.state("models.triage.api_key").value == ""


def test_every_value_is_shown_as_env_would_write_it() -> None:
    """What a setting shows, written into .env, gives the same settings; a model's price is among them."""
    given = {"models": {"historian": {"price": "2/8"}, "embedding": {"price": 0.5}}, "capture": {"groups": "1,2"}}
    configuration = Configuration(given, None)
    assert configuration.state("models.historian.price").value == "2/8"
    price = configuration.state("models.embedding.price").value
    assert Settings.from_mapping({"models": {"embedding": {"price": price}}}).models.embedding.price == Price(0.5, 0.5)
    assert all(configuration.state(key) for key in setting_keys())
