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
    place = visit.place(visit.asked("place"))
    asker = await visit.person("user_id")
    scene_there = visit.scene_of_person(place, asker) if visit.asked("text") else None
    defaults, event_id = _in_force(visit.settings), visit.asked("event")
    weights = {slider.key: slider.read(visit.asked(slider.key), defaults[slider.key]) for slider in SLIDERS}
    expected = await visit.memory.listings.event(visit.scene(), event_id) if event_id else None
    return await visit.show_found(
        "question.html",
        _answer(visit, scene_there, weights, expected),
        places=await visit.offered_places(place),
        people=await visit.memory.listings.people(visit.scene(), "", FEW, 0),
        sliders=SLIDERS,
        weights=weights,
        defaults=defaults,
        needs_person=bool(visit.asked("text")) and scene_there is None,
        asker=asker,
        expected=expected,
        expected_in=await visit.names_of((expected.scope,)) if expected else {},
    )


async def _answer(
    visit: Visit, scene_there: core.Scene | None, weights: Mapping[str, float], expected: core.Event | None
) -> Found:
    """Return the explained context as values for the template; empty without a scene."""
    if scene_there is None:
        return {"explained": None}
    whole = {"auto_top_k", "context_token_budget"}
    given = {key: int(value) if key in whole else value for key, value in weights.items()}
    query = visit.settings.query.model_copy(update=given)
    settings = visit.settings.model_copy(update={"query": query})  # nothing is stored
    explained = await visit.memory.explain(scene_there, visit.asked("text")[:MOST_TEXT], settings=settings)
    return {
        "explained": explained,
        "candidates": explained.candidates[:SHOWN],
        "lines": explained.lines[:SHOWN],
        "wanted": {"event": expected, "key": _verdict(scene_there, explained, expected)} if expected else None,
    }


def _in_force(settings: core.Settings) -> dict[str, float]:
    """Return the present weights."""
    values = settings.query.model_dump()
    return {slider.key: float(values[slider.key]) for slider in SLIDERS}


def _verdict(scene: core.Scene, explained: core.Explanation, event: core.Event) -> str:
    """Return the key of the sentence that says why the search did or did not recall an event."""
    candidate = next((one for one in explained.candidates if one.event.id == event.id), None)
    if candidate is not None:
        return "question.was_found" if candidate.rank else f"cut.{candidate.cut or 'diversity'}"
    if event.retired_at:
        return "question.is_retired"
    return "question.was_no_candidate" if event.readable_by(scene) else "question.is_elsewhere"


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
    return await visit.show("cases.html", rows=found[:PAGE], names=names, has_more=len(found) > PAGE)


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
