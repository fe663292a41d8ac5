"""A wrong argument to any method of the public API raises BadArgument with an explanation, never TypeError."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import cognitive_memory_core as core
from tests.support.clock import NOON
from tests.support.telling import READING, a_memory

WRONG: list[Any] = [
    None,
    1,
    -1,
    1.5,
    "x",
    "",
    object(),
    [],
    {},
    b"x",
    True,
    [None],
    [1],
    ["x"],
    {"a": 1},
    NOON,
    READING,
]
SKIPPED = {"drain", "open", "absent"}  # drain waits; the others are no coroutines
METHODS = sorted(
    name
    for name, member in vars(core.CognitiveMemory).items()
    if not name.startswith("_") and inspect.iscoroutinefunction(member) and name not in SKIPPED
)


@pytest.fixture(params=["open", "absent"])
async def memory(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[core.CognitiveMemory]:
    """Open a memory, or return the absent one."""
    if request.param == "absent":
        yield core.CognitiveMemory.absent()
        return
    async with a_memory(tmp_path / "data", background=False) as opened:
        yield opened


def right(name: str, folder: Path) -> Any:
    """Return a valid value for a parameter."""
    message = core.Message("m1", READING, "你好", NOON)
    values = {
        "message": message,
        "messages": [message],
        "turn": core.Turn(READING, memo="聊了茶"),
        "scene": READING,
        "key": core.ProfileKey.member(READING.group_id, READING.user_id),
        "entity_type": "member",
        "entity_id": f"{READING.group_id}/{READING.user_id}",
        "switch": "on",
        "shared": True,
        "budget": 100,
        "path": folder / "out" / "copy",
        "timeout": 0.0,
    }
    return values.get(name, READING.user_id)


async def outcome(memory: core.CognitiveMemory, name: str, arguments: dict[str, Any]) -> str:
    """Call a method; return the name of a foreign error that it raised, or ""."""
    try:
        await getattr(memory, name)(**arguments)
    except core.CognitiveMemoryError as error:
        return "" if str(error) else f"{name}: {type(error).__name__} says nothing"
    except Exception as error:  # noqa: BLE001  # what is looked for
        return f"{name}({arguments}): {type(error).__name__}: {error}"
    return ""


@pytest.mark.parametrize("name", METHODS)
async def test_a_wrong_argument_is_a_mistake(
    memory: core.CognitiveMemory, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong value for any parameter of any method raises one of our errors or is accepted."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")  # because "x" is also a valid path
    parameters = list(inspect.signature(getattr(memory, name)).parameters.values())
    needed = {one.name: right(one.name, tmp_path) for one in parameters if one.default is one.empty}
    found = [await outcome(memory, name, {**needed, one.name: wrong}) for one in parameters for wrong in WRONG]
    assert not [problem for problem in found if problem]


async def test_the_door_names_what_was_wrong(memory: core.CognitiveMemory) -> None:
    """BadArgument names the parameter, what it expects and what was given; nothing is done."""
    with pytest.raises(core.BadArgument, match=r"turn 应为 Turn .*None"):
        await memory.remember(None)  # type: ignore[arg-type]
    with pytest.raises(core.BadArgument, match="message"):
        await memory.observe("你好")  # type: ignore[arg-type]
    with pytest.raises(core.BadArgument, match="switch 应为 on、off、record_only、recall_only"):
        await memory.set_switch(READING, "maybe")  # type: ignore[arg-type]
    with pytest.raises(core.BadArgument, match="kinds"):
        await memory.search_events(READING, "茶", kinds=(1, 2))  # type: ignore[arg-type]
    with pytest.raises(core.BadArgument, match="scene 应为 Scene"):
        await memory.context("茶", "茶")  # type: ignore[arg-type]
    with pytest.raises(core.BadArgument, match="event_id"):
        await memory.forget_event(READING, "e\n1")


async def test_none_stands_for_a_default(memory: core.CognitiveMemory) -> None:
    """None for a parameter with a default means the default; too many arguments raise Python's TypeError."""
    found = await memory.search_events(READING, "茶", kinds=None, top_k=None)  # type: ignore[arg-type]
    assert found == await memory.events(READING, limit=None) == []  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        await memory.pins(READING, 1)  # type: ignore[call-arg]
