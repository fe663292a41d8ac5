"""The superusers' command on settings: shows them, changes hot ones, and reads the files again."""

from __future__ import annotations

from nonebot.adapters import Bot, Event
from nonebot_plugin_alconna import Match

import cognitive_memory_core as core

from .. import replies
from ..settings_in_force import settings_in_force
from .authority import superuser_objection
from .entry import answer, memory_command
from .plain_text import words_of


@memory_command.assign("config")
async def configure(bot: Bot, event: Event, words: Match[tuple[object, ...]]) -> None:
    """Show or change settings."""
    said = words_of(words.result) if words.available else ""
    await answer(bot, event, _configured(bot, event, said))


async def _configured(bot: Bot, event: Event, said: str) -> str:
    refusal = await superuser_objection(bot, event)
    if refusal:
        return refusal
    word, _, rest = said.partition(" ")
    action = replies.settings.ACTIONS.get(word.casefold(), "" if word else "get")
    name, _, value = rest.strip().partition(" ")
    if action == "get":
        return _shown(name)
    if action == "set":
        return await _changed(name, value.strip().removeprefix("=").strip())
    if action == "reset":
        return _told(await settings_in_force.reset(name)) or replies.settings.RELOADED
    if action == "reload":
        return _told(await settings_in_force.reload()) or replies.settings.RELOADED
    return replies.settings.USAGE


def _shown(name: str) -> str:
    if not name:
        return replies.settings.changed_settings(settings_in_force.overridden, settings_in_force.problems)
    group = [key for key in core.setting_keys() if key.startswith(f"{name.strip('.*').lower()}.")]
    if group:
        return replies.settings.group_of_settings([settings_in_force.value(key) for key in group])
    state = settings_in_force.value(name)
    return replies.settings.setting(state, is_dormant=core.is_dormant(state.key))


async def _changed(name: str, value: str) -> str:
    if not name:
        return replies.settings.KEY_WANTED
    name, equals, behind = name.partition("=")
    result = await settings_in_force.change(name, f"{behind} {value}".strip() if equals else value)
    return _told(result) or replies.settings.same_value(settings_in_force.value(name))


def _told(result: core.SettingsMoved) -> str:
    return replies.settings.moved(result, settings_in_force.values([*result.changed, *result.shadowed]))
