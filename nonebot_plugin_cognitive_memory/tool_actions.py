"""The action of each tool: reads its arguments, asks the memory in the caller's scene, returns the contract's form."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Literal

import cognitive_memory_core as core

from . import replies
from .arguments import Arguments, BadToolArgument
from .config import setup
from .lifecycle import get_memory
from .reading_breadth import breadth
from .throttled_log import complain
from .turn_end import TurnEnd

EVERYTHING = ("event", "preference", "knowledge", "experience", "message")
SUMMARY_LENGTH = 2_000  # characters of one profile; people may write more into its file
TAGS = 32
EntityType = Literal["user", "member", "group"]
Answer = Mapping[str, object]
Action = Callable[[TurnEnd, Arguments], Awaitable[Answer]]
_KINDS: Mapping[str, EntityType] = {
    **dict.fromkeys(("user", "users", "person", *replies.tools.USER_WORDS), "user"),
    **dict.fromkeys(("member", "members", *replies.tools.MEMBER_WORDS), "member"),
    **dict.fromkeys(("group", "groups", *replies.tools.GROUP_WORDS), "group"),
}


async def _end(end: TurnEnd, arguments: Arguments) -> Answer:
    job_id = await end(
        arguments.wish("memo"),
        arguments.texts("observations"),
        perspective=arguments.wish("perspective") or None,
        force=arguments.flag("force"),
    )
    return {"id": job_id}


async def _search_events(end: TurnEnd, arguments: Arguments) -> Answer:
    """Search events and log lines in one list, without the question itself."""
    wanted = arguments.count("top_k") or setup.settings.query.tool_default_top_k
    asked = frozenset(end.source.message_ids if end.source else ())
    hits = await _found(end, arguments, wanted + len(asked))
    others = [hit for hit in hits if hit.event.kind != "message" or hit.event.id not in asked]
    return {"events": [_event(hit) for hit in others[:wanted]]}


async def _found(end: TurnEnd, arguments: Arguments, wanted: int) -> list[core.Hit]:
    return await get_memory().search_events(
        end.scene,
        arguments.needed("query"),
        user_id=arguments.identifier("target_user_id"),
        group_id=arguments.identifier("target_group_id"),
        kinds=EVERYTHING,
        top_k=wanted,
        time_from=arguments.wish("time_from") or None,
        time_to=arguments.wish("time_to") or None,
    )


async def _get_profile(end: TurnEnd, arguments: Arguments) -> Answer:
    profile = await get_memory().get_profile(end.scene, *_entity(end.scene, arguments))
    if profile and not _may_see(end.scene, profile):
        raise BadToolArgument(replies.tools.TOO_MANY_PEOPLE)
    return {"profile": _profile(profile) if profile else None}


async def _search_profiles(end: TurnEnd, arguments: Arguments) -> Answer:
    hits = await get_memory().search_profiles(
        end.scene, arguments.needed("query"), entity_type=_entity_type(arguments), top_k=arguments.count("top_k")
    )
    shown = [hit for hit in hits if _may_see(end.scene, hit.profile)]
    if hits and not shown:
        raise BadToolArgument(replies.tools.TOO_MANY_PEOPLE)
    return {"profiles": [{**_profile(hit.profile), "score": round(hit.score, 3)} for hit in shown]}


def _may_see(scene: core.Scene, profile: core.Profile) -> bool:
    """Count a profile of somebody else for its asker; return False, and warn, if it is one too many within an hour."""
    person = profile.key.user_id
    if person in ("", scene.user_id) or breadth.admits((scene.agent, scene.user_id), person):
        return True
    complain(replies.log.too_broad(scene))
    return False


async def _memory_add(end: TurnEnd, arguments: Arguments) -> Answer:
    return {"id": (await get_memory().pin(end.scene, arguments.needed("fact"))).id}


async def _memory_update(end: TurnEnd, arguments: Arguments) -> Answer:
    pin, fact = await _own_pin(end.scene, arguments), arguments.needed("fact")
    return {"id": (await get_memory().update_pin(end.scene, pin.id, fact)).id}


async def _memory_delete(end: TurnEnd, arguments: Arguments) -> Answer:
    pin = await _own_pin(end.scene, arguments)
    await get_memory().unpin(end.scene, pin.id)
    return {"id": pin.id}


async def _memory_list(end: TurnEnd, _arguments: Arguments) -> Answer:
    return {"memories": [{"id": pin.id, "fact": pin.text} for pin in await get_memory().pins(end.scene)]}


async def _own_pin(scene: core.Scene, arguments: Arguments) -> core.Pin:
    """Return a pin of the asker; everybody sees the group's pins, but only admins change them."""
    wanted = arguments.needed("id")
    found = next((pin for pin in await get_memory().pins(scene) if pin.id == wanted), None)
    if found is None:
        raise core.UnknownPin(replies.tools.UNKNOWN_PIN)
    if found.owner_id != scene.user_id:
        raise core.NotPermitted(replies.tools.PIN_OF_THE_GROUP)
    return found


def _entity(scene: core.Scene, arguments: Arguments) -> tuple[EntityType, str]:
    """Return type and id of the profile asked for; the id may be alone, name(id) or group/user, whatever the type."""
    kind, identifier = _entity_type(arguments), arguments.needed_identifier("entity_id")
    group_id, slash, user_id = identifier.partition("/")
    if kind != "group" and slash and user_id and (group_id == scene.group_id or group_id.isdecimal()):
        return "member", identifier
    if kind == "member" and scene.group_id:
        return "member", f"{scene.group_id}/{identifier}"
    return kind or ("group" if identifier == scene.group_id else "user"), identifier


def _entity_type(arguments: Arguments) -> EntityType | None:
    word = arguments.wish("entity_type").lower()
    if word and word not in _KINDS:
        raise BadToolArgument(replies.tools.BAD_ENTITY_TYPE)
    return _KINDS.get(word)


def _event(hit: core.Hit) -> Answer:
    event = hit.event
    return {
        "id": event.id,
        "time": _minute(event.happened_at),
        "text": event.text,
        "by": replies.tools.speaker(event),
        "score": round(hit.score, 3),
    }


def _profile(profile: core.Profile) -> Answer:
    key = profile.key
    return {
        "entity_type": key.entity_type,
        "entity_id": "/".join(part for part in (key.group_id, key.user_id) if part),
        "name": profile.name,
        "tags": list(profile.tags[:TAGS]),
        "summary": profile.summary[:SUMMARY_LENGTH],
        "updated_at": _minute(profile.updated_at),
    }


def _minute(instant: datetime) -> str:
    """Return an instant as local time; the first and last day of the calendar cannot be converted."""
    with suppress(OverflowError):
        instant = instant.astimezone(setup.settings.zone)
    return instant.replace(tzinfo=None).isoformat(" ", "minutes")


ACTIONS: Mapping[str, Action] = {
    "end": _end,
    "search_events": _search_events,
    "get_profile": _get_profile,
    "search_profiles": _search_profiles,
    "memory_add": _memory_add,
    "memory_update": _memory_update,
    "memory_delete": _memory_delete,
    "memory_list": _memory_list,
}
