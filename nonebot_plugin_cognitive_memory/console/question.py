"""The page for trying a question: the context that a model would get, and the parts of each candidate's score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.responses import Response

import cognitive_memory_core as core

from .visit import PAGE, Found, Visit

SHOWN = 60  # candidates
FEW = 40  # people offered for a place
MOST_TEXT = 4_000  # characters
NEWEST, EXAMPLES, BRIEF = 200, 6, 40  # lines that are looked at and offered to try, and characters of each


@dataclass(frozen=True)
class Slider:
    """A number that the operator may try out for one question.

    ``key`` names the setting of group ``query`` that it replaces; ``least``, ``most`` and ``step`` limit it.
    """

    key: str
    least: float
    most: float
    step: float

    def read(self, text: str, default: float) -> float:
        """Return a number within the bounds; the default for anything that is no number."""
        try:
            value = float(text)
        except ValueError:
            return default
        return min(max(value, self.least), self.most) if value == value else default  # noqa: PLR0124  # not a number


SLIDERS = (
    Slider("lexical_weight", 0.0, 1.0, 0.01),
    Slider("diversity", 0.0, 1.0, 0.01),
    Slider("min_relevance", 0.0, 0.5, 0.01),
    Slider("time_decay_boost", 0.0, 1.0, 0.01),
    Slider("time_decay_half_life_days_auto", 1.0, 90.0, 1.0),
    Slider("auto_top_k", 0.0, 30.0, 1.0),
    Slider("context_token_budget", 200.0, 8000.0, 100.0),
)


async def question(visit: Visit) -> Response:
    """Show the form, and below it the answer if a question was asked."""
    place, in_force = visit.place(visit.asked("place")), visit.settings.query.model_dump()
    asker, person = await visit.person(visit.asked("user_id"))
    scene_there = visit.scene_of_person(place, asker) if visit.asked("text") else None
    if scene_there and scene_there.kind == "group" and not await visit.is_person(asker):
        scene_there = None  # a name that nobody has, or several have, is no id
    defaults = {slider.key: float(in_force[slider.key]) for slider in SLIDERS}
    weights = {slider.key: slider.read(visit.asked(slider.key), defaults[slider.key]) for slider in SLIDERS}
    return await visit.show_found(
        "question.html",
        _answer(visit, place, scene_there, weights),
        places=await visit.offered_places(place),
        people=await visit.memory.listings.people(visit.scene(), "", FEW, 0),
        sliders=SLIDERS,
        weights=weights,
        defaults=defaults,
        needs_person=bool(visit.asked("text")) and scene_there is None,
        asker=asker,
        person=person,
    )


async def _expected(visit: Visit, place: core.Scope | None) -> core.Event | None:
    """Return the expected memory: the best match of some words in a place, else the one with an id; None for none."""
    listings, scene, words, event_id = visit.memory.listings, visit.scene(), visit.asked("wanted"), visit.asked("event")
    if words and place:
        found = await listings.search(scene, words, core.EventListing(place), 1)
        return found.hits[0].event if found.hits else None
    try:
        return await listings.event(scene, event_id) if event_id else None
    except (core.UnknownEvent, core.BadArgument):
        return None


async def _answer(
    visit: Visit, place: core.Scope | None, scene_there: core.Scene | None, weights: Mapping[str, float]
) -> Found:
    """Return the expected memory, and the explained context as values for the template; no context without a scene."""
    expected = await _expected(visit, place)
    beside = {"expected": expected, "expected_in": await visit.names_of((expected.scope,)) if expected else {}}
    if scene_there is None:
        return {"explained": None, **beside, **await _examples(visit, place)}
    whole = {"auto_top_k", "context_token_budget"}
    given = {key: int(value) if key in whole else value for key, value in weights.items()}
    query = visit.settings.query.model_copy(update=given)
    settings = visit.settings.model_copy(update={"query": query})  # nothing is stored
    explained = await visit.memory.explain(scene_there, visit.asked("text")[:MOST_TEXT], settings=settings)
    lines_sent = sum(one.line.id in explained.context.sources for one in explained.lines)
    first = next((one for one in explained.candidates if one.rank == 1), None)
    return {
        "explained": explained,
        "candidates": explained.candidates[:SHOWN],
        "lines": explained.lines[:SHOWN],
        "lines_sent": lines_sent,
        "events_sent": len(explained.context.sources) - lines_sent,
        "first": first,
        "why": _why(visit, first, query.lexical_weight) if first else "",
        "wanted": _verdict(scene_there, explained, expected) if expected else None,
        **beside,
    }


async def _examples(visit: Visit, place: core.Scope | None) -> Found:
    """Return short lines that people said lately, questions first and then the longest, to be tried with one click."""
    newest = await visit.memory.listings.lines(visit.scene(), core.LineListing(place), NEWEST, 0)
    said = {line.text: line for line in newest if line.scene.user_id and not line.is_bot and len(line.text) <= BRIEF}
    telling = sorted(said.values(), key=lambda line: (not line.text.endswith(("？", "?")), -len(line.text)))
    examples = telling[:EXAMPLES]
    return {"examples": examples, "names": await visit.names_of(one.scene.scope for one in examples)}


def _why(visit: Visit, first: core.Candidate, lexical_weight: float) -> str:
    """Return in words which part gave the first candidate most of its score, and which other factors raised it."""
    by_words = lexical_weight * first.lexical
    found = {"lexical": by_words, "similarity": first.relevance - by_words}
    raising = {name: first.score - first.score / factor for name, factor in first.factors if round(factor, 2) > 1}
    parts = ({"judged": first.judged} if first.judged is not None else found) | raising
    largest = max(parts, key=lambda name: parts[name])
    said = visit.words(
        "why.factor" if largest in raising else f"why.{largest}",
        factor=visit.words(f"score.{largest}"),
        part=f"{parts[largest]:.2f}",
        score=f"{first.score:.2f}",
    )
    others = "、".join(visit.words(f"score.{name}") for name in raising if name != largest)
    return said + visit.words("why.raised", factors=others) if others else said


def _verdict(scene: core.Scene, explained: core.Explanation, event: core.Event) -> Found:
    """Return the key of the sentence that says why the search did or did not recall an event, with its values."""
    for place, one in enumerate(explained.candidates, 1):
        if one.event.id == event.id:
            figures = {"place": place, "count": len(explained.candidates), "score": f"{one.score:.2f}"}
            key = "question.was_found" if one.rank else "question.was_cut"
            return {"key": key, "figures": figures, "candidate": one, "is_too_far": one.cut == "relevance"}
    key = "question.was_no_candidate" if event.readable_by(scene) else "question.is_elsewhere"
    key = "question.is_retired" if event.retired_at else key
    return {"key": key, "figures": {}, "candidate": None, "is_too_far": key == "question.was_no_candidate"}


async def missed(visit: Visit) -> Response:
    """Store a question with the event that it should have found, as a missed case."""
    user_id, text, event_id = visit.sent("user_id"), visit.sent("text")[:MOST_TEXT], visit.sent("event")
    asked_in = visit.scene_of_person(visit.place(visit.sent("place")), user_id)
    if asked_in is None:
        return visit.go("/question")
    await visit.memory.listings.note_missed(visit.scene(), asked_in, text, event_id)
    notice = visit.words("question.kept")
    return visit.go("/question", notice=notice, place=visit.sent("place"), user_id=user_id, text=text, event=event_id)


async def cases(visit: Visit) -> Response:
    """List the missed cases, each with a link that asks its question again."""
    found = await visit.memory.listings.missed_events(visit.scene(), PAGE + 1, visit.offset)
    names = await visit.names_of(one.scope for one in found[:PAGE])
    people = await visit.people_named(one.user_id for one in found[:PAGE])
    return await visit.show("cases.html", names=names, people=people, **visit.paged(found))


async def drop(visit: Visit) -> Response:
    """Delete a missed case."""
    await visit.memory.listings.drop_missed(visit.scene(), visit.sent("id"))
    return visit.go("/question/cases", notice=visit.words("people.done"))


PAGES = (
    ("GET", "/question", question),
    ("POST", "/question/missed", missed),
    ("GET", "/question/cases", cases),
    ("POST", "/question/drop", drop),
)
