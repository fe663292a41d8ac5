"""Commands of people about themselves: consent, export, forgetting, profiles; and of superusers on others' profiles."""

from __future__ import annotations

import asyncio
import base64
import re
from dataclasses import replace
from datetime import datetime, timedelta, timezone

from nonebot.exception import AdapterException

import cognitive_memory_core as core

from .. import heard, replies
from ..capture import unrecorded
from ..cards import profile_card
from ..command_table import called
from ..config import setup
from ..erasure import FILE, erased_person, exported
from ..lifecycle import get_memory
from ..onebot import v12, worded
from .answering import Answer
from .authority import check_own
from .calls import Call, call_parts, is_confirmed

SHOWN = 12_000  # characters of an export that are sent where no file can be
INCOGNITO, LONGEST_INCOGNITO = timedelta(minutes=30), timedelta(days=7)
MOST_DIGITS = 6  # of a number of minutes
_REVISION = re.compile(r"[0-9]{8}T[0-9]{6}\.[0-9]{6}Z")
_PLACE = re.compile(replies.commands.VERSION)
_LABEL = re.compile(r"(?<!QQ)(?<=[^\s(（])\(([0-9]{5,20})\)")
_NUMBER = re.compile(r"(?<!\S)(?=\S*[0-9])[A-Za-z0-9_.:-]{5,128}(?!\S)")  # ids of OneBot v12 are any text


async def set_consent(call: Call) -> str:
    """Stop recording and recalling the asker everywhere, or record them again."""
    memory, user_id = get_memory(), call.here.user_id
    if call.command.name == "optin":
        await memory.opt_in(user_id)
        return replies.commands.OPTED_IN
    await memory.note_name(call.here, datetime.now(timezone.utc))  # so that the present names are hidden, too
    await memory.opt_out(user_id)
    return replies.commands.OPTED_OUT


async def go_incognito(call: Call) -> str:
    """Record nothing of the asker here for a while; 0 ends it."""
    asked, zone = call.text, setup.settings.zone
    now = datetime.now(zone)
    if asked.isdecimal() and asked.isascii() and len(asked) <= MOST_DIGITS:
        until = now + timedelta(minutes=int(asked))
    else:
        until = core.time_limit(asked, now) if asked else now + INCOGNITO
    if until is None or until - now > LONGEST_INCOGNITO:
        return call.usage
    if until < now:
        return replies.commands.OVER.format(until=replies.commands.instant(until, zone).strip())
    await get_memory().incognito(call.here, (until - now).total_seconds() / 60)
    if until == now:
        return replies.commands.INCOGNITO_ENDED
    return replies.commands.INCOGNITO.format(until=replies.commands.instant(until, zone))


async def forget_me(call: Call) -> str:
    """Erase everything of the asker everywhere, after a second call confirms it."""
    await check_own(call)
    scene = call.here
    if not is_confirmed(call, scene.user_id):
        return replies.commands.CONFIRM_FORGET_ME
    erasure = await erased_person(scene, scene.user_id)
    is_recorded = await get_memory().may_record(scene, datetime.now(timezone.utc))
    return replies.commands.erased(erasure, is_recorded=is_recorded)


async def export_own(call: Call) -> str:
    """Send the asker a file with what they said, their profiles and their pins, or the beginning of it as text."""
    async with exported(get_memory(), call.here.user_id) as (path, rows):
        content = await asyncio.to_thread(path.read_bytes)
    if await _is_uploaded(call, content):
        return replies.commands.EXPORTED.format(rows=rows)
    return replies.commands.EXPORTED_AS_TEXT.format(text=content.decode()[:SHOWN])


async def _is_uploaded(call: Call, content: bytes) -> bool:
    """Send a file to the private chat; return False if the platform refuses it."""
    bot, event = call.bot, call.event
    try:
        if isinstance(event, v12.MessageEvent):
            uploaded = await bot.call_api("upload_file", name=FILE, type="data", data=content)
            with unrecorded():
                await bot.send(event, v12.MessageSegment.file(str(uploaded["file_id"])))
        else:
            encoded = await asyncio.to_thread(base64.b64encode, content)
            user_id, file = getattr(event, "user_id", None), f"base64://{encoded.decode()}"
            await bot.call_api("upload_private_file", user_id=user_id, file=file, name=FILE)
    except (AdapterException, KeyError, TypeError):
        return False
    return True


async def show_profile(call: Call) -> Answer:
    """Reply with the profile of the asker here, or of this group."""
    scene, zone = call.here, setup.settings.zone
    if call.command.name == "group" and not scene.group_id:
        return replies.commands.ONLY_IN_GROUPS
    entity_type, entity_id = ("group", scene.group_id) if call.command.name == "group" else ("user", scene.user_id)
    profile = await get_memory().get_profile(scene, entity_type, entity_id)
    if profile is None:
        return replies.commands.NO_PROFILE

    def known(label: re.Match[str]) -> str:  # the asker and people heard here lately are shown without their ids
        return "" if label[1] == scene.user_id or heard.name_of(scene, label[1]) else label[0]

    shown = replace(profile, summary=_LABEL.sub(known, profile.summary))
    words = {_LABEL.sub(known, said): told for said, told in (await _words_beneath(scene, profile)).items()}
    return profile_card(shown, scene, f"{profile.updated_at.astimezone(zone):%Y-%m-%d %H:%M}", words)


async def _words_beneath(scene: core.Scene, profile: core.Profile) -> dict[str, str]:
    """Return, by line or tag of a profile that a model worded, the words that stand beneath it."""
    zone, own = setup.settings.zone, profile.key.user_id
    found = await get_memory().profile_words(scene, profile)
    told = {said: replies.memories.words_beneath(said, [quote], zone, own=own) for said, quote in found.items()}
    return {said: words for said, words in told.items() if words}


async def share_profile(call: Call) -> str:
    """Share the asker's own profile with every place, or stop sharing it."""
    is_shared = replies.commands.ON_OFF[call.text.casefold()]
    await get_memory().set_sharing(call.here.user_id, is_shared)
    return replies.commands.SHARED if is_shared else replies.commands.NOT_SHARED


async def view_profile(call: Call) -> str:
    """Show somebody's profile and its versions, to a superuser: as a member in a group, as a person in private."""
    key, operator = _target(call), core.Scene.operator(call.here.agent)
    if key is None:
        return call.usage
    memory, whose = get_memory(), key.group_id if key.entity_type == "group" else key.user_id
    if key.entity_type == "member":
        whose = f"{key.group_id}/{key.user_id}"
    found, zone = await memory.get_profile(operator, key.entity_type, whose), setup.settings.zone
    shown = ""
    if found is not None:
        at = f"{found.updated_at.astimezone(zone):%Y-%m-%d %H:%M}"
        subtitle = replies.status.UPDATED.format(whose=whose, at=at)
        words = await _words_beneath(operator, found)
        shown = replace(profile_card(found, call.here, at, words), subtitle=subtitle).text
    return replies.commands.viewed(shown, await memory.profile_revisions(operator, key), zone)


async def roll_back(call: Call) -> str:
    """Restore an earlier profile; for the bot's superusers."""
    key, operator = _target(call), core.Scene.operator(call.here.agent)
    if key is None:
        return call.usage
    revisions = await get_memory().profile_revisions(operator, key)
    words = _words(call)
    named, counted = _REVISION.search(words), _PLACE.search(words)
    place = int(counted[1]) if counted else 1  # in the list of versions
    chosen = (
        [one for one in revisions if one.id == named[0]] if named else revisions[place - 1 : place] if place else []
    )
    if not chosen:
        return replies.commands.NO_REVISIONS
    restored = await get_memory().restore_profile(operator, key, chosen[0].id)
    at = f"{chosen[0].profile.updated_at.astimezone(setup.settings.zone):%Y-%m-%d %H:%M}"
    return replies.commands.ROLLED_BACK.format(name=restored.name or "这份侧写", at=at)


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
