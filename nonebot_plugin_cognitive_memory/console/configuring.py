"""The pages of the settings, hot ones to change, others with their line of .env, and of the prompts."""

from __future__ import annotations

import asyncio
from itertools import groupby
from typing import Literal

from starlette.responses import Response

import cognitive_memory_core as core

from .. import replies
from ..hot_settings import hot_settings
from .pages import LANGUAGES
from .running import models
from .visit import ALIKE, Found, Visit

PREFIX = "COGNITIVE_MEMORY__"
LISTS = "capture.groups", "capture.ignore_groups", "capture.ignore_users"  # of ids
GROUPS = {  # by the beginning of their keys
    "record": ("capture.", "pins.", "sharing"),
    "recall": ("query.",),
    "cost": (" ",),
    "models": ("models.",),
    "learn": ("historian.", "profile.", "evolution."),
    "doors": ("http.", "bridges"),
    "machine": ("queue.", "vector_store."),
    "general": ("",),
}


async def settings(visit: Visit) -> Response:
    """Show every setting by what people want to change; secrets are hidden by the core."""
    text, language = visit.asked("text").casefold(), "zh" if visit.language == "zh" else "en"
    meanings = {key: _meaning(key, language) for key in core.setting_keys()}
    searched = {key: f"{key} {meaning} {replies.commands.SEARCHED.get(key, '')}" for key, meaning in meanings.items()}
    wanted = [key for key in meanings if all(word in searched[key].casefold() for word in text.split())]
    status = await visit.memory.status()
    states = await asyncio.to_thread(lambda: [hot_settings.configuration.state(key) for key in wanted])

    def parts(name: str) -> list[Found]:
        """Return the settings of a group; of each role, if they are models'. Open is where something is looked for."""
        found = [one for one in states if group_of(one.key) == name]
        by_role = groupby(found, lambda one: one.key.split(".")[1] if name == "models" else "")
        told = [(role, list(rows)) for role, rows in by_role]
        called_for = {one.key for one in states if text or one.is_overridden} | {visit.session.at}
        return [
            {"role": role, "states": rows, "is_open": any(one.key in called_for for one in rows)} for role, rows in told
        ]

    groups = [(name, parts(name)) for name in GROUPS]
    return await visit.show(
        "settings.html",
        groups=[(name, found) for name, found in groups if found],
        meanings=meanings,
        text=visit.asked("text"),
        env_line=env_line,
        models=models(visit.settings, status, visit.memory.embedder),
        problems=hot_settings.configuration.problems,
    )


def _meaning(key: str, language: Literal["zh", "en"]) -> str:
    """Return what a setting is for; a model of another role means what the historian's does."""
    head, role, rest = (*key.split(".", 2), "", "")[:3]
    if head != "models" or role not in ("triage", "merge", "evolution"):
        return core.setting_meaning(key, language)
    purpose = LANGUAGES[language][f"purpose.{role}"]
    return f"{purpose} · {core.setting_meaning(f'models.historian.{rest}', language)}"


async def change(visit: Visit) -> Response:
    """Set one hot setting, or remove its override."""
    key = visit.sent("key")
    if visit.sent("action") == "reset":
        result = await hot_settings.reset(key)
    else:
        result = await hot_settings.change(key, await _with_ids(visit, key, visit.sent("value")))
    language: Literal["zh", "en"] = "zh" if visit.language == "zh" else "en"
    values = {_meaning(one, language): hot_settings.configuration.state(one).value for one in result.changed}
    changed = "; ".join(visit.words("settings.now", meaning=meaning, value=now) for meaning, now in values.items())
    if not changed and not result.problems:
        changed = visit.words("settings.same")
    return visit.go("/settings", notice=changed, at=key, reported=result.problems, text=visit.sent("search"))


async def _with_ids(visit: Visit, key: str, value: str) -> str:
    """Return the value of a setting; in a list of groups or people, ids stand for the names that one alone has."""
    if key not in LISTS:
        return value
    listings, scene, ids = visit.memory.listings, visit.scene(), list[str]()
    for said in filter(None, (one.strip(" []\"'") for one in value.replace("，", ",").split(","))):
        if key == "capture.ignore_users":
            named = {one.user_id: one.name for one in await listings.people(scene, said, ALIKE, 0)}
        else:
            asked = core.PlaceListing(kind="group", text=said, is_counted=False)
            named = {one.scope.place_id: one.name for one in await listings.places(scene, asked, ALIKE)}
        alike = [one for one, name in named.items() if name == said]
        ids.append(alike[0] if len(alike) == 1 and said not in named else said)
    return ",".join(ids) or "[]"


def env_line(state: core.SettingState) -> str:
    """Return the line of .env that would set a setting to its present value."""
    return f"{PREFIX}{state.key.upper().replace('.', '__')}={state.value}"


def group_of(key: str) -> str:
    """Return the group in which people look for a setting."""
    if key == "daily_calls" or key.endswith((".price", ".max_tokens")):
        return "cost"
    return next((name for name, begins in GROUPS.items() if key.startswith(begins)), "general")


async def prompts(visit: Visit) -> Response:
    """Show every prompt filled with a sample; one that the form words in another way is shown so, and not stored."""
    shown = await visit.memory.prompts(visit.sent("name"), visit.sent("template"))
    folder = "" if visit.context.data_dir is None else visit.context.data_dir / "prompts"
    return await visit.show("prompts.html", prompts=shown, folder=folder, tried=visit.sent("name"))


PAGES = (
    ("GET", "/settings", settings),
    ("POST", "/settings/change", change),
    ("GET", "/prompts", prompts),
    ("POST", "/prompts/try", prompts),
)
