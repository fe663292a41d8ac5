"""The page of suggestions: what a group could keep about problems that it met again and again."""

from __future__ import annotations

from starlette.responses import Response

from .visit import Found, Visit

MOST_SHOWN = 20
EVIDENCE = 5  # experiences of a suggestion that are quoted, the newest
DECISIONS = ("accept", "dismiss")


async def suggestions(visit: Visit) -> Response:
    """Show the open suggestions of a chosen group; a group must be chosen, because a model may have to word drafts."""
    group_id = visit.asked("group")
    groups = await visit.offered_places(visit.place(f"group/{group_id}"), "group")
    return await visit.show_found("suggestions.html", _open(visit, group_id), groups=groups, group_id=group_id)


async def _open(visit: Visit, group_id: str) -> Found:
    """Return the open suggestions, each with the newest of its events and the people who spoke of them.

    None if no group is chosen.
    """
    found = await visit.memory.suggestions(visit.scene(group_id)) if group_id else []
    listings, scene, rows = visit.memory.listings, visit.scene(), list[Found]()
    for one in found[:MOST_SHOWN]:
        evidence = [await listings.event(scene, event_id) for event_id in one.event_ids[: -EVIDENCE - 1 : -1]]
        people = [await listings.person(scene, user_id) for user_id in one.people]
        rows.append({"suggestion": one, "evidence": evidence, "people": people})
    return {"rows": rows, "total": len(found)}


async def decide(visit: Visit) -> Response:
    """Accept a suggestion, which makes its draft a belief, or dismiss it for good."""
    group_id, decision = visit.sent("group"), visit.sent("action")
    if decision not in DECISIONS or not group_id:
        return visit.go("/suggestions", group=group_id)
    await visit.memory.decide_suggestion(visit.scene(group_id), visit.sent("id"), decision == "accept")
    return visit.go("/suggestions", notice=visit.words(f"suggestions.done_{decision}"), group=group_id)


PAGES = (("GET", "/suggestions", suggestions), ("POST", "/suggestions/decide", decide))
