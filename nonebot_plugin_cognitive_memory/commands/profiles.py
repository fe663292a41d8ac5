"""Commands on profiles: show one's own and the group's, share one's own, and restore an earlier one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import cognitive_memory_core as core

from .. import replies
from ..command_table import called
from ..config import setup
from ..heard_names import heard_names
from ..lifecycle import get_memory
from ..message_text import worded
from .entry import Call, call_parts
from .sending import PictureAnswer

_REVISION = re.compile(r"[0-9]{8}T[0-9]{6}\.[0-9]{6}Z")
_PLACE = re.compile(replies.commands.VERSION)
_LABEL = re.compile(r"(?<!QQ)(?<=[^\s(（])\(([0-9]{5,20})\)")
_NUMBER = re.compile(r"(?<!\S)(?=\S*[0-9])[A-Za-z0-9_.:-]{5,128}(?!\S)")  # ids of OneBot v12 are any text


async def show_profile(call: Call) -> str | PictureAnswer:
    """Reply with the profile of the asker here, or of this group."""
    scene, zone = call.here, setup.settings.zone
    if call.command.name == "group" and not scene.group_id:
        return replies.commands.ONLY_IN_GROUPS
    entity_type, entity_id = ("group", scene.group_id) if call.command.name == "group" else ("user", scene.user_id)
    profile = await get_memory().get_profile(scene, entity_type, entity_id)
    if profile is None:
        return replies.commands.NO_PROFILE
    profile = _by_name(profile, scene)
    text, at = replies.commands.profile(profile, zone), f"{profile.updated_at.astimezone(zone):%Y-%m-%d %H:%M}"
    if call.text:
        return text
    from ..cards.contents import profile_card  # noqa: PLC0415  # cards load with the first one

    return PictureAnswer(text, profile_card(profile, scene, at))


async def share_profile(call: Call) -> str:
    """Share the asker's own profile with every place, or stop sharing it."""
    is_shared = replies.commands.ON_OFF[call.text.casefold()]
    await get_memory().set_sharing(call.here.user_id, is_shared)
    return replies.commands.sharing(is_on=is_shared)


async def view_profile(call: Call) -> str:
    """Show somebody's profile and its versions, to a superuser: as a member in a group, as a person in private."""
    key, operator = _target(call), core.Scene.operator(call.here.agent)
    if key is None:
        return call.usage
    memory, whose = get_memory(), key.group_id if key.entity_type == "group" else key.user_id
    if key.entity_type == "member":
        whose = f"{key.group_id}/{key.user_id}"
    found = await memory.get_profile(operator, key.entity_type, whose)
    return replies.commands.viewed(found, await memory.profile_revisions(operator, key), setup.settings.zone)


async def roll_back(call: Call) -> str:
    """Restore an earlier profile; for the bot's superusers."""
    key, operator = _target(call), core.Scene.operator(call.here.agent)
    if key is None:
        return call.usage
    revisions = await get_memory().profile_revisions(operator, key)
    wanted = _revision(_words(call), [revision.id for revision in revisions])
    chosen = next((one for one in revisions if one.id == wanted), None)
    if chosen is None:
        return replies.commands.NO_REVISIONS
    restored = await get_memory().restore_profile(operator, key, wanted)
    return replies.commands.rolled_back(restored, chosen, setup.settings.zone)


def _by_name(profile: core.Profile, scene: core.Scene) -> core.Profile:
    """Return the profile without the ids behind the names of the asker and of people heard here lately."""

    def known(label: re.Match[str]) -> str:
        return "" if label[1] == scene.user_id or heard_names.name(scene, label[1]) else label[0]

    return replace(profile, summary=_LABEL.sub(known, profile.summary))


def _revision(text: str, known: Sequence[str]) -> str:
    """Return the id of a profile's version that a text names by id, or by its place in ``known`` (default 1).

    "" if there is no such place.
    """
    named, counted = _REVISION.search(text), _PLACE.search(text)
    if named:
        return named[0]
    place = int(counted[1]) if counted else 1
    return known[place - 1] if 0 < place <= len(known) else ""


def _target(call: Call) -> core.ProfileKey | None:
    """Return the key of the requested profile: of a person by mention or id, or of the group; None if none is named."""
    scene, mentioned = call.here, next(iter(worded(call_parts(call.event)).mentioned), "")
    words = _REVISION.sub(" ", _words(call))
    if not mentioned and scene.group_id and not {"group", *core.tools.GROUP_WORDS}.isdisjoint(words.casefold().split()):
        return core.ProfileKey.group(scene.group_id, scene.agent)
    number = _NUMBER.search(words)
    user_id = mentioned or (number[0] if number else "")
    if not user_id:
        return None
    if scene.group_id:
        return core.ProfileKey.member(scene.group_id, user_id, scene.agent)
    return core.ProfileKey.user(user_id, scene.agent)


def _words(call: Call) -> str:
    """Return the words behind the command without mentions, whose names may contain numbers."""
    return called(worded(part for part in call_parts(call.event) if part.type == "text").text)[1]
