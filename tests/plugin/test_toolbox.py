"""Tests of the tools: every call is answered, and never from outside the asker's scene."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from secrets import token_hex
from typing import Any

import pytest
from hypothesis import strategies as st

import cognitive_memory_core as core
from tests.support.waiting import PATIENCE

from .stage import Stage, message, new_id, told

CONTRACTS = {
    "end": (("memo", "observations", "perspective", "force"), []),
    "search_events": (("query", "target_user_id", "target_group_id", "top_k", "time_from", "time_to"), ["query"]),
    "get_profile": (("entity_type", "entity_id"), ["entity_type", "entity_id"]),
    "search_profiles": (("query", "entity_type", "top_k"), ["query"]),
    "catch_up": (("since",), []),
    "memory_add": (("fact",), ["fact"]),
    "memory_update": (("id", "fact"), ["id", "fact"]),
    "memory_delete": (("id",), ["id"]),
    "memory_list": ((), []),
}
NAMES = tuple(CONTRACTS)
CANARY = "canary" + token_hex(4)


async def call(name: str, arguments: Any, scene: core.Scene) -> dict[str, Any]:
    """Call a tool; return its answer, checked to have the agreed form."""
    from nonebot_plugin_cognitive_memory import call_tool

    answer = json.loads(await call_tool(name, arguments, scene))
    assert answer["ok"] is True or (answer["ok"] is False and isinstance(answer["error"], str) and answer["error"])
    return answer


def somebody(group: int) -> core.Scene:
    """Return a group scene with a new person."""
    return core.Scene.group(str(group), str(new_id()), user_name="阿棠")


def test_schemas_are_the_contracts() -> None:
    """The nine tools have the agreed flat parameters, and names that every provider accepts."""
    from nonebot_plugin_cognitive_memory import tool_schemas

    functions = [schema["function"] for schema in tool_schemas()]
    flat = {
        each["name"]: (tuple(each["parameters"]["properties"]), each["parameters"].get("required", []))
        for each in functions
    }
    assert flat == CONTRACTS
    assert all(each["description"] for each in functions)
    assert all(kind["description"] for each in functions for kind in each["parameters"]["properties"].values())
    json.dumps(tool_schemas())


async def test_end_and_search(stage: Stage, group: int) -> None:
    """What a model passes to end is found by its later search, in the agreed form."""
    here = somebody(group)
    answer = await call("end", {"memo": "记下口味", "observations": ["阿棠喜欢乌龙茶"], "force": "false"}, here)
    assert answer["id"]
    from nonebot_plugin_cognitive_memory import get_memory

    assert await get_memory().drain(PATIENCE)
    [event] = (await call("search_events", {"query": "乌龙茶", "top_k": 1}, here))["events"]
    assert set(event) == {"id", "time", "text", "by", "score"}
    assert "乌龙茶" in event["text"]
    assert event["by"] == "机器人"
    assert len(event["time"]) == len("2026-02-20 11:08")


async def test_thin_results_fall_back_to_the_log(stage: Stage, group: int) -> None:
    """A recent line is found before it became an event, but not the question itself."""
    from .companion import Companion, listening

    user = new_id()
    await stage.hear(message("周六去看星轨展", user, group))
    with listening(Companion()) as chat:
        await stage.hear(message("星轨展是哪天来着", user, group))
    answer = json.loads(await chat.met["tools"].call("search_events", '{"query": "星轨展"}'))
    assert [event["text"] for event in answer["events"]] == ["周六去看星轨展"]


async def test_pins_of_the_asker(group: int) -> None:
    """A model can add, list, change and remove the pins of its conversation partner."""
    here = somebody(group)
    pin_id = (await call("memory_add", {"fact": "对花生过敏"}, here))["id"]
    assert (await call("memory_list", None, here))["memories"] == [{"id": pin_id, "fact": "对花生过敏"}]
    assert (await call("memory_update", {"id": pin_id, "fact": "对花生和芒果过敏"}, here))["ok"]
    assert (await call("memory_delete", {"id": pin_id}, here))["ok"]
    assert (await call("memory_list", {}, here))["memories"] == []
    assert not (await call("memory_delete", {"id": pin_id}, here))["ok"]


@pytest.mark.parametrize("tool", ["memory_update", "memory_delete"])
async def test_nothing_is_changed_by_a_guess(group: int, tool: str) -> None:
    """Truncated arguments are repaired for reading and adding, never for changing or removing."""
    from nonebot_plugin_cognitive_memory import get_memory

    here = somebody(group)
    pin_id = (await call("memory_add", '{"fact": "对花生过敏', here))["id"]
    assert not (await call(tool, f'{{"id": "{pin_id}", "fact": "没事', here))["ok"]
    assert not (await call(tool, f'{{"id": "{pin_id}", "fact": "没事"', here))["ok"]
    assert [pin.text for pin in await get_memory().pins(here)] == ["对花生过敏"]


@pytest.mark.parametrize(
    "target",
    [
        {"target_group_id": "OTHER"},
        {"target_group_id": "*"},
        {"target_group_id": "123 OR 1=1"},
        {"target_group_id": {"$ne": ""}},
        {"target_group_id": True},
        {"target_user_id": {"$ne": ""}},
        {"target_user_id": [1, 2]},
        {"group_id": "OTHER", "scene": "operator", "agent": "*"},
        {"target_user_id": "OTHER_USER"},
        {"kinds": ["message"], "where": {}},
    ],
)
async def test_arguments_never_widen(stage: Stage, group: int, target: dict[str, Any]) -> None:
    """Arguments that name another group or person, or nothing valid, show nothing of other scenes."""
    elsewhere, here = somebody(group + 300_000), somebody(group)
    await told(elsewhere, f"阿棠的密语是{CANARY}")
    await told(core.Scene.private(elsewhere.user_id), f"阿棠私下说{CANARY}")
    await stage.hear(message(f"群里说{CANARY}", int(elsewhere.user_id), group + 300_000))
    target = json.loads(
        json.dumps(target).replace("OTHER_USER", elsewhere.user_id).replace("OTHER", elsewhere.group_id)
    )
    for scene in (here, core.Scene.private(here.user_id)):
        answer = await call("search_events", {"query": CANARY, "top_k": 50, **target}, scene)
        assert CANARY not in json.dumps(answer, ensure_ascii=False)


@pytest.mark.parametrize("written", ['["' * 4_000, '{"query": ' + "9" * 5_000 + "}", "[1, 2]", '"just text"', "\x00"])
async def test_hostile_text(group: int, written: str) -> None:
    """Deep nesting, endless numbers, and text that is no JSON object are answered quickly."""
    for tool in NAMES:
        await call(tool, written, somebody(group))


class Portrayed(core.CognitiveMemory):
    """A memory with profiles that records what was asked."""

    def __init__(self, *profiles: core.Profile) -> None:
        """Take the profiles; any other key is forbidden."""
        super().__init__(core.Settings())
        self.held = {profile.key: profile for profile in profiles}
        self.asked: list[tuple[Any, ...]] = []

    @property
    def is_running(self) -> bool:
        """Return True."""
        return True

    async def get_profile(self, scene: core.Scene, entity_type: Any, entity_id: str) -> core.Profile | None:
        """Return a profile if its key may be read."""
        self.asked.append((entity_type, entity_id))
        key = core.ProfileKey.asked(scene, entity_type, entity_id)
        if not key.readable_by(scene):
            raise core.NotPermitted("这里看不到这份侧写")
        return self.held.get(key)

    async def search_profiles(self, scene: core.Scene, query: str, **fields: Any) -> list[core.ProfileHit]:
        """Return all profiles."""
        self.asked.append((query, fields))
        return [core.ProfileHit(profile, 0.71234) for profile in self.held.values()]


HERE = core.Scene.group("10001", "2000001")
MORNING = datetime(2026, 3, 4, 1, 30, tzinfo=timezone.utc)
TANG = core.Profile(core.ProfileKey.member("10001", "2000001"), "阿棠", ("茶",), "喜欢乌龙茶。", MORNING)
READING = core.Profile(core.ProfileKey.group("10001"), "读书会", (), "每周一本。", MORNING)


@pytest.fixture
def stored_keys(group: int, monkeypatch: pytest.MonkeyPatch) -> Portrayed:
    """Replace the memory by one with profiles."""
    from nonebot_plugin_cognitive_memory.lifecycle import lifetime

    memory = Portrayed(TANG, READING)
    monkeypatch.setattr(lifetime, "memory", memory)
    return memory


async def test_a_profile_in_its_form(stored_keys: Portrayed) -> None:
    """A profile is returned with subject, name, tags, text and the local time of its update."""
    answer = await call("get_profile", {"entity_type": "user", "entity_id": "2000001"}, HERE)
    told = {
        "entity_type": "member",
        "entity_id": "10001/2000001",
        "name": "阿棠",
        "note": "自己说的，未经核实",
        "tags": ["茶"],
        "summary": "喜欢乌龙茶。",
        "updated_at": "2026-03-04 09:30",
    }
    assert answer == {"ok": True, "profile": told}
    assert await call("get_profile", {"entity_type": "user", "entity_id": "2000009"}, HERE) == {
        "ok": True,
        "profile": None,
    }
    answer = await call("search_profiles", {"query": "茶", "entity_type": "User", "top_k": "3"}, HERE)
    assert answer["profiles"][0] == {**told, "score": 0.712}
    assert answer["profiles"][1]["entity_id"] == "10001"
    assert ("茶", {"entity_type": "user", "top_k": 3}) in stored_keys.asked


@pytest.mark.parametrize(
    ("entity_type", "entity_id", "asked"),
    [
        ("user", "2000001", ("user", "2000001")),
        ("USER", 2000001, ("user", "2000001")),
        (" users ", 2000001.0, ("user", "2000001")),
        (None, " 2000001 ", ("user", "2000001")),
        ("用户", "阿棠(2000001)", ("user", "2000001")),
        ("user", "阿棠（2000001）", ("user", "2000001")),
        ("user", "10001/2000001", ("member", "10001/2000001")),
        ("", "10001/2000001", ("member", "10001/2000001")),
        ("member", "2000001", ("member", "10001/2000001")),
        ("Members", "阿棠(2000001)", ("member", "10001/2000001")),
        ("group", 10001, ("group", "10001")),
        ("", "10001", ("group", "10001")),
    ],
)
async def test_whom_a_model_means(
    stored_keys: Portrayed, entity_type: Any, entity_id: Any, asked: tuple[str, str]
) -> None:
    """Types in any case or missing, numeric ids, name(id) and group/user are accepted."""
    answer = await call("get_profile", {"entity_type": entity_type, "entity_id": entity_id}, HERE)
    assert answer["profile"] is not None
    assert stored_keys.asked == [asked]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"entity_type": "user"}, "entity_id"),
        ({"entity_type": "user", "entity_id": ""}, "entity_id"),
        ({"entity_type": "user", "entity_id": ["2000001"]}, "entity_id"),
        ({"entity_type": "user", "entity_id": {"$ne": ""}}, "entity_id"),
        ({"entity_type": "everyone", "entity_id": "1"}, "entity_type"),
        ({"entity_type": ["user"], "entity_id": "1"}, "entity_type"),
        ({"entity_type": "user", "entity_id": "x" * 4_000}, "entity_id"),
    ],
)
async def test_what_means_nobody(stored_keys: Portrayed, arguments: dict[str, Any], word: str) -> None:
    """An invalid id or type is refused with a sentence that names it."""
    answer = await call("get_profile", arguments, HERE)
    assert word in answer["error"]


@pytest.mark.parametrize(
    ("entity_type", "entity_id"),
    [("group", "10002"), ("member", "10002/2000001"), ("user", "10002/2000001"), ("", "10002/2000001")],
)
async def test_a_foreign_profile_is_refused_and_audited(
    stored_keys: Portrayed, entity_type: str, entity_id: str, log: list[str]
) -> None:
    """Asking for a profile of another group is refused with a sentence and logged with the asker."""
    answer = await call("get_profile", {"entity_type": entity_type, "entity_id": entity_id}, HERE)
    assert answer == {"ok": False, "error": "这里看不到这份侧写"}
    assert [line for line in log if "get_profile" in line and "2000001" in line]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


def test_the_guide_names_prefixed_tools() -> None:
    """With a prefix the guide names exactly the tools that the schemas with it have; nothing else is changed."""
    from nonebot_plugin_cognitive_memory import TOOL_GUIDE, tool_guide

    assert tool_guide() == TOOL_GUIDE
    guide = tool_guide("mem_")
    assert guide.replace("mem_", "") == TOOL_GUIDE
    named = [name for name in NAMES if name in TOOL_GUIDE]
    assert all(f"mem_{name}" in guide for name in named)
    assert "mem_mem_" not in guide
    with pytest.raises(core.BadArgument):
        tool_guide("记忆.")


async def test_nobody_reads_everybodys_profile(monkeypatch: pytest.MonkeyPatch, log: list[str]) -> None:
    """Within an hour one person is shown thirty other people's profiles by tools, then none, and the log says who."""
    from nonebot_plugin_cognitive_memory import injected
    from nonebot_plugin_cognitive_memory.lifecycle import lifetime

    now, ids = [0.0], [str(3_000_000 + number) for number in range(40)]
    portraits = [core.Profile(core.ProfileKey.member("10001", one), one, (), "爱喝茶。", MORNING) for one in ids]
    monkeypatch.setattr(lifetime, "memory", Portrayed(TANG, *portraits))
    limit = core.tools.ProfileLimit(lambda: now[0])
    monkeypatch.setattr(injected, "profile_limit", lambda: limit)

    async def opened(one: str, scene: core.Scene = HERE) -> bool:
        return bool((await call("get_profile", {"entity_type": "user", "entity_id": one}, scene))["ok"])

    assert [await opened(one) for one in ids] == [True] * 30 + [False] * 10
    assert await opened(ids[0])
    assert await opened(HERE.user_id)
    assert await opened(ids[-1], core.Scene.group("10001", "2000002"))
    assert len((await call("search_profiles", {"query": "茶"}, HERE))["profiles"]) == 31
    assert len([line for line in log if "用户 2000001" in line]) == 1
    now[0] = core.tools.WINDOW
    assert await opened(ids[-1])
