"""The chat model's tools as read paths; only for a process in which the plugin is loaded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import cognitive_memory_core as core

from .planted import Planted
from .questions import Asking, Question, Ways
from .sowing import GROUPS, PEOPLE

MOST = 50


def searching(asked: Question) -> Asking:
    """Search events by words only."""
    words, must = asked.sought("words")
    return _called(asked, "search_events", {"query": words, "top_k": MOST}, must)


def aiming(asked: Question) -> Asking:
    """Search events with any person and place that a model may name."""
    dice = asked.dice
    targets = {
        "target_user_id": dice.choice((None, "", *PEOPLE)),
        "target_group_id": dice.choice((None, "", "*", *GROUPS)),
        "top_k": dice.choice((None, "50", 10**9, -1)),
    }
    return _called(asked, "search_events", {"query": asked.words, **targets})


def portraying(asked: Question) -> Asking:
    """Ask for a profile by its key."""
    key, about = asked.about.key, asked.about
    entity_id = "/".join(part for part in (key.group_id, key.user_id) if part)
    must = [about] if about.what == "profile" and asked.may(about) else ()
    return _called(asked, "get_profile", {"entity_type": key.entity_type, "entity_id": entity_id}, must)


def searching_profiles(asked: Question) -> Asking:
    """Search profiles."""
    words, must = asked.sought_profile()
    return _called(asked, "search_profiles", {"query": words, "top_k": MOST}, must)


def listing(asked: Question) -> Asking:
    """List pins."""
    return _called(asked, "memory_list", {}, asked.readable("pin", here=True))


def _called(asked: Question, tool: str, arguments: Mapping[str, object], must: Iterable[Planted] = ()) -> Asking:
    return Asking(_answer(asked.memory, tool, arguments, asked.scene), must)


async def _answer(
    memory: core.CognitiveMemory, tool: str, arguments: Mapping[str, object], scene: core.Scene
) -> object:
    from nonebot_plugin_cognitive_memory import call_tool
    from nonebot_plugin_cognitive_memory.lifecycle import lifetime

    lifetime.memory = memory
    answer = json.loads(await call_tool(tool, arguments, scene))
    assert answer["ok"] or answer["error"]
    return answer


TOOLS: Ways = {
    "tool search_events": (searching, 6),
    "tool search_events with targets": (aiming, 6),
    "tool get_profile": (portraying, 4),
    "tool search_profiles": (searching_profiles, 4),
    "tool memory_list": (listing, 3),
}
