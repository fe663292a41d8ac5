"""The action of each tool: reads its arguments, asks the memory in the caller's scene, returns JSON values.

Those of every tool stand first; those of an agent that speaks MCP, which also do what a chat plugin does without a
tool, stand last.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from .. import sentences
from ..domain.belief import Belief
from ..domain.event import Event
from ..domain.message import Hit
from ..domain.profile import EntityType, Profile, said_in
from ..domain.scope import Scene
from ..domain.turn import Pin, Turn
from ..errors import CognitiveMemoryError, NotPermitted, UnknownPin
from ..memory import CognitiveMemory
from ..settings import Settings
from ..text.people import spoken
from .tool_arguments import AGENT_TOOLS, Arguments, BadToolArgument

log = logging.getLogger(__name__)
STRICT = frozenset({"memory_update", "memory_delete"})  # changing or removing needs unrepaired arguments
MOST_PEOPLE = 30  # within the window: more than a conversation needs, far fewer than a group has
WINDOW = 3_600.0  # seconds
ASKERS = 2_000
USUAL_BELIEFS = 20
THRESHOLD = 0.3  # of a search for beliefs; the caller sees the scores


class ProfileLimit:
    """Counts whose profiles each asker was shown; ``clock`` returns seconds of a monotonic clock."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start with no profile counted."""
        self._clock = clock
        self._shown: OrderedDict[Hashable, dict[str, float]] = OrderedDict()

    def admits(self, asker: Hashable, person: str) -> bool:
        """Count a person's profile as shown to an asker; return False if the limit for ``WINDOW`` is reached."""
        now = self._clock()
        shown = self._shown.setdefault(asker, {})
        self._shown.move_to_end(asker)
        if len(self._shown) > ASKERS:
            self._shown.popitem(last=False)
        for known in [known for known, at in shown.items() if at <= now - WINDOW]:
            del shown[known]
        if person not in shown and len(shown) >= MOST_PEOPLE:
            return False
        shown[person] = now
        return True


process_limit = ProfileLimit()  # of this process


EVERYTHING = ("event", "preference", "knowledge", "experience", "message")
MOST_TALKS = 12  # the latest ones
SUMMARY_LENGTH = 2_000  # characters of one profile; people may write more into its file
TAGS = 32
Answer = Mapping[str, object]
_KINDS: Mapping[str, EntityType] = {
    **dict.fromkeys(("user", "users", "person", *sentences.tools.USER_WORDS), "user"),
    **dict.fromkeys(("member", "members", *sentences.tools.MEMBER_WORDS), "member"),
    **dict.fromkeys(("group", "groups", *sentences.tools.GROUP_WORDS), "group"),
}


@dataclass(frozen=True)
class ToolCaller:
    """The memory that a tool uses and the scene in which it runs; no argument of a tool changes either of them.

    ``asked`` are the ids of the messages that hold the question; a search omits them. ``on_too_broad`` is called with
    the scene of an asker who has asked for too many people's profiles.
    """

    memory: CognitiveMemory
    scene: Scene
    settings: Settings
    asked: frozenset[str] = frozenset()
    profile_limit: ProfileLimit = field(default=process_limit, compare=False)
    on_too_broad: Callable[[Scene], None] = field(default=lambda _: None, compare=False)

    def may_see(self, profile: Profile) -> bool:
        """Count a profile of somebody else as shown to the asker; return False if the hourly limit is reached."""
        person = profile.key.user_id
        asker = (self.scene.agent, self.scene.user_id)
        if person in ("", self.scene.user_id) or self.profile_limit.admits(asker, person):
            return True
        self.on_too_broad(self.scene)
        return False

    def minute(self, instant: datetime) -> str:
        """Return an instant as local time to the minute; unconverted near the first or last day of the calendar."""
        with suppress(OverflowError):
            instant = instant.astimezone(self.settings.zone)
        return instant.replace(tzinfo=None).isoformat(" ", "minutes")


Action = Callable[[ToolCaller, Arguments], Awaitable[Answer]]


def speaker(event: Event) -> str:
    """Return who said an event or a message, as ``name(id)``."""
    is_bot = event.kind == "message" or bool(event.quotes)
    return sentences.tools.speaker(event.sender_name, event.sender_id, is_bot=is_bot)


async def _search_events(caller: ToolCaller, arguments: Arguments) -> Answer:
    return {"events": [event_answer(caller, hit) for hit in await found_events(caller, arguments)]}


async def found_events(caller: ToolCaller, arguments: Arguments) -> list[Hit]:
    """Search events and log lines in one list, without the question itself."""
    wanted = arguments.count("top_k") or caller.settings.query.tool_default_top_k
    hits = await caller.memory.search_events(
        caller.scene,
        arguments.needed("query"),
        user_id=arguments.identifier("target_user_id"),
        group_id=arguments.identifier("target_group_id"),
        kinds=EVERYTHING,
        top_k=wanted + len(caller.asked),
        time_from=arguments.text_argument("time_from") or None,
        time_to=arguments.text_argument("time_to") or None,
    )
    if not hits:
        await require_readable(caller)
    others = [hit for hit in hits if hit.event.kind != "message" or hit.event.id not in caller.asked]
    return others[:wanted]


async def require_readable(caller: ToolCaller) -> None:
    """Raise UnavailableError if the ledger refuses reads, because a search then finds nothing instead of failing."""
    await caller.memory.events(caller.scene, limit=1)


async def found_profile(caller: ToolCaller, arguments: Arguments) -> Profile | None:
    """Return the profile that a call asks for; None if there is none. Raises BadToolArgument if it may not be seen."""
    profile = await caller.memory.get_profile(caller.scene, *_entity(caller.scene, arguments))
    if profile is None:
        await require_readable(caller)
    elif not caller.may_see(profile):
        raise BadToolArgument(sentences.tools.TOO_MANY_PEOPLE)
    return profile


async def _get_profile(caller: ToolCaller, arguments: Arguments) -> Answer:
    profile = await found_profile(caller, arguments)
    return {"profile": profile_answer(caller, profile) if profile else None}


async def _search_profiles(caller: ToolCaller, arguments: Arguments) -> Answer:
    hits = await caller.memory.search_profiles(
        caller.scene, arguments.needed("query"), entity_type=_entity_type(arguments), top_k=arguments.count("top_k")
    )
    if not hits:
        await require_readable(caller)
    shown = [hit for hit in hits if caller.may_see(hit.profile)]
    if hits and not shown:
        raise BadToolArgument(sentences.tools.TOO_MANY_PEOPLE)
    return {"profiles": [{**profile_answer(caller, hit.profile), "score": round(hit.score, 3)} for hit in shown]}


async def _catch_up(caller: ToolCaller, arguments: Arguments) -> Answer:
    missed = await caller.memory.catch_up(caller.scene, since=arguments.text_argument("since") or None)
    return {
        "since": caller.minute(missed.since),
        "talks": [
            {
                "from": caller.minute(talk.begun_at),
                "to": caller.minute(talk.ended_at),
                "lines": talk.lines,
                "people": [f"{person.label} {count}" for person, count in talk.speakers[:MOST_PEOPLE]],
                "memories": [
                    {"time": caller.minute(event.happened_at), "text": spoken(event)} for event in talk.events[-TAGS:]
                ],
            }
            for talk in missed.talks[-MOST_TALKS:]
        ],
    }


async def _memory_add(caller: ToolCaller, arguments: Arguments) -> Answer:
    return {"id": (await caller.memory.pin(caller.scene, arguments.needed("fact"))).id}


async def _memory_update(caller: ToolCaller, arguments: Arguments) -> Answer:
    pin, fact = await _own_pin(caller, arguments), arguments.needed("fact")
    return {"id": (await caller.memory.update_pin(caller.scene, pin.id, fact)).id}


async def _memory_delete(caller: ToolCaller, arguments: Arguments) -> Answer:
    pin = await _own_pin(caller, arguments)
    await caller.memory.unpin(caller.scene, pin.id)
    return {"id": pin.id}


async def _memory_list(caller: ToolCaller, _arguments: Arguments) -> Answer:
    return {"memories": [{"id": pin.id, "fact": pin.text} for pin in await caller.memory.pins(caller.scene)]}


async def _own_pin(caller: ToolCaller, arguments: Arguments) -> Pin:
    """Return the asker's own pin with this id; raises UnknownPin, or NotPermitted for a pin of the whole group."""
    wanted = arguments.needed("id")
    found = next((pin for pin in await caller.memory.pins(caller.scene) if pin.id == wanted), None)
    if found is None:
        raise UnknownPin(sentences.tools.UNKNOWN_PIN)
    if found.owner_id != caller.scene.user_id:
        raise NotPermitted(sentences.tools.PIN_OF_THE_GROUP)
    return found


def _entity(scene: Scene, arguments: Arguments) -> tuple[EntityType, str]:
    """Return type and id of the requested profile; the id may be written alone, as name(id) or as group/user."""
    kind, identifier = _entity_type(arguments), arguments.identifier("entity_id")
    if identifier is None:
        raise BadToolArgument(sentences.tools.ARGUMENT_MISSING.format(name="entity_id"))
    group_id, slash, user_id = identifier.partition("/")
    if kind != "group" and slash and user_id and (group_id == scene.group_id or group_id.isdecimal()):
        return "member", identifier
    if kind == "member" and scene.group_id:
        return "member", f"{scene.group_id}/{identifier}"
    return kind or ("group" if identifier == scene.group_id else "user"), identifier


def _entity_type(arguments: Arguments) -> EntityType | None:
    word = arguments.text_argument("entity_type").lower()
    if word and word not in _KINDS:
        raise BadToolArgument(sentences.tools.BAD_ENTITY_TYPE)
    return _KINDS.get(word)


def event_answer(caller: ToolCaller, hit: Hit) -> Answer:
    """Return a hit in the contract's form; an event's text is what people said, not a model's wording of it."""
    event = hit.event
    return {
        "id": event.id,
        "time": caller.minute(event.happened_at),
        "text": event.text if event.kind == "message" else spoken(event),
        "by": speaker(event),
        "score": round(hit.score, 3),
    }


def profile_answer(caller: ToolCaller, profile: Profile) -> Answer:
    """Return a profile in the contract's form, shortened to its bounds."""
    key = profile.key
    return {
        "entity_type": key.entity_type,
        "entity_id": "/".join(part for part in (key.group_id, key.user_id) if part),
        "name": profile.name,
        "tags": list(profile.tags[:TAGS]),
        "summary": profile.summary[:SUMMARY_LENGTH],
        "updated_at": caller.minute(profile.updated_at),
    }


async def answer(
    caller: ToolCaller, name: str, written: object, action: Action, known: Collection[str] | None = None
) -> Answer:
    """Run a tool in the caller's scene; if it is refused, return "ok": False and an "error" for the model.

    ``written`` are the arguments as the model wrote them; with ``known``, no others are allowed and none may be cut.
    """
    try:
        arguments = await Arguments.read(written, repair=name not in STRICT)
        if known is not None:
            arguments.require_bounded(known)
        return {"ok": True, **await action(caller, arguments)}
    except NotPermitted as refused:
        scene = caller.scene
        place = sentences.report.place(scene.group_id, scene.user_id)
        log.warning("%s", sentences.tools.REFUSED_TOOL.format(tool=name, place=place, user_id=scene.user_id))
        return failure(str(refused))
    except (BadToolArgument, CognitiveMemoryError) as refused:
        return failure(str(refused))


def failure(error: str) -> Answer:
    """Return the answer of a call that was refused."""
    return {"ok": False, "error": error}


ACTIONS: Mapping[str, Action] = {
    "search_events": _search_events,
    "get_profile": _get_profile,
    "search_profiles": _search_profiles,
    "catch_up": _catch_up,
    "memory_add": _memory_add,
    "memory_update": _memory_update,
    "memory_delete": _memory_delete,
    "memory_list": _memory_list,
}


async def _remember(caller: ToolCaller, arguments: Arguments) -> Answer:
    """Hand in observations and a memo as one turn; the historian makes absolute statements of them."""
    turn = Turn(
        caller.scene,
        memo=arguments.text_argument("memo"),
        observations=arguments.texts("observations"),
        force=arguments.flag("force"),
    )
    if not turn.memo and not turn.observations:
        raise BadToolArgument(sentences.tools.ARGUMENT_MISSING.format(name="observations"))
    job_id = await caller.memory.remember(turn)
    if job_id is None:
        raise BadToolArgument(sentences.tools.NOT_RECORDED)
    return {"id": job_id}


async def _context(caller: ToolCaller, arguments: Arguments) -> Answer:
    """Return the memory's context for a model that answers ``query``."""
    context = await caller.memory.context(caller.scene, arguments.needed("query"))
    return {"context": context.text, "tokens": context.tokens, "degraded": list(context.degraded)}


async def _agent_search_events(caller: ToolCaller, arguments: Arguments) -> Answer:
    """Search as every tool does; each event also has its voice and the lines that it rests on."""
    told: list[Answer] = []
    for hit in await found_events(caller, arguments):
        quotes = [
            {
                **{name: getattr(quote, name) for name in ("message_id", "sender_id", "text")},
                "sent_at": caller.minute(quote.sent_at) if quote.sent_at else None,
            }
            for quote in hit.event.quotes
        ]
        told.append({**event_answer(caller, hit), "said_by": hit.event.sender_id, "quotes": quotes})
    return {"events": told}


async def _agent_get_profile(caller: ToolCaller, arguments: Arguments) -> Answer:
    """Return a profile as every tool does, with the ids of the events that each line or tag rests on."""
    profile = await found_profile(caller, arguments)
    if profile is None:
        return {"profile": None}
    told = {*map(said_in, profile.summary[:SUMMARY_LENGTH].split("\n")), *profile.tags[:TAGS]}
    sources = {said: list(ids) for said, ids in profile.sources.items() if said in told}
    return {"profile": {**profile_answer(caller, profile), "sources": sources}}


async def _beliefs(caller: ToolCaller, arguments: Arguments) -> Answer:
    """Return the active beliefs of the group, by strength or by likeness to ``query``."""
    if not caller.scene.group_id:
        raise BadToolArgument(sentences.tools.BELIEFS_ARE_OF_GROUPS)
    limit = arguments.count("limit") or USUAL_BELIEFS
    query = arguments.text_argument("query")
    if query:
        hits = await caller.memory.search_beliefs(caller.scene, query, limit=limit, threshold=THRESHOLD)
        if not hits:
            await require_readable(caller)
        return {"beliefs": [{**_belief(caller, hit.belief), "score": round(hit.score, 3)} for hit in hits]}
    page = await caller.memory.beliefs(caller.scene, limit=limit)
    return {"beliefs": [_belief(caller, belief) for belief in page.beliefs], "total": page.total}


def _belief(caller: ToolCaller, belief: Belief) -> Answer:
    return {
        "id": belief.id,
        "text": belief.statement,
        "said_by": next(iter(belief.supporters), ""),
        "strength": round(belief.strength, 2),
        "updated_at": caller.minute(belief.updated_at),
    }


AGENT_ACTIONS: Mapping[str, Action] = {
    **ACTIONS,
    "search_events": _agent_search_events,
    "get_profile": _agent_get_profile,
    "remember": _remember,
    "context": _context,
    "beliefs": _beliefs,
}


async def agent_answer(caller: ToolCaller, name: str, written: object) -> Answer:
    """Run a tool of an agent; see :func:`answer`."""
    if name not in AGENT_ACTIONS:
        return failure(sentences.tools.UNKNOWN_TOOL)
    return await answer(caller, name, written, AGENT_ACTIONS[name], AGENT_TOOLS[name])
