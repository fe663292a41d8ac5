"""The action of each tool: asks the memory in the caller's scene, and returns JSON values.

What an action declares as parameters is its schema. Those of every tool stand first; those of an agent that speaks MCP,
which also do what a chat plugin does without a tool, stand last.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime

from .. import sentences
from ..domain.answer import Hit
from ..domain.belief import Belief
from ..domain.event import Event
from ..domain.notes import Pin
from ..domain.people import label_of
from ..domain.profile import EntityType, Profile, ProfileKey, said_in
from ..domain.scope import Scene
from ..domain.turn import Turn
from ..errors import CognitiveMemoryError, NotPermitted, UnknownPin
from ..memory.cognitive_memory import CognitiveMemory
from ..recall.beliefs_and_profiles import tags_by_hand
from ..recall.render import minute, words_beside, words_of_belief
from ..settings.schema import Settings
from ..tasks import AWAY
from ..text.speakers import spoken
from .tool_arguments import (
    Action,
    Answer,
    BadToolArgument,
    Count,
    Entity,
    Flag,
    Identifier,
    Needed,
    Schema,
    Text,
    Texts,
    parameters_schema,
    read_arguments,
)

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


@dataclass(frozen=True)
class ToolCaller:
    """The memory that a tool uses and the scene in which it runs; no argument of a tool changes either of them.

    ``asked`` are the ids of the messages that hold the question; a search omits them. ``on_too_broad`` is called with
    the scene of an asker who has asked for too many people's profiles. An agent is told more of each item.
    """

    memory: CognitiveMemory
    scene: Scene
    settings: Settings
    asked: frozenset[str] = frozenset()
    profile_limit: ProfileLimit = field(default=process_limit, compare=False)
    on_too_broad: Callable[[Scene], None] = field(default=lambda _: None, compare=False)
    is_agent: bool = False

    def may_see(self, profile: Profile) -> bool:
        """Count a profile of somebody else as shown to the asker; return False if the hourly limit is reached."""
        person = profile.key.user_id
        asker = (self.scene.agent, self.scene.user_id)
        if person in ("", self.scene.user_id) or self.profile_limit.admits(asker, person):
            return True
        self.on_too_broad(self.scene)
        return False

    def minute(self, instant: datetime) -> str:
        """Return an instant as local time to the minute."""
        return minute(instant, self.settings.zone)


def speaker(event: Event) -> str:
    """Return who said an event or a message, as ``name(id)``; the bot and several people have no id."""
    if event.sender_id:
        return label_of(event.sender_id, event.sender_name)
    return sentences.context.THE_BOT if event.kind == "message" or event.quotes else sentences.tools.SEVERAL_PEOPLE


async def _search_events(
    caller: ToolCaller,
    query: Needed,
    target_user_id: Identifier = None,
    target_group_id: Identifier = None,
    top_k: Count = None,
    time_from: Text = "",
    time_to: Text = "",
) -> Answer:
    """Search events and log lines in one list, without the question itself."""
    wanted = top_k or caller.settings.query.tool_default_top_k
    hits = await caller.memory.search_events(
        caller.scene,
        query,
        user_id=target_user_id,
        group_id=target_group_id,
        kinds=EVERYTHING,
        top_k=wanted + len(caller.asked),
        time_from=time_from or None,
        time_to=time_to or None,
    )
    others = [hit for hit in hits if hit.event.kind != "message" or hit.event.id not in caller.asked]
    return {"events": [_event_answer(caller, hit) for hit in others[:wanted]]}


def _event_answer(caller: ToolCaller, hit: Hit) -> Answer:
    """Return a hit in the contract's form; an event's text is what people said, not a model's wording of it.

    An agent is also told its voice and the lines that it rests on.
    """
    event = hit.event
    told: Answer = {
        "id": event.id,
        "time": caller.minute(event.happened_at),
        "text": event.text if event.kind == "message" else spoken(event),
        "by": speaker(event),
        "score": round(hit.score, 3),
    }
    if not caller.is_agent:
        return told
    quotes = [
        {
            **{name: getattr(quote, name) for name in ("message_id", "sender_id", "text")},
            "sent_at": caller.minute(quote.sent_at) if quote.sent_at else None,
        }
        for quote in event.quotes
    ]
    return {**told, "said_by": event.sender_id, "quotes": quotes}


async def _get_profile(caller: ToolCaller, entity_type: Entity, entity_id: Identifier) -> Answer:
    profile = await caller.memory.get_profile(caller.scene, *_entity(caller.scene, entity_type, entity_id))
    if profile is None:
        return {"profile": None}
    if not caller.may_see(profile):
        raise BadToolArgument(sentences.tools.TOO_MANY_PEOPLE)
    told = await _profile_answer(caller, profile)
    if caller.is_agent:  # also the ids of the events that each line or tag rests on
        shown = {*map(said_in, profile.summary[:SUMMARY_LENGTH].split("\n")), *profile.tags[:TAGS]}
        told = {**told, "sources": {said: list(ids) for said, ids in profile.sources.items() if said in shown}}
    return {"profile": told}


def _entity(scene: Scene, kind: EntityType | None, identifier: str | None) -> tuple[EntityType, str]:
    """Return type and id of the requested profile; the id may be written alone, as name(id) or as group/user."""
    if identifier is None:
        raise BadToolArgument(sentences.tools.ARGUMENT_MISSING.format(name="entity_id"))
    group_id, slash, user_id = identifier.partition("/")
    if kind != "group" and slash and user_id and (group_id == scene.group_id or group_id.isdecimal()):
        return "member", identifier
    if kind == "member" and scene.group_id:
        return "member", f"{scene.group_id}/{identifier}"
    return kind or ("group" if identifier == scene.group_id else "user"), identifier


def _entity_id(key: ProfileKey) -> str:
    return "/".join(part for part in (key.group_id, key.user_id) if part)


async def _profile_answer(caller: ToolCaller, profile: Profile) -> Answer:
    """Return a profile in the contract's form, shortened to its bounds; what a model worded stands beside its words."""
    key, lines = profile.key, list[str]()
    words = await caller.memory.profile_words(caller.scene, profile)
    for line in profile.summary[:SUMMARY_LENGTH].split("\n"):
        quote = words.get(said := said_in(line))
        beside = quote and words_beside(said, quote, caller.settings.zone, is_own=bool(key.user_id))
        lines.append(line + (sentences.context.IN_WORDS.format(words=beside) if beside else ""))
    return {
        "entity_type": key.entity_type,
        "entity_id": _entity_id(key),
        "name": profile.name,
        **({"note": sentences.context.SELF_TOLD.strip("（）")} if key.user_id else {}),
        "tags": tags_by_hand(profile)[:TAGS],
        "summary": "\n".join(lines),
        "updated_at": caller.minute(profile.updated_at),
    }


async def _search_profiles(
    caller: ToolCaller, query: Needed, entity_type: Entity = None, top_k: Count = None
) -> Answer:
    """Search profiles and read those found, because the searchable copies do not tell what a line rests on."""
    hits = await caller.memory.search_profiles(caller.scene, query, entity_type=entity_type, top_k=top_k)
    shown = [hit for hit in hits if caller.may_see(hit.profile)]
    if hits and not shown:
        raise BadToolArgument(sentences.tools.TOO_MANY_PEOPLE)
    told: list[Answer] = []
    for hit in shown:
        key = hit.profile.key
        with suppress(*AWAY):  # one that cannot be read hides no other
            if stored := await caller.memory.get_profile(caller.scene, key.entity_type, _entity_id(key)):
                told.append({**await _profile_answer(caller, stored), "score": round(hit.score, 3)})
    return {"profiles": told}


async def _catch_up(caller: ToolCaller, since: Text = "") -> Answer:
    missed = await caller.memory.catch_up(caller.scene, since=since or None)
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


async def _memory_add(caller: ToolCaller, fact: Needed) -> Answer:
    return {"id": (await caller.memory.pin(caller.scene, fact)).id}


async def _memory_update(caller: ToolCaller, id: Needed, fact: Needed) -> Answer:  # noqa: A002  # the contract's name
    pin = await _own_pin(caller, id)
    return {"id": (await caller.memory.update_pin(caller.scene, pin.id, fact)).id}


async def _memory_delete(caller: ToolCaller, id: Needed) -> Answer:  # noqa: A002  # the contract's name
    pin = await _own_pin(caller, id)
    await caller.memory.unpin(caller.scene, pin.id)
    return {"id": pin.id}


async def _own_pin(caller: ToolCaller, pin_id: str) -> Pin:
    """Return the asker's own pin with this id; raises UnknownPin, or NotPermitted for a pin of the whole group."""
    found = next((pin for pin in await caller.memory.pins(caller.scene) if pin.id == pin_id), None)
    if found is None:
        raise UnknownPin(sentences.tools.UNKNOWN_PIN)
    if found.owner_id != caller.scene.user_id:
        raise NotPermitted(sentences.tools.PIN_OF_THE_GROUP)
    return found


async def _memory_list(caller: ToolCaller) -> Answer:
    return {"memories": [{"id": pin.id, "fact": pin.text} for pin in await caller.memory.pins(caller.scene)]}


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


async def answer(caller: ToolCaller, name: str, written: object, action: Action) -> Answer:
    """Run a tool in the caller's scene; if it is refused, return "ok": False and an "error" for the model.

    ``written`` are the arguments as the model wrote them. An agent's are refused where another model's would be
    ignored or cut.
    """
    try:
        given = await read_arguments(written, action, repair=name not in STRICT, is_strict=caller.is_agent)
        found = await action(caller, **given)
        if not any(found.values()):  # a search of a ledger that refuses reads finds nothing, and a list raises
            await caller.memory.events(caller.scene, limit=1)
    except NotPermitted as refused:
        scene = caller.scene
        place = sentences.report.place(scene.group_id, scene.user_id)
        log.warning("%s", sentences.tools.REFUSED_TOOL.format(tool=name, place=place, user_id=scene.user_id))
        return failure(str(refused))
    except (BadToolArgument, CognitiveMemoryError) as refused:
        return failure(str(refused))
    return {"ok": True, **found}


def failure(error: str) -> Answer:
    """Return the answer of a call that was refused."""
    return {"ok": False, "error": error}


# an agent's


async def _remember(caller: ToolCaller, observations: Texts, memo: Text = "", force: Flag = False) -> Answer:
    """Hand in observations and a memo as one turn; the historian makes absolute statements of them."""
    if not memo and not observations:
        raise BadToolArgument(sentences.tools.ARGUMENT_MISSING.format(name="observations"))
    job_id = await caller.memory.remember(Turn(caller.scene, memo=memo, observations=observations, force=force))
    if job_id is None:
        raise BadToolArgument(sentences.tools.NOT_RECORDED)
    return {"id": job_id}


async def _context(caller: ToolCaller, query: Needed) -> Answer:
    """Return the memory's context for a model that answers ``query``."""
    context = await caller.memory.context(caller.scene, query)
    return {"context": context.text, "tokens": context.tokens, "degraded": list(context.degraded)}


async def _beliefs(caller: ToolCaller, query: Text = "", limit: Count = None) -> Answer:
    """Return the active beliefs of the group, by strength or by likeness to ``query``."""
    if not caller.scene.group_id:
        raise BadToolArgument(sentences.tools.BELIEFS_ARE_OF_GROUPS)
    most = limit or USUAL_BELIEFS
    if query:
        hits = await caller.memory.search_beliefs(caller.scene, query, limit=most, threshold=THRESHOLD)
        return {"beliefs": [{**_belief(caller, hit.belief), "score": round(hit.score, 3)} for hit in hits]}
    page = await caller.memory.beliefs(caller.scene, limit=most)
    return {"beliefs": [_belief(caller, belief) for belief in page.beliefs], "total": page.total}


def _belief(caller: ToolCaller, belief: Belief) -> Answer:
    return {
        "id": belief.id,
        "text": belief.statement,
        "said_by": next(iter(belief.supporters), ""),
        "words": words_of_belief(belief, caller.settings.zone),
        "strength": round(belief.strength, 2),
        "updated_at": caller.minute(belief.updated_at),
    }


AGENT_ACTIONS: Mapping[str, Action] = {**ACTIONS, "remember": _remember, "context": _context, "beliefs": _beliefs}
WRITING = frozenset({"remember", "memory_add", "memory_update", "memory_delete"})


async def agent_answer(caller: ToolCaller, name: str, written: object) -> Answer:
    """Run a tool of an agent; see :func:`answer`."""
    if name not in AGENT_ACTIONS:
        return failure(sentences.tools.UNKNOWN_TOOL)
    return await answer(replace(caller, is_agent=True), name, written, AGENT_ACTIONS[name])


def agent_schemas() -> list[Schema]:
    """Return the tools of an agent as MCP lists them, as new objects."""
    return [
        {
            "name": name,
            "description": sentences.tools.TOOL_TEXTS[name],
            "inputSchema": {**parameters_schema(name, action, is_bounded=True), "additionalProperties": False},
            "annotations": {"readOnlyHint": name not in WRITING, "destructiveHint": name == "memory_delete"},
        }
        for name, action in AGENT_ACTIONS.items()
    ]
