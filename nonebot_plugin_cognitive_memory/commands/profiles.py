"""Commands on profiles: show one's own and the group's, share one's own, and restore an earlier one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from nonebot.adapters import Bot, Event
from nonebot_plugin_alconna import At, Match

import cognitive_memory_core as core

from .. import replies
from ..config import setup
from ..dependencies import Here
from ..heard_names import heard_names
from ..lifecycle import get_memory
from .authority import superuser_objection
from .entry import answer, memory_command
from .pictures import PictureAnswer, wants_text
from .plain_text import words_of

_REVISION = re.compile(r"[0-9]{8}T[0-9]{6}\.[0-9]{6}Z")
_PLACE = re.compile(replies.commands.VERSION)
_LABEL = re.compile(r"(?<!QQ)(?<=[^\s(（])\(([0-9]{5,20})\)")
_NUMBER = re.compile(r"(?<!\S)(?=\S*[0-9])[A-Za-z0-9_.:-]{5,128}(?!\S)")  # ids of OneBot v12 are any text


@memory_command.assign("profile")
async def show_profile(bot: Bot, event: Event, here: Here, form: Match[str]) -> None:
    """Reply with the asker's profile here."""
    await answer(bot, event, _shown(here, "user", form.result if form.available else ""))


@memory_command.assign("group")
async def show_group(bot: Bot, event: Event, here: Here, form: Match[str]) -> None:
    """Reply with the profile of this group."""
    await answer(bot, event, _shown(here, "group", form.result if form.available else ""))


@memory_command.assign("share")
async def share_profile(bot: Bot, event: Event, here: Here, wish: Match[str]) -> None:
    """Share the asker's own profile with every place, or stop sharing it."""
    await answer(bot, event, _shared(here, wish.result))


@memory_command.assign("rollback")
async def roll_back(bot: Bot, event: Event, here: Here, words: Match[list[object]]) -> None:
    """Restore an earlier profile; for the bot's superusers."""
    await answer(bot, event, _rolled_back(bot, event, here, words.result if words.available else ()))


@memory_command.assign("view")
async def view_profile(bot: Bot, event: Event, here: Here, words: Match[list[object]]) -> None:
    """Show somebody's profile and its versions, to a superuser: as a member in a group, as a person in private."""
    await answer(bot, event, _viewed(bot, event, here, words.result if words.available else ()))


async def _shown(scene: core.Scene, entity_type: Literal["user", "group"], form: str) -> str | PictureAnswer:
    as_text, zone = wants_text(form), setup.settings.zone
    if as_text is None:
        return replies.usage.usage("group" if entity_type == "group" else "profile")
    entity_id = scene.group_id if entity_type == "group" else scene.user_id
    if not entity_id:
        return replies.commands.ONLY_IN_GROUPS
    profile = await get_memory().get_profile(scene, entity_type, entity_id)
    if profile is None:
        return replies.commands.NO_PROFILE
    profile = _by_name(profile, scene)
    text, at = replies.commands.profile(profile, zone), f"{profile.updated_at.astimezone(zone):%Y-%m-%d %H:%M}"
    if as_text:
        return text
    from ..cards.contents import profile_card  # noqa: PLC0415  # cards load with the first one

    return PictureAnswer(text, profile_card(profile, scene, at))


def _by_name(profile: core.Profile, scene: core.Scene) -> core.Profile:
    """Return the profile without the ids behind the names of the asker and of people heard here lately."""

    def known(label: re.Match[str]) -> str:
        return "" if label[1] == scene.user_id or heard_names.name(scene, label[1]) else label[0]

    return replace(profile, summary=_LABEL.sub(known, profile.summary))


async def _shared(scene: core.Scene, wish: str) -> str:
    is_shared = replies.commands.ON_OFF.get(wish.casefold())
    if is_shared is None:
        return replies.usage.usage("share")
    await get_memory().set_sharing(scene.user_id, is_shared)
    return replies.commands.sharing(is_on=is_shared)


async def _viewed(bot: Bot, event: Event, scene: core.Scene, words: Iterable[object]) -> str:
    refusal = await superuser_objection(bot, event)
    if refusal:
        return refusal
    key, operator = _target(scene, list(words)), core.Scene.operator(scene.agent)
    if key is None:
        return replies.usage.usage("view")
    memory, whose = get_memory(), key.group_id if key.entity_type == "group" else key.user_id
    if key.entity_type == "member":
        whose = f"{key.group_id}/{key.user_id}"
    found = await memory.get_profile(operator, key.entity_type, whose)
    return replies.commands.viewed(found, await memory.profile_revisions(operator, key), setup.settings.zone)


async def _rolled_back(bot: Bot, event: Event, scene: core.Scene, words: Iterable[object]) -> str:
    refusal = await superuser_objection(bot, event)
    if refusal:
        return refusal
    parts = list(words)
    key, operator = _target(scene, parts), core.Scene.operator(scene.agent)
    if key is None:
        return replies.usage.usage("rollback")
    revisions = await get_memory().profile_revisions(operator, key)
    wanted = _revision(
        words_of([part for part in parts if not isinstance(part, At)]), [revision.id for revision in revisions]
    )
    chosen = next((one for one in revisions if one.id == wanted), None)
    if chosen is None:
        return replies.commands.NO_REVISIONS
    restored = await get_memory().restore_profile(operator, key, wanted)
    return replies.commands.rolled_back(restored, chosen, setup.settings.zone)


def _revision(text: str, known: Sequence[str]) -> str:
    """Return the id of a profile's version that a text names by id, or by its place in ``known`` (default 1).

    "" if there is no such place.
    """
    named, counted = _REVISION.search(text), _PLACE.search(text)
    if named:
        return named[0]
    place = int(counted[1]) if counted else 1
    return known[place - 1] if 0 < place <= len(known) else ""


def _target(scene: core.Scene, parts: Iterable[object]) -> core.ProfileKey | None:
    """Return the key of the requested profile: of a person by mention or id, or of the group; None if none is named."""
    listed = list(parts)
    mentioned = next((part.target for part in listed if isinstance(part, At)), "")
    words = _REVISION.sub(" ", words_of([part for part in listed if not isinstance(part, At)]))
    if not mentioned and scene.group_id and not {"group", *core.tools.GROUP_WORDS}.isdisjoint(words.casefold().split()):
        return core.ProfileKey.group(scene.group_id, scene.agent)
    number = _NUMBER.search(words)
    user_id = mentioned or (number[0] if number else "")
    if not user_id:
        return None
    if scene.group_id:
        return core.ProfileKey.member(scene.group_id, user_id, scene.agent)
    return core.ProfileKey.user(user_id, scene.agent)
