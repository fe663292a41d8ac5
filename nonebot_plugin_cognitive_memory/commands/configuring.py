"""The superusers' command on settings: shows them, changes hot ones, and reads the files again."""

from __future__ import annotations

import cognitive_memory_core as core

from .. import replies
from ..hot_settings import hot_settings
from .entry import Call


async def configure(call: Call) -> str:
    """Show settings, change or reset hot ones, or read the files again, as the words after the command say."""
    word, _, rest = call.text.partition(" ")
    action = replies.settings.ACTIONS.get(word.casefold(), "" if word else "get")
    name, _, value = rest.strip().partition(" ")
    if action == "get":
        return _shown(name)
    if action == "set":
        return await _changed(name, value.strip().removeprefix("=").strip())
    if action == "reset":
        return _told(await hot_settings.reset(name)) or replies.settings.RELOADED
    if action == "reload":
        return _told(await hot_settings.reload()) or replies.settings.RELOADED
    return replies.settings.USAGE


def _shown(name: str) -> str:
    if not name:
        return replies.settings.changed_settings(hot_settings.overridden, hot_settings.problems)
    group = [key for key in core.setting_keys() if key.startswith(f"{name.strip('.*').lower()}.")]
    if group:
        return replies.settings.group_of_settings([hot_settings.value(key) for key in group])
    state = hot_settings.value(name)
    return replies.settings.setting(state, is_dormant=core.is_dormant(state.key))


async def _changed(name: str, value: str) -> str:
    if not name:
        return replies.settings.KEY_WANTED
    name, equals, behind = name.partition("=")
    result = await hot_settings.change(name, f"{behind} {value}".strip() if equals else value)
    return _told(result) or replies.settings.same_value(hot_settings.value(name))


def _told(result: core.SettingsMoved) -> str:
    return replies.settings.moved(result, hot_settings.values([*result.changed, *result.shadowed]))
