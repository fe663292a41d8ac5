"""Tests of unusual tool arguments: accepted as meant, or refused with a sentence."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cognitive_memory_core as core
from tests.support.sizes import sized
from tests.support.waiting import PATIENCE

from .stage import new_id, said, told
from .test_toolbox import JSON, NAMES, call, somebody

PLAIN = {"string", "integer", "boolean", "array"}
WORDS = {"type", "description", "enum", "items"}


def test_schemas_use_what_every_provider_knows() -> None:
    """Schemas are flat, use plain types and common keywords only, and have no empty lists."""
    from nonebot_plugin_cognitive_memory import tool_schemas

    for schema in tool_schemas("memory-1_"):
        function = schema["function"]
        assert set(schema) == {"type", "function"}
        assert set(function) == {"name", "description", "parameters"}
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", function["name"])
        parameters = function["parameters"]
        assert set(parameters) <= {"type", "properties", "required"}
        assert parameters.get("required") != []
        assert set(parameters.get("required", ())) <= set(parameters["properties"])
        for kind in parameters["properties"].values():
            assert set(kind) <= WORDS
            assert kind["type"] in PLAIN
            assert kind.get("items", {"type": "string"}) == {"type": "string"}


@pytest.mark.parametrize("prefix", ["记忆_", "cm.", "cm:", "a b", "x" * 60, "\n"])
async def test_a_prefix_that_no_provider_takes(group: int, prefix: str) -> None:
    """A prefix that gives invalid names is refused, and no name with it is accepted."""
    from nonebot_plugin_cognitive_memory import tool_schemas

    with pytest.raises(core.BadArgument, match="前缀"):
        tool_schemas(prefix)
    assert not (await call(f"{prefix}memory_list", {}, somebody(group)))["ok"]


@pytest.mark.parametrize("blank", ["", " ", None, "null", "None", "undefined", "N/A", "无"])
async def test_left_out_in_words(group: int, blank: Any) -> None:
    """An optional parameter filled with a word for "none" counts as left out."""
    here = somebody(group)
    await told(here, "阿棠喜欢乌龙茶")
    optional = ("target_user_id", "target_group_id", "top_k", "time_from", "time_to")
    answer = await call("search_events", {"query": "乌龙茶", **dict.fromkeys(optional, blank)}, here)
    assert len(answer["events"]) == 1
    assert (await call("search_profiles", {"query": "乌龙茶", "entity_type": blank}, here))["ok"]
    answer = await call("end", {"memo": blank, "observations": [blank], "perspective": blank}, here)
    assert answer == {"ok": True, "id": None}


@pytest.mark.parametrize("form", ["{0}", "小满({0})", "@小满（{0}）", " {0} "])
async def test_a_member_is_narrowed_to(group: int, form: str) -> None:
    """In a group a search can be narrowed to another member, by number or as name(id)."""
    mine, theirs = somebody(group), core.Scene.group(str(group), str(new_id()), user_name="小满")
    await said(mine, "我喜欢乌龙茶")
    await said(theirs, "我喜欢乌龙茶和咖啡")
    answer = await call("search_events", {"query": "乌龙茶", "target_user_id": form.format(theirs.user_id)}, mine)
    assert [event["by"] for event in answer["events"]] == [f"小满({theirs.user_id})"]


@pytest.mark.parametrize(
    ("window", "is_within"),
    [
        ({"time_from": "2020-01-01", "time_to": "9999-12-31"}, True),
        ({"time_from": "0001-01-01", "time_to": "2999-01-01T00:00:00Z"}, True),
        ({"time_from": "2999-01-01", "time_to": "0001-01-01"}, True),
        ({"time_from": "9999-12-31T23:59:59-12:00"}, False),
        ({"time_to": "0001-01-01T00:00:00+14:00"}, False),
        ({"time_from": "2020/01/01", "time_to": "2999-01-01T08:00:00+0800"}, True),
    ],
)
async def test_times_at_the_edges(group: int, window: dict[str, str], is_within: bool) -> None:
    """First and last days of the calendar, zones and swapped ends are accepted in time windows."""
    here = somebody(group)
    await told(here, "阿棠喜欢乌龙茶")
    answer = await call("search_events", {"query": "乌龙茶", **window}, here)
    assert bool(answer["events"]) is is_within


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        (["小满喜欢猫", "", "无", "小满住杭州"], 2),
        ('["小满喜欢猫", "小满住杭州"]', 2),
        ("小满喜欢猫", 1),
        ("[小满] 喜欢猫", 1),
        ("[]", 0),
        (["小满喜欢猫", 5], 2),
    ],
)
async def test_observations_in_any_form(group: int, written: Any, stored: int) -> None:
    """Observations are accepted as a list, as JSON text of a list, and as one sentence."""
    from nonebot_plugin_cognitive_memory import get_memory

    here = somebody(group)
    assert (await call("end", {"observations": written}, here))["ok"]
    assert await get_memory().drain(PATIENCE)
    assert len(await get_memory().events(here)) == stored


async def test_a_very_long_question(group: int) -> None:
    """A query of 100,000 characters is cut and answered; as JSON text that long it is refused."""
    here = somebody(group)
    await told(here, "阿棠喜欢乌龙茶")
    long = {"query": "乌龙茶" + "长" * 100_000}
    assert (await call("search_events", long, here))["ok"]
    answer = await call("search_events", json.dumps(long, ensure_ascii=False), here)
    assert "太长" in answer["error"]


OWN = st.fixed_dictionaries(
    {},
    optional={
        "query": st.sampled_from(["乌龙茶", "", "阿棠"]) | JSON,
        "target_user_id": st.sampled_from(["2000001", "阿棠(2000001)", "null"]) | JSON,
        "target_group_id": st.sampled_from(["10001", "*", ""]) | JSON,
        "top_k": JSON,
        "time_from": st.dates().map(str) | st.datetimes().map(str) | JSON,
        "time_to": st.dates().map(str) | st.datetimes(timezones=st.timezones()).map(str) | JSON,
        "entity_type": st.sampled_from(["user", "member", "group"]) | JSON,
        "entity_id": st.text(max_size=40) | JSON,
        "fact": st.text(max_size=40) | JSON,
        "observations": st.lists(st.text(max_size=20), max_size=3) | JSON,
        "memo": JSON,
    },
)


@settings(max_examples=sized(100, 1_000), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(NAMES), arguments=OWN, cut=st.none() | st.integers(0, 60))
async def test_nearly_right_arguments_are_answered(group: int, name: str, arguments: Any, cut: int | None) -> None:
    """Arguments with valid names and arbitrary values, also as truncated text, never raise."""
    await call(name, arguments, core.Scene.group(str(group), "2000001"))
    written = json.dumps(arguments)
    await call(name, written if cut is None else written[:cut], core.Scene.private("2000001"))
