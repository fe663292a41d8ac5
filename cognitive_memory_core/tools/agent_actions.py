"""The actions of an agent that speaks MCP: those of every tool, and what a chat plugin does without a tool."""

from __future__ import annotations

from collections.abc import Mapping

from .. import sentences
from ..domain.belief import Belief
from ..domain.profile import said_in
from ..domain.turn import Turn
from .actions import (
    ACTIONS,
    SUMMARY_LENGTH,
    TAGS,
    Action,
    Answer,
    ToolCaller,
    answer,
    event_answer,
    failure,
    found_events,
    found_profile,
    profile_answer,
    require_readable,
)
from .schemas import AGENT_TOOLS
from .tool_arguments import Arguments, BadToolArgument

USUAL_BELIEFS = 20
THRESHOLD = 0.3  # of a search for beliefs; the caller sees the scores


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


async def _search_events(caller: ToolCaller, arguments: Arguments) -> Answer:
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


async def _get_profile(caller: ToolCaller, arguments: Arguments) -> Answer:
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
    "search_events": _search_events,
    "get_profile": _get_profile,
    "remember": _remember,
    "context": _context,
    "beliefs": _beliefs,
}


async def agent_answer(caller: ToolCaller, name: str, written: object) -> Answer:
    """Run a tool of an agent; see :func:`answer`."""
    if name not in AGENT_ACTIONS:
        return failure(sentences.tools.UNKNOWN_TOOL)
    return await answer(caller, name, written, AGENT_ACTIONS[name], AGENT_TOOLS[name])
