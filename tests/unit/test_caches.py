"""Tests that caches of personal data are emptied after a person is forgotten."""

from __future__ import annotations

import functools
import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import pytest

from cognitive_memory_core import CognitiveMemory, Message, Scene, Turn
from cognitive_memory_core.recall.names import CurrentNames
from cognitive_memory_core.text.callnames import callnames
from tests.support.clock import NOON, FrozenClock
from tests.support.opened import Witness, opened
from tests.support.waiting import PATIENCE

TANG = Scene.group("10001", "2000001", user_name="阿棠棠", group_name="读书会")
OTHER = Scene.group("10001", "2000002", user_name="米粒")
SECRET = "我的银行卡密码是987654321"
WORDLESS = {"_interned", "_weight_of", "_dated", "_instant_of", "_is_said"}  # of places, terms, dates, characters


@pytest.fixture(scope="module", autouse=True)
def _thawed() -> Iterator[None]:
    """Show what the collection froze, which is hidden from get_objects."""
    gc.unfreeze()
    yield
    gc.freeze()


@functools.cache
def cached_functions(_modules: int) -> list[Any]:
    """Return all cached functions of the core that can hold messages or names, while so many modules are loaded."""
    found = [one for one in gc.get_objects() if isinstance(one, functools._lru_cache_wrapper)]
    of_functions = [one for one in found if not isinstance(one.__wrapped__, Connection)]  # those have SQL only
    ours = [one for one in of_functions if one.__module__.startswith("cognitive_memory_core.")]
    return [one for one in ours if one.__name__ not in WORDLESS and one.cache_parameters()["maxsize"]]


def filled() -> set[str]:
    """Return the names of the caches that are not empty."""
    return {one.__name__ for one in cached_functions(len(sys.modules)) if one.cache_info().currsize}


async def lived(memory: CognitiveMemory) -> None:
    """Let a person speak and others ask about it, so that every cache is filled."""
    for number in range(3):
        await memory.observe(Message(f"m{number}", TANG, SECRET, NOON))
    await memory.remember(Turn(TANG, observations=(f"阿棠棠(2000001)说{SECRET}",)))
    await memory.drain(PATIENCE)
    await memory.search_events(OTHER, "阿棠棠的银行卡密码")
    await memory.search_events(OTHER, "银行卡密码", kinds=("message",))
    await memory.context(OTHER, "阿棠棠昨天说的银行卡密码是什么")


@pytest.mark.parametrize("whole_place", [False, True])
async def test_nothing_of_whom_was_forgotten_stays_in_a_cache(tmp_path: Path, whole_place: bool) -> None:
    """After a person or a place is forgotten, the caches of texts and names are empty."""
    async with opened("exact", tmp_path, FrozenClock(), Witness()) as memory:
        await lived(memory)
        assert filled() >= {"callnames", "clean_name", "mentions", "read"}
        holders = [one for one in gc.get_objects() if isinstance(one, CurrentNames)]
        assert any(one._read for one in holders)
        await (memory.forget_scene(TANG) if whole_place else memory.forget_user(TANG, TANG.user_id))
        assert filled() == set()
        assert not any(one._read for one in holders)


async def test_a_purge_lets_go_of_what_was_remembered_meanwhile(tmp_path: Path) -> None:
    """A purge also empties what was cached by a question that ran during the erasure."""
    async with opened("exact", tmp_path, FrozenClock(), Witness()) as memory:
        await lived(memory)
        await memory.forget_user(TANG, TANG.user_id)
        callnames(TANG.user_name)
        assert filled() == {"callnames", "clean_name"}
        await (await memory._learning()).forgetting.purge_if_due()
        assert filled() == set()
