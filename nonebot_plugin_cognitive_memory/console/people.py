"""The pages of people, and of groups and private chats."""

from __future__ import annotations

import difflib
from datetime import datetime, timedelta

from starlette.responses import Response

import cognitive_memory_core as core

from ..erasure import erased_person, erased_place
from ..markdown import plain_lines
from ..replies.memories import words_beneath
from .charts import days_of, graph
from .memories import YEAR, calendar_of
from .pages import minute
from .visit import PAGE, Changed, Found, Visit

FACTS, LATELY = 100, 10
LIMIT = 40  # characters of a time limit that are quoted
WEEKS = 26  # of a calendar
ANSWERING, ANSWERS = 4_000, 200  # lines that are looked at, and pairs of people
SWITCHES = ("on", "off", "record_only", "recall_only")


async def people(visit: Visit) -> Response:
    """List people, or those whose id or name matches the search text."""
    text = visit.asked("text")
    found = await visit.memory.listings.people(visit.scene(), text, PAGE + 1, visit.offset)
    return await visit.show("people.html", kind="people", text=text, **visit.paged(found))


async def person(visit: Visit) -> Response:
    """Show a person: names, consent, profiles with where each fact came from, and what they said lately."""
    user_id = visit.asked("id")
    listings, scene = visit.memory.listings, visit.scene()
    entry = await listings.person(scene, user_id)
    profiles = await listings.profiles(scene, None, user_id, PAGE, 0)
    own = [profile for profile in profiles if profile.key.user_id == user_id]
    worn = await listings.seen_names(scene, user_id)
    events = await listings.events(scene, core.EventListing(user_id=user_id, voice="own"), LATELY, 0)
    by_others = await listings.events(scene, core.EventListing(user_id=user_id, voice="others"), LATELY, 0)
    days = days_of(await listings.said_at(scene, user_id, visit.now - timedelta(weeks=WEEKS)), visit.zone)
    return await visit.show(
        "person.html",
        person=entry,
        names=worn,
        places=await visit.names_of(one.scope for one in (*worn, *events, *by_others)),
        days=calendar_of(visit, days, place="", user_id=user_id, weeks=WEEKS),
        portraits=[await _profile_view(visit, profile) for profile in own],
        events=events,
        by_others=by_others,
        newer=await listings.replaced(scene, [*events, *by_others]),
    )


async def consent(visit: Visit) -> Response:
    """Change a person's opt-out or sharing, as the person could by command."""
    user_id, wish, memory = visit.sent("id"), visit.sent("wish"), visit.memory
    if wish == "optout":
        await memory.opt_out(user_id)
    elif wish == "optin":
        await memory.opt_in(user_id)
    elif wish in ("share", "unshare"):
        await memory.set_sharing(user_id, wish == "share")
    return visit.go("/people/open", notice=visit.words("people.done"), at="consent", id=user_id)


async def erase_person(visit: Visit) -> Response:
    """Erase a person, once the operator confirmed a page that lists what will be erased, by typing the person's id."""
    user_id = visit.sent("id")
    listings, scene = visit.memory.listings, visit.scene()
    if visit.sent("sure") != user_id or not user_id:
        entry = await listings.person(scene, user_id)
        profiles = [one for one in await listings.profiles(scene, None, user_id, PAGE, 0) if one.key.user_id == user_id]
        names = list(dict.fromkeys(one.name for one in await listings.seen_names(scene, user_id)))
        counts = {"events": entry.events, "profiles": len(profiles), "names": len(names)}
        name, fields = entry.name or user_id, {"id": user_id}
        return await visit.show("erase.html", kind="people", typed=user_id, name=name, counts=counts, fields=fields)
    erasure = await erased_person(scene, user_id, visit.memory)
    return visit.go("/people", notice=_erasure_notice(visit, erasure))


async def roll_back(visit: Visit) -> Response:
    """Make a past version of a profile the present one; the present one becomes a version."""
    key = _key(visit)
    await visit.memory.restore_profile(visit.scene(), key, visit.sent("revision"))
    return _back_to(visit, key, "people.rolled_back")


async def edit(visit: Visit) -> Response:
    """Add, change or remove a line of a profile that was written by hand."""
    key, text = _key(visit), "" if visit.sent("action") == "remove" else visit.sent("text")
    await visit.memory.edit_profile(visit.scene(), key, visit.sent("line"), text)
    return _back_to(visit, key, "people.done")


def _back_to(visit: Visit, key: core.ProfileKey, said: str) -> Response:
    """Redirect to the profile on its page."""
    if key.user_id:
        return visit.go("/people/open", notice=visit.words(said), at=_form_of(key), id=key.user_id)
    return visit.go("/places/open", notice=visit.words(said), at=_form_of(key), place=f"group/{key.group_id}")


async def places(visit: Visit) -> Response:
    """List groups and private chats, or those whose id or name matches the search text."""
    text = visit.asked("text")
    found = await visit.memory.listings.places(visit.scene(), core.PlaceListing(text=text), PAGE + 1, visit.offset)
    switches = {one.scope: await visit.memory.place_switch(_scene_of(one.scope)) for one in found[:PAGE]}
    return await visit.show("people.html", kind="places", text=text, switches=switches, **visit.paged(found))


async def place(visit: Visit) -> Response:
    """Show a place: its profile, its pins, its members' profiles, and what was learned there lately."""
    scope = visit.place(visit.asked("place"))
    if scope is None:
        return visit.go("/places")
    listings, scene = visit.memory.listings, visit.scene()
    profiles = await listings.profiles(scene, None, scope.place_id, PAGE, 0)
    own = [one for one in profiles if one.key.group_id == scope.place_id and not one.key.user_id]
    activity = await visit.memory.activity(_scene_of(scope), days=YEAR)
    days = {day.day: day.messages for day in activity.days}
    answers = await listings.answers(scene, scope, ANSWERING, ANSWERS) if scope.kind == "group" else []
    events = await listings.events(scene, core.EventListing(scope), LATELY, 0)
    pins = await visit.memory.pins(_scene_of(scope))
    return await visit.show(
        "place.html",
        place=await _entry(visit, scope),
        portraits=[await _profile_view(visit, profile) for profile in own] if scope.kind == "group" else [],
        members=[one for one in profiles if one.key.group_id == scope.place_id and one.key.user_id],
        pins=pins,
        owners=await visit.people_named(one.owner_id for one in pins),
        days=calendar_of(visit, days, place=visit.asked("place"), user_id=""),
        graph=graph(answers, visit.words("memory.the_bot")),
        events=events,
        newer=await listings.replaced(scene, events),
        switches=SWITCHES,
        switch=await visit.memory.place_switch(_scene_of(scope)),
    )


async def change_pin(visit: Visit) -> Response:
    """Add, edit or remove a pin of a place."""
    scope, memory, action = visit.place(visit.sent("place")), visit.memory, visit.sent("action")
    if scope is None:
        return visit.go("/places")
    scene = _scene_of(scope)
    if action == "remove":
        await memory.unpin(visit.scene(), visit.sent("id"))
    elif action == "save":
        standing = {one.id: one.text for one in await memory.pins(scene)}
        if standing.get(visit.sent("id"), visit.sent("was")) != visit.sent("was").replace("\r\n", "\n"):
            raise Changed(visit.words("error.changed"))
        await memory.update_pin(visit.scene(), visit.sent("id"), visit.sent("text"))
    else:
        await memory.pin(scene, visit.sent("text"), for_group=scope.kind == "group")
    return visit.go("/places/open", notice=visit.words("people.done"), at="pins", place=visit.sent("place"))


async def switch(visit: Visit) -> Response:
    """Set the switch of a place, until an instant if one is given; this replaces the former switch."""
    scope, wanted, said = visit.place(visit.sent("place")), visit.sent("switch"), visit.sent("until").strip()
    if scope is None or wanted not in SWITCHES:
        return visit.go("/places")
    now = datetime.now(visit.zone)
    until = core.time_limit(said, now) if said and wanted != "on" else None
    notice = visit.words("switched.no_time", said=said[:LIMIT])
    if not said or wanted == "on" or (until and until > now):
        await visit.memory.set_switch(_scene_of(scope), wanted, until=until)  # type: ignore[arg-type]  # a literal
        ends = visit.words("switched.until", until=minute(until, visit.zone)) if until else ""
        notice = f"{visit.words(f'switched.{wanted}')}{ends}"
    return visit.go("/places/open", notice=notice, at="switch", place=visit.sent("place"))


async def erase_place(visit: Visit) -> Response:
    """Erase a place, once the operator confirmed a page that lists what will be erased, by typing the place's id."""
    scope = visit.place(visit.sent("place"))
    if scope is None:
        return visit.go("/places")
    if visit.sent("sure") != scope.place_id:
        entry, key = await _entry(visit, scope), visit.sent("place")
        counts = {"events": entry.events, "lines": entry.messages}
        name, fields, typed = entry.name or key, {"place": key}, scope.place_id
        return await visit.show("erase.html", kind="places", typed=typed, name=name, counts=counts, fields=fields)
    erasure = await erased_place(_scene_of(scope), visit.memory)
    return visit.go("/places", notice=_erasure_notice(visit, erasure))


async def _entry(visit: Visit, scope: core.Scope) -> core.PlaceEntry:
    found = await visit.memory.listings.places(visit.scene(), core.PlaceListing(scope), 1)
    return found[0] if found else core.PlaceEntry(scope)


async def _profile_view(visit: Visit, profile: core.Profile) -> Found:
    """Return a profile with its lines, its facts' sources, and its past versions with what each rollback would change.

    Of a line: its kind, its text, the text by which it is edited ("" if it rests on memories), its facts, and the words
    that stand beneath it, as those beneath a tag in ``tags``.
    ``place`` and ``place_name`` are the group of a member's profile; None and "" for other profiles.
    """
    scene, key = visit.scene(), profile.key
    revisions = await visit.memory.profile_revisions(scene, key)
    place = core.Scope(key.agent, "group", key.group_id) if key.entity_type == "member" else None
    sources = await visit.memory.listings.sources(scene, key, FACTS, 0)
    stored = await visit.memory.get_profile(scene, key.entity_type, _id_of(key))
    events = stored.sources if stored else {}
    words = await visit.memory.profile_words(scene, stored) if stored else {}
    told_by = {said: words_beneath(said, [quote], visit.zone, own=key.user_id) for said, quote in words.items()}
    return {
        "key": _form_of(key),
        "tags": [(tag, told_by[tag]) for tag in profile.tags if told_by.get(tag)],
        "profile": profile,
        "lines": [
            (
                *(kind, line, "" if told in events or kind == "heading" else told),
                [one for one in sources if one.event_id in events.get(told, ())],
                told_by.get(told, ""),
            )
            for written in profile.summary.splitlines()
            for told in (written.strip("-*+• \t"),)
            for kind, line in plain_lines(written)
        ],
        "sources": sources,
        "revisions": [
            {"revision": one, "until": _replaced_at(one), "lines": changed_lines(profile, one.profile)}
            for one in revisions
        ],
        "place": place,
        "place_name": (await visit.names_of((place,)))[place] if place else "",
    }


def _replaced_at(revision: core.Revision) -> datetime | None:
    """Return when a past version was replaced, which its id states; None for an id of another form."""
    try:
        return datetime.strptime(revision.id, "%Y%m%dT%H%M%S.%f%z")
    except ValueError:
        return None


def changed_lines(old: core.Profile, new: core.Profile) -> list[tuple[str, str]]:
    """Return the lines of both versions in order, each as ("same", "gone" or "new", line)."""
    marks = {"  ": "same", "- ": "gone", "+ ": "new"}
    before, after = ([" · ".join(one.tags), *(line for _, line in plain_lines(one.summary))] for one in (old, new))
    told = difflib.ndiff(before, after)
    return [(marks[line[:2]], line[2:]) for line in told if line[:2] in marks]


def _id_of(key: core.ProfileKey) -> str:
    """Return the id by which the core names a profile within its type."""
    return "/".join(filter(None, (key.group_id, key.user_id)))


def _form_of(key: core.ProfileKey) -> str:
    """Return a profile in the form that addresses and forms use, such as "member/10001/20001"."""
    return f"{key.entity_type}/{_id_of(key)}"


def _key(visit: Visit) -> core.ProfileKey:
    """Return the profile that a form names."""
    return core.ProfileKey.asked(visit.scene(), *visit.sent("key").partition("/")[::2])


def _scene_of(scope: core.Scope) -> core.Scene:
    if scope.kind == "group":
        return core.Scene.operator(scope.agent, group_id=scope.place_id)
    return core.Scene.private(scope.place_id, agent=scope.agent)


def _erasure_notice(visit: Visit, erasure: core.Erasure) -> str:
    counts = {
        name: getattr(erasure, name) for name in ("events", "messages", "profiles", "pins", "beliefs", "reworded")
    }
    notice = visit.words("erased.done", **counts)
    return f"{notice} {visit.words('erased.copies', count=len(erasure.copies))}" if erasure.copies else notice


PAGES = (
    ("GET", "/people", people),
    ("GET", "/people/open", person),
    ("POST", "/people/consent", consent),
    ("POST", "/people/erase", erase_person),
    ("POST", "/profiles/restore", roll_back),
    ("POST", "/profiles/edit", edit),
    ("GET", "/places", places),
    ("GET", "/places/open", place),
    ("POST", "/places/switch", switch),
    ("POST", "/pins/change", change_pin),
    ("POST", "/places/erase", erase_place),
)
