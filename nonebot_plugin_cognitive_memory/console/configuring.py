"""The pages of the settings, hot ones to change, others with their line of .env, and of the prompts."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from itertools import groupby
from typing import Any, Literal, get_args, get_origin

from starlette.responses import Response

import cognitive_memory_core as core

from ..hot_settings import hot_settings
from ..replies.log import env_names
from .pages import LANGUAGES
from .running import models
from .visit import ALIKE, Visit

LISTS = "capture.groups", "capture.ignore_groups", "capture.ignore_users"  # of ids
GROUPS = {  # by the beginning of their keys, each with its sign
    "record": ("lines", "capture.", "pins.", "sharing"),
    "recall": ("question", "query."),
    "cost": ("report", " "),
    "models": ("running", "models."),
    "learn": ("prompts", "historian.", "profile.", "evolution."),
    "doors": ("places", "http.", "bridges"),
    "machine": ("jobs", "queue.", "vector_store."),
    "general": ("settings", ""),
}
TITLE = re.compile("[：；]|[:;] ")  # ends the title of a meaning


async def settings(visit: Visit) -> Response:
    """Show the groups of settings, one of them, or what is found; secrets are hidden by the core."""
    text, group, language = visit.asked("text"), visit.asked("group"), visit.language
    meanings = {key: _meaning(key, language) for key in core.setting_keys()}
    searched = {key: f"{key} {meaning} {visit.named(f'searched.{key}', '')}" for key, meaning in meanings.items()}
    wanted = [key for key in meanings if all(word in searched[key].casefold() for word in text.casefold().split())]
    status = await visit.memory.status()
    states = await asyncio.to_thread(lambda: [hot_settings.configuration.state(key) for key in wanted])
    changed = Counter(group_of(one.key) for one in states if one.is_overridden)

    def part(one: core.SettingState) -> tuple[bool, str]:
        """Return whether it takes effect at once, and whose model it is of; "" for other settings."""
        return one.is_hot, one.key.split(".")[1] if one.key.startswith("models.") else ""

    shown = sorted((one for one in states if text or group_of(one.key) == group), key=lambda one: not one.is_hot)
    return await visit.show(
        "settings.html",
        groups=[(name, sign, changed[name]) for name, (sign, *_) in GROUPS.items()],
        names=[(name, visit.words(f"settings.group.{name}")) for name in GROUPS],
        group=group,
        parts=[(*of, list(found)) for of, found in groupby(shown, part)],
        meanings={key: (*TITLE.split(meaning or key, maxsplit=1), "")[:2] for key, meaning in meanings.items()},
        text=text,
        choices=choices,
        lists=LISTS,
        env_line=env_line,
        models=models(visit.settings, status, visit.memory.embedder),
        problems=hot_settings.configuration.problems,
    )


def choices(key: str) -> tuple[str, ...]:
    """Return the values of a setting that has a few words as values; () for others."""
    kind: Any = core.Settings
    for name in key.split("."):
        kind = kind.model_fields[name].annotation
    return ("true", "false") if kind is bool else get_args(kind) if get_origin(kind) is Literal else ()


def _meaning(key: str, language: str) -> str:
    """Return what a setting is for; a model of another role means what the historian's does."""
    head, role, rest = (*key.split(".", 2), "", "")[:3]
    of: Literal["zh", "en"] = "zh" if language == "zh" else "en"
    if head != "models" or role not in ("triage", "merge", "evolution"):
        return core.setting_meaning(key, of)
    purpose = LANGUAGES[language][f"purpose.{role}"]
    return f"{purpose} · {core.setting_meaning(f'models.historian.{rest}', of)}"


async def change(visit: Visit) -> Response:
    """Set one hot setting, or remove its override."""
    key = visit.sent("key")
    if visit.sent("action") == "reset":
        result = await hot_settings.reset(key)
    else:
        result = await hot_settings.change(key, await _with_ids(visit, key, visit.sent("value")))
    values = {_meaning(one, visit.language): hot_settings.configuration.state(one).value for one in result.changed}
    changed = "; ".join(visit.words("settings.now", meaning=meaning, value=now) for meaning, now in values.items())
    if not changed and not result.problems:
        changed = visit.words("settings.same")
    text = visit.sent("search")
    group = "" if text else group_of(key)
    return visit.go("/settings", notice=changed, at=key, reported=result.problems, text=text, group=group)


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
    return f"{env_names((state.key,))}={state.value}"


def group_of(key: str) -> str:
    """Return the group in which people look for a setting."""
    if key == "daily_calls" or key.endswith((".price", ".max_tokens")):
        return "cost"
    return next((name for name, (_, *begins) in GROUPS.items() if key.startswith(tuple(begins))), "general")


async def prompts(visit: Visit) -> Response:
    """Show a prompt filled with a sample; if the form words it in another way, filled so, and nothing is stored."""
    shown = await visit.memory.prompts(visit.sent("name"), visit.sent("template"))
    name = visit.sent("name") or visit.asked("name")
    return await visit.show(
        "prompts.html",
        names=[(one.name, visit.words(f"prompt.{one.name}")) for one in shown],
        one=next((one for one in shown if one.name == name), shown[0]),
        is_tried=bool(visit.sent("name")),
        folder="" if visit.context.data_dir is None else visit.context.data_dir / "prompts",
    )


PAGES = (
    ("GET", "/settings", settings),
    ("POST", "/settings/change", change),
    ("GET", "/prompts", prompts),
    ("POST", "/prompts/try", prompts),
)
