"""The pages of what is known: today, the memories, one of them in full and the actions on it, and what was said."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import date, datetime, timedelta, timezone
from itertools import groupby

from starlette.responses import Response

import cognitive_memory_core as core

from .charts import Drawn, calendar
from .running import remarks_on
from .sessions import Undo
from .visit import PAGE, Changed, Found, Visit

FOUND = 30  # results of a search: what it costs grows with them
NEAR = 0.2  # share of the best score below which results are folded away
AROUND = 3  # lines shown before and after the source lines
STATES = ("active", "retired", "relative")
FILTERS = ("place", "user_id", "kind", "state", "since", "until", "text")
KINDS = ("event", "preference", "knowledge", "experience")
Change = Callable[[core.Scene, str], Awaitable[object]]
YEAR = 366  # days of the calendar on the first page
NEWEST, PLACES, PEOPLE = 8, 6, 8  # shown on the first page
LINES = 100  # of the log on a page
QUOTED = 80  # characters of the line that is answered


def _filters(visit: Visit) -> dict[str, str]:
    """Return the filters that the address gives; "" if it gives none, or a value that the form does not offer."""
    given = {name: visit.asked(name) for name in FILTERS}
    is_offered = {
        "kind": given["kind"] in KINDS,
        "state": given["state"] in STATES[1:],
        "since": visit.day("since") is not None,
        "until": visit.day("until") is not None,
    }
    return {name: value if is_offered.get(name, True) else "" for name, value in given.items()}


async def memories(visit: Visit) -> Response:
    """List events, or search them if a text is given."""
    wanted = _filters(visit)
    user_id, person = await visit.person(visit.asked("user_id"))
    listing = core.EventListing(
        visit.place(wanted["place"]),
        user_id,
        wanted["kind"],
        wanted["state"] or "active",  # type: ignore[arg-type]  # _filters admits only these
        _window(visit),
    )
    return await visit.show_found(
        "memories.html",
        _found(visit, wanted["text"], listing) if wanted["text"] else _listed(visit, listing),
        wanted=wanted,
        person=person,
        filters=await _chosen(visit, wanted, listing.place, person),
        places=await visit.offered_places(listing.place),
        kinds=("", *KINDS),
        states=STATES,
    )


async def _chosen(
    visit: Visit, wanted: Mapping[str, str], place: core.Scope | None, person: str
) -> list[tuple[str, str]]:
    """Return each filter in words, with the address of the list without it."""
    fields, words = {name: value for name, value in wanted.items() if value}, visit.words
    told = {name: value for name, value in fields.items() if name != "text"}
    if person:
        told["user_id"] = person
    if place:
        told["place"] = (await visit.names_of((place,)))[place] or wanted["place"]
    for name in {"kind", "state"} & fields.keys():
        told[name] = words(f"{name}.{fields[name]}")
    for name in {"since", "until"} & fields.keys():
        told[name] = f"{words(f'memories.{name}')} {fields[name]}"
    return [
        (value, visit.address("/memories", **{other: kept for other, kept in fields.items() if other != name}))
        for name, value in told.items()
    ]


async def _listed(visit: Visit, listing: core.EventListing) -> Found:
    events = await visit.memory.listings.events(visit.scene(), listing, PAGE + 1, visit.offset)
    by_day = groupby(events[:PAGE], lambda event: f"{event.happened_at.astimezone(visit.zone):%Y-%m-%d}")
    days = [(day, [(event, None) for event in found]) for day, found in by_day]
    return {"days": days, "has_more": len(events) > PAGE, "degraded": (), **await _beside(visit, events[:PAGE])}


async def _beside(visit: Visit, events: Sequence[core.Event]) -> Found:
    """Return what a list shows beside its events: the names of their places, and what replaced them."""
    names = await visit.names_of(event.scope for event in events)
    return {"names": names, "newer": await visit.memory.listings.replaced(visit.scene(), events)}


async def _found(visit: Visit, text: str, listing: core.EventListing) -> Found:
    """Return the template's values for a search of the listing by words and by meaning."""
    found = await visit.memory.listings.search(visit.scene(), text, listing, FOUND)
    beside = await _beside(visit, [hit.event for hit in found.hits])
    rows = [(hit.event, hit) for hit in found.hits]
    near = sum(hit.score >= NEAR * found.hits[0].score for hit in found.hits)
    parts = [("", rows[:near]), ("far", rows[near:])]
    return {"days": [one for one in parts if one[1]], "has_more": False, "degraded": found.degraded, **beside}


async def opened(visit: Visit) -> Response:
    """Show one event with its source lines, its speaker and the people it is about."""
    return await _shown(visit, await visit.memory.listings.event(visit.scene(), visit.asked("id")))


async def _shown(visit: Visit, event: core.Event, typed: str | None = None, *, is_refused: bool = False) -> Response:
    """Show an event; ``is_refused``: a change was, because the event was changed meanwhile; ``typed`` its text."""
    scene, listings = visit.scene(), visit.memory.listings
    return await visit.show(
        "memory.html",
        status=409 if is_refused else 200,
        is_refused=is_refused,
        event=event,
        typed=typed,
        names=await visit.names_of((event.scope,)),
        talk=await listings.talk(scene, event, AROUND),
        wordings=await listings.wordings(scene, event),
        people=await visit.people_named(event.subjects),
        newer=(await listings.replaced(scene, [event])).get(event.id),
        recalled=await listings.recalled(scene, event.id),
    )


async def correct(visit: Visit) -> Response:
    """Replace an event's text; if it was changed meanwhile, show its present version above what was typed."""
    event = await visit.memory.listings.event(visit.scene(), visit.sent("id"))
    try:
        corrected = await visit.memory.correct_event(visit.scene(), event.id, visit.sent("text"))
    except core.UnknownEvent:
        return await _changed_meanwhile(visit, event.id, visit.sent("text"))
    undo = Undo("correct", (event.id, corrected.id)) if corrected.id != event.id else None
    notice = visit.words("memories.corrected")
    return visit.go("/memories/open", notice=notice, at="change", undo=undo, id=corrected.id)


async def _changed_meanwhile(visit: Visit, event_id: str, typed: str | None = None) -> Response:
    """Answer that somebody else changed the event first, with its present text and what was typed."""
    return await _shown(visit, await visit.memory.listings.present(visit.scene(), event_id), typed, is_refused=True)


async def add(visit: Visit) -> Response:
    """Hand in what somebody said as an observation, of which the historian makes a memory."""
    user_id, _ = await visit.person(visit.sent("user_id").strip())
    scene = visit.scene_of_person(visit.place(visit.sent("place")), user_id)
    if scene is None or not (scene.kind == "private" or await visit.is_person(user_id)):
        raise core.BadArgument(visit.words("question.needs_person"))
    job_id = await visit.memory.remember(core.Turn(scene, observations=[visit.sent("text")]))
    notice = visit.words("memories.added" if job_id else "memories.not_added")
    return visit.go("/places/open", notice=notice, at="add", place=visit.sent("place"))


async def change(visit: Visit) -> Response:
    """Forget or restore the chosen events; before forgetting, show a page that lists them and asks for confirmation."""
    action = visit.sent("action")
    ids = list(dict.fromkeys(visit.fields.get("id", ())))[: 2 * PAGE]
    if action not in ("forget", "restore") or not ids:
        return visit.go("/memories", notice=visit.words("memories.nothing_chosen"))
    if action == "forget" and visit.sent("sure") != "yes":
        events = [await visit.memory.listings.event(visit.scene(), event_id) for event_id in ids]
        names = await visit.names_of(event.scope for event in events)
        return await visit.show("forget.html", events=events, names=names, back=_list_of(visit.sent("back")))
    return await _changed(visit, action, ids)


async def undo(visit: Visit) -> Response:
    """Revert the last change of this session."""
    last, visit.session.undo = visit.session.undo, None
    if last is None:
        return visit.go("/memories", notice=visit.words("memories.nothing_to_undo"))
    if last.action == "correct":
        old, new = last.event_ids
        wording = await visit.memory.listings.event(visit.scene(), old)
        try:
            back = await visit.memory.correct_event(visit.scene(), new, wording.text)
        except core.UnknownEvent:
            return await _changed_meanwhile(visit, new, wording.text)
        return visit.go("/memories/open", notice=visit.words("memories.correction_undone"), at="change", id=back.id)
    opposite = "restore" if last.action == "forget" else "forget"
    return await _changed(visit, opposite, last.event_ids, can_undo=False)


async def _changed(visit: Visit, action: str, ids: Sequence[str], *, can_undo: bool = True) -> Response:
    memory, scene = visit.memory, visit.scene()
    change: Change = memory.forget_event if action == "forget" else memory.restore_event
    done: list[str] = []
    problems: tuple[core.CognitiveMemoryError, ...] = ()
    for event_id in ids:
        try:
            if (await memory.listings.present(scene, event_id)).id != event_id:  # corrected since the page was shown
                if len(ids) == 1:
                    return await _changed_meanwhile(visit, event_id)
                raise Changed(visit.words("error.changed"))
            await change(scene, event_id)
        except core.CognitiveMemoryError as refused:
            problems = (refused,)
        else:
            done.append(event_id)
    undo = Undo(action, tuple(done)) if can_undo and done else None
    notice = visit.words(f"memories.done_{action}", count=len(done))
    if len(ids) == 1 and done:
        return visit.go("/memories/open", notice=notice, at="change", undo=undo, id=done[0])
    return visit.go(_list_of(visit.sent("back")), notice=notice, reported=problems, undo=undo)


def _list_of(back: str) -> str:
    """Return ``back`` if it is the address of a list of memories, else that of the unfiltered list."""
    return back if back == "/memories" or back.startswith("/memories?") else "/memories"


def _window(visit: Visit) -> core.Interval | None:
    start, stop = visit.day("since"), visit.day("until", is_end=True)
    if start is None and stop is None:
        return None
    earliest = datetime(1970, 1, 1, tzinfo=timezone.utc)
    latest = datetime.now(timezone.utc) + timedelta(days=3_660)
    return core.Interval(start or earliest, stop or latest)


async def today(visit: Visit) -> Response:
    """Show the first page: its figures at once, the rest when it is there."""
    status = await visit.memory.status()
    return await visit.show_found(
        "today.html", _rest(visit), remarks=list(remarks_on(status, visit.purpose)), status_now=status
    )


async def _rest(visit: Visit) -> Found:
    """Return what stands below the figures as values of the template; nothing while no memory is open."""
    memory, scene = visit.memory, visit.scene()
    if not memory.embedder:
        return {"whole": None}
    activity = await memory.activity(scene, days=YEAR)
    events = await memory.listings.events(scene, core.EventListing(), NEWEST, 0)
    days = {day.day: day.messages + day.events for day in activity.days}
    return {
        "whole": activity,
        "year": calendar_of(visit, days, place="", user_id=""),
        "newest": events,
        **await _beside(visit, events),
        "places": await visit.latest_places(PLACES, is_counted=True),
        "people": await memory.listings.people(scene, "", PEOPLE, 0),
    }


def calendar_of(visit: Visit, days: Mapping[date, int], *, place: str, user_id: str, weeks: int = 53) -> Drawn:
    """Return a calendar whose days lead to the lines of that day, in a place or of a person."""
    path: Callable[[date], str] = lambda day: visit.address("/lines", day=day.isoformat(), place=place, user_id=user_id)  # noqa: E731  # with its type
    until = max(days, default=visit.now.date())
    return calendar(days, until, path, weeks=weeks)


async def lines(visit: Visit) -> Response:
    """List the lines of the log, the newest day first, and each day as it was said."""
    start = visit.day("day")
    window = core.Interval(start, end) if start and (end := visit.day("day", is_end=True)) else None
    user_id, person = await visit.person(visit.asked("user_id"))
    wanted = core.LineListing(visit.place(visit.asked("place")), user_id, window)
    places = await visit.offered_places(wanted.place)
    return await visit.show_found("lines.html", _said(visit, wanted), wanted=wanted, person=person, places=places)


async def _said(visit: Visit, wanted: core.LineListing) -> Found:
    listings, scene = visit.memory.listings, visit.scene()
    found = await listings.lines(scene, wanted, LINES + 1, (visit.page - 1) * LINES)
    days: dict[tuple[str, core.Scope], list[core.Message]] = defaultdict(list)
    for line in found[LINES - 1 :: -1]:
        days[f"{line.sent_at.astimezone(visit.zone):%Y-%m-%d}", line.scene.scope].append(line)
    said = {line.id: line for line in found}
    return {
        "days": sorted(days.items(), key=lambda one: one[1][-1].sent_at, reverse=True),
        "answered": {one.id: quoted(said[one.reply_to]) for one in found if one.reply_to in said},
        "learned": await listings.learned_from(scene, list(said)),
        "names": await visit.names_of(scope for _, scope in days),
        "has_more": len(found) > LINES,
    }


def quoted(line: core.Message) -> str:
    """Return the beginning of a line that is answered, with who said it."""
    said_by = line.scene.user_name or line.scene.user_id
    return f"{said_by}：{line.text[:QUOTED]}" if not line.is_bot and said_by else line.text[:QUOTED]


PAGES = (
    ("GET", "/memories", memories),
    ("GET", "/memories/open", opened),
    ("POST", "/memories/add", add),
    ("POST", "/memories/change", change),
    ("POST", "/memories/correct", correct),
    ("POST", "/memories/undo", undo),
    ("GET", "/", today),
    ("GET", "/lines", lines),
)
