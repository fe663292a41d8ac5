"""The pages of what a group believes: the list, the versions of one, what changed lately, and suggestions."""

from __future__ import annotations

from starlette.responses import Response

import cognitive_memory_core as core

from .charts import timeline
from .visit import PAGE, Found, Visit

STATUSES = ("active", "deprecated", "all")
SPANS = WEEK, MONTH, LONGEST = 7, 30, 366  # days
EVOLVED = 14  # days whose lines an evolution reads
LINES, VERSIONS = 6, 10  # of a version, its newest lines are shown; older versions have none
MOST_SHOWN = 20
EVIDENCE = 5  # experiences of a suggestion that are quoted, the newest
DECISIONS = ("accept", "dismiss")


async def beliefs(visit: Visit) -> Response:
    """List the beliefs of a group and their changes of the last days; without a chosen group, list the groups."""
    groups = await visit.offered_places(visit.place(f"group/{visit.asked('group')}"), "group")
    group_id = visit.asked("group") or (groups[0].scope.place_id if groups else "")
    status = visit.asked("status") if visit.asked("status") in STATUSES else "active"
    days = min(max(visit.number("days", WEEK), 1), LONGEST)
    scene = visit.scene(group_id or None)
    page = core.BeliefPage((), 0)
    changes: list[core.Change] = []
    if group_id:
        page = await visit.memory.beliefs(scene, status=status, limit=PAGE, offset=visit.offset)  # type: ignore[arg-type]  # of STATUSES
        changes = await visit.memory.belief_changes(scene, days=days)
    chains = {one.id: await visit.memory.belief_history(scene, one.id) for one in page.beliefs}
    people = (person for chain in chains.values() for one in chain for person in one.supporters)
    names = await visit.people_named([*people, *(one.changed_by for one in changes)])
    return await visit.show(
        "beliefs.html",
        timeline=timeline(chains, visit.now, visit.zone, names),
        groups=groups,
        group_id=group_id,
        listed=status,
        statuses=[(one, visit.words(f"belief.{one}")) for one in STATUSES],
        spans=[(one, visit.words(f"beliefs.span_{one}")) for one in SPANS],
        days=days,
        rows=page.beliefs,
        has_more=page.total > visit.offset + PAGE,
        changes=changes[::-1],
        names=names,
    )


async def belief(visit: Visit) -> Response:
    """Show the versions of a belief as a timeline, each with the lines on which it rests."""
    group_id = visit.asked("group")
    versions = await visit.memory.belief_history(visit.scene(group_id), visit.asked("id"))
    if not versions:
        return visit.go("/beliefs", group=group_id)
    ids = {one.id for one in versions}
    changes = await visit.memory.belief_changes(visit.scene(group_id), days=LONGEST)
    changes = [one for one in changes if one.belief_id in ids][::-1]
    said = dict.fromkeys(line for one in versions[-VERSIONS:] for line in one.message_ids[-LINES:])
    return await visit.show(
        "belief.html",
        lines=await visit.memory.find_messages(visit.scene(group_id), list(said)) if said else [],
        names=await visit.people_named([*versions[-1].supporters, *(one.changed_by for one in changes)]),
        group_id=group_id,
        versions=versions[::-1],
        current=versions[-1],
        changes=changes,
    )


async def change(visit: Visit) -> Response:
    """Retire, restore or reword a belief, or set its strength."""
    group_id, belief_id, action = visit.sent("group"), visit.sent("id"), visit.sent("action")
    memory, scene = visit.memory, visit.scene(group_id)
    if action == "retire":
        changed = await memory.retire_belief(scene, belief_id, visit.sent("reason") or visit.words("beliefs.by_hand"))
    elif action == "restore":
        changed = await memory.restore_belief(scene, belief_id)
    elif action == "reword":
        changed = await memory.reword_belief(scene, belief_id, visit.sent("text"))
    else:
        changed = await memory.set_belief_strength(scene, belief_id, _share(visit.sent("strength")))
    return visit.go("/beliefs/open", notice=visit.words("people.done"), at="change", group=group_id, id=changed.id)


async def evolve(visit: Visit) -> Response:
    """Update the beliefs of a group now, from what was said in the last two weeks."""
    group_id = visit.sent("group")
    if not group_id:
        return visit.go("/beliefs")
    run = await visit.memory.evolve(visit.scene(group_id), days=EVOLVED)
    return visit.go("/beliefs", reported=(run.message,), group=group_id)


def _share(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return -1.0  # refused by the memory with a sentence


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
        people = await visit.people_named(one.people)
        rows.append({"suggestion": one, "evidence": evidence, "people": people})
    return {"rows": rows, "total": len(found)}


async def decide(visit: Visit) -> Response:
    """Accept a suggestion, which makes its draft a belief, or dismiss it for good."""
    group_id, decision = visit.sent("group"), visit.sent("action")
    if decision not in DECISIONS or not group_id:
        return visit.go("/suggestions", group=group_id)
    await visit.memory.decide_suggestion(visit.scene(group_id), visit.sent("id"), decision == "accept")
    return visit.go("/suggestions", notice=visit.words(f"suggestions.done_{decision}"), group=group_id)


PAGES = (
    ("GET", "/beliefs", beliefs),
    ("GET", "/beliefs/open", belief),
    ("POST", "/beliefs/change", change),
    ("POST", "/beliefs/evolve", evolve),
    ("GET", "/suggestions", suggestions),
    ("POST", "/suggestions/decide", decide),
)
