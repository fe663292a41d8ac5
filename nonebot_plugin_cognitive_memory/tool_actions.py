"""What each tool does: read its arguments, ask the memory in the caller's scene, answer in the contract's form."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Literal, cast, get_args

import cognitive_memory_core as core

from . import replies
from .arguments import Arguments, BadToolArgument
from .config import setup
from .lifecycle import get_memory
from .recording import TurnEnd

THIN = 3  # with fewer fitting events than this the raw log is asked too
EntityType = Literal["user", "member", "group"]
Answer = Mapping[str, object]
Action = Callable[[TurnEnd, Arguments], Awaitable[Answer]]


async def _end(end: TurnEnd, arguments: Arguments) -> Answer:
    job_id = await end(
        arguments.text("memo"),
        arguments.texts("observations"),
        perspective=arguments.text("perspective") or None,
        force=arguments.flag("force"),
    )
    return {"id": job_id}


async def _search_events(end: TurnEnd, arguments: Arguments) -> Answer:
    memory, wanted = get_memory(), arguments.count("top_k") or setup.settings.query.tool_default_top_k
    hits = await _found(memory, end, arguments, (), wanted)
    fitting = [hit for hit in hits if hit.relevance >= setup.settings.query.min_relevance]
    if len(fitting) < min(THIN, wanted):
        hits = fitting + await _found(memory, end, arguments, ("message",), wanted - len(fitting))
    return {"events": [_event(hit) for hit in hits]}


async def _found(
    memory: core.CognitiveMemory, end: TurnEnd, arguments: Arguments, kinds: tuple[str, ...], wanted: int
) -> list[core.Hit]:
    hits = await memory.search_events(
        end.scene,
        arguments.needed("query"),
        user_id=arguments.identifier("target_user_id"),
        group_id=arguments.identifier("target_group_id"),
        kinds=kinds,
        top_k=wanted,
        time_from=arguments.text("time_from") or None,
        time_to=arguments.text("time_to") or None,
    )
    asked = end.source.message_ids if end.source else ()
    return [hit for hit in hits if hit.event.id not in asked]


async def _get_profile(end: TurnEnd, arguments: Arguments) -> Answer:
    entity_id = arguments.identifier("entity_id")
    if entity_id is None:
        raise BadToolArgument(replies.argument_missing("entity_id"))
    profile = await get_memory().get_profile(end.scene, _entity_type(arguments) or "user", entity_id)
    return {"profile": _profile(profile) if profile else None}


async def _search_profiles(end: TurnEnd, arguments: Arguments) -> Answer:
    hits = await get_memory().search_profiles(
        end.scene, arguments.needed("query"), entity_type=_entity_type(arguments), top_k=arguments.count("top_k")
    )
    return {"profiles": [{**_profile(hit.profile), "score": round(hit.score, 3)} for hit in hits]}


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
    """Give a pin of the asker; the group's are seen by everybody and changed by admins alone."""
    wanted = arguments.needed("id")
    found = next((pin for pin in await get_memory().pins(scene) if pin.id == wanted), None)
    if found is None:
        raise core.UnknownPin(replies.unknown_pin())
    if found.owner_id != scene.user_id:
        raise core.NotPermitted(replies.pin_of_the_group())
    return found


def _entity_type(arguments: Arguments) -> EntityType | None:
    word = arguments.text("entity_type").lower()
    if word and word not in get_args(EntityType):
        raise BadToolArgument(replies.bad_entity_type())
    return cast("EntityType", word) if word else None


def _event(hit: core.Hit) -> Answer:
    event = hit.event
    return {
        "id": event.id,
        "time": event.happened_at.astimezone(setup.settings.zone).strftime("%Y-%m-%d %H:%M"),
        "text": event.text,
        "by": replies.speaker(event),
        "score": round(hit.score, 3),
    }


def _profile(profile: core.Profile) -> Answer:
    key = profile.key
    return {
        "entity_type": key.entity_type,
        "entity_id": "/".join(part for part in (key.group_id, key.user_id) if part),
        "name": profile.name,
        "tags": list(profile.tags),
        "summary": profile.summary,
        "updated_at": profile.updated_at.astimezone(setup.settings.zone).strftime("%Y-%m-%d %H:%M"),
    }


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
