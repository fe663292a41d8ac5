"""The page on which a question is tried: its context as a model gets it, and every candidate's score taken apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.responses import Response

import cognitive_memory_core as core

from .visit import PAGE, Visit

SHOWN = 60  # candidates
FEW = 40  # people offered for a place
MOST_TEXT = 4_000  # characters


@dataclass(frozen=True)
class Slider:
    """A weight that can be tried: the setting of ``query`` with its bounds."""

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
    Slider("lexical_weight", 0.0, 1.0, 0.05),
    Slider("diversity", 0.0, 1.0, 0.05),
    Slider("min_relevance", 0.0, 0.5, 0.01),
    Slider("time_decay_boost", 0.0, 1.0, 0.05),
    Slider("time_decay_half_life_days_auto", 1.0, 90.0, 1.0),
    Slider("auto_top_k", 0.0, 30.0, 1.0),
    Slider("context_token_budget", 200.0, 8000.0, 100.0),
)


async def question(visit: Visit) -> Response:
    """Show the form, and below it the answer if a question was asked."""
    place = visit.place(visit.asked("place"))
    listings, scene = visit.memory.listings, visit.scene()
    weights = _weights(visit)
    scene_there = _scene_of(place, visit.asked("user_id")) if place and visit.asked("text") else None
    explained = wanted = None
    if scene_there is not None:
        settings = _with(visit.settings, weights)
        explained = await visit.memory.explain(scene_there, visit.asked("text")[:MOST_TEXT], settings=settings)
        wanted = await _verdict(visit, scene_there, explained)
    return await visit.show(
        "question.html",
        places=await visit.offered_places(place),
        people=await listings.people(scene, "", FEW, 0),
        sliders=SLIDERS,
        weights=weights,
        defaults=_in_force(visit.settings),
        needs_person=bool(visit.asked("text")) and scene_there is None,
        explained=explained,
        candidates=explained.candidates[:SHOWN] if explained else (),
        lines=explained.lines[:SHOWN] if explained else (),
        line_parts=[name for name, _ in explained.lines[0].parts] if explained and explained.lines else (),
        wanted=wanted,
    )


def _weights(visit: Visit) -> dict[str, float]:
    given = _in_force(visit.settings)
    return {slider.key: slider.read(visit.asked(slider.key), given[slider.key]) for slider in SLIDERS}


def _in_force(settings: core.Settings) -> dict[str, float]:
    """Return the weights that are in force; a blank one is what suits the embedder."""
    values = {**settings.query.model_dump(), "lexical_weight": settings.lexical_weight}
    return {slider.key: float(values[slider.key]) for slider in SLIDERS}


def _with(settings: core.Settings, weights: Mapping[str, float]) -> core.Settings:
    """Return the settings with other weights of the search; nothing is stored."""
    whole = {"auto_top_k", "context_token_budget"}
    given = {key: int(value) if key in whole else value for key, value in weights.items()}
    return settings.model_copy(update={"query": settings.query.model_copy(update=given)})


def _scene_of(place: core.Scope, user_id: str) -> core.Scene | None:
    """Return the scene of the question; None without the person who asks in a group."""
    if place.kind == "private":
        return core.Scene.private(place.place_id, agent=place.agent)
    return core.Scene.group(place.place_id, user_id, agent=place.agent) if user_id else None


@dataclass(frozen=True)
class Verdict:
    """What became of the memory that should have been found: the key of a sentence, and the candidate if it is one."""

    event: core.Event
    key: str
    candidate: core.Candidate | None = None


async def _verdict(visit: Visit, scene: core.Scene, explained: core.Explanation) -> Verdict | None:
    """Return why a memory, given by its id, was found or not; None without one."""
    event_id = visit.asked("event")
    if not event_id:
        return None
    event = await visit.memory.listings.event(visit.scene(), event_id)
    candidate = _among(explained.candidates, event_id)
    if candidate is not None:
        return Verdict(
            event, "question.was_found" if candidate.rank else f"cut.{candidate.cut or 'diversity'}", candidate
        )
    if event.retired_at:
        return Verdict(event, "question.is_retired")
    if not event.scope.readable_by(scene, sender_id=event.sender_id):
        return Verdict(event, "question.is_elsewhere")
    return Verdict(event, "question.was_no_candidate")


def _among(candidates: Sequence[core.Candidate], event_id: str) -> core.Candidate | None:
    return next((one for one in candidates if one.event.id == event_id), None)


async def missed(visit: Visit) -> Response:
    """Keep the case of a memory that should have been found."""
    place = visit.place(visit.sent("place"))
    if place is None:
        return visit.go("/question")
    user_id, text, event_id = visit.sent("user_id"), visit.sent("text")[:MOST_TEXT], visit.sent("event")
    asked_in = _scene_of(place, user_id)
    if asked_in is None:
        return visit.go("/question")
    await visit.memory.listings.note_missed(visit.scene(), asked_in, text, event_id)
    notice = visit.words("question.kept")
    return visit.go("/question", notice=notice, place=visit.sent("place"), user_id=user_id, text=text, event=event_id)


async def cases(visit: Visit) -> Response:
    """List the kept cases, each with the way to try it again."""
    found = await visit.memory.listings.missed_events(visit.scene(), PAGE + 1, visit.offset)
    names = await visit.names_of(one.scope for one in found[:PAGE])
    return await visit.show("cases.html", rows=found[:PAGE], names=names, has_more=len(found) > PAGE)


async def drop(visit: Visit) -> Response:
    """Remove a kept case."""
    await visit.memory.listings.drop_missed(visit.scene(), visit.sent("id"))
    return visit.go("/question/cases", notice=visit.words("people.done"))


PAGES = (
    ("GET", "/question", question),
    ("POST", "/question/missed", missed),
    ("GET", "/question/cases", cases),
    ("POST", "/question/drop", drop),
)
