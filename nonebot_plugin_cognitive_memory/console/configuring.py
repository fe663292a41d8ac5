"""The page of the settings: hot ones can be changed, the others are shown with their line of .env."""

from __future__ import annotations

import asyncio
from itertools import groupby

from starlette.responses import Response

import cognitive_memory_core as core

from ..hot_settings import hot_settings
from .visit import Visit

PREFIX = "COGNITIVE_MEMORY__"


async def settings(visit: Visit) -> Response:
    """Show every setting by group; secrets are hidden by the core."""
    text, zh = visit.asked("text").casefold(), visit.language == "zh"
    meanings = {key: core.setting_meaning(key, "zh" if zh else "en") for key in core.setting_keys()}
    wanted = [key for key in meanings if text in f"{key} {meanings[key]}".casefold()]
    states = await asyncio.to_thread(lambda: [hot_settings.configuration.state(key) for key in wanted])
    groups = [(name, list(found)) for name, found in groupby(states, _group_of)]
    problems = hot_settings.configuration.problems
    return await visit.show(
        "settings.html",
        groups=groups,
        meanings=meanings,
        text=visit.asked("text"),
        env_line=env_line,
        problems=problems,
        is_dormant=core.is_dormant,
    )


async def change(visit: Visit) -> Response:
    """Set one hot setting, or remove its override."""
    key = visit.sent("key")
    if visit.sent("action") == "reset":
        result = await hot_settings.reset(key)
    else:
        result = await hot_settings.change(key, visit.sent("value"))
    changed = "; ".join(f"{one} = {hot_settings.configuration.state(one).value}" for one in result.changed)
    if not changed and not result.problems:
        changed = visit.words("settings.same")
    return visit.go("/settings", notice=changed, reported=result.problems)


def env_line(state: core.SettingState) -> str:
    """Return the line of .env that would set a setting to its present value."""
    return f"{PREFIX}{state.key.upper().replace('.', '__')}={state.value}"


def _group_of(state: core.SettingState) -> str:
    return state.key.rpartition(".")[0]


PAGES = (("GET", "/settings", settings), ("POST", "/settings/change", change))
