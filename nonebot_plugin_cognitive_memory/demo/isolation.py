"""The isolation check: asks in every place for what was said elsewhere, and counts what the memory shows.

Its rule is independent of the memory's: a group may be shown what was said in the group; a private chat may be shown
what was said in it and what its person said elsewhere. The transcript gives the place of each line, by message id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from transcript import Place, Transcript, TranscriptLine

import cognitive_memory_core as core

T = TypeVar("T")
PROBES = 20  # events and lines of other places asked for in each place
TELLING = 8  # characters; a shorter line may stand in anybody's context


@dataclass
class PlaceResult:
    """The result for one place: how many searches, hits and refusals, and the shown texts that belong elsewhere."""

    place: Place
    asked: int = 0
    shown: int = 0
    refused: int = 0
    leaks: list[str] = field(default_factory=list[str])


async def checked(memory: core.CognitiveMemory, transcript: Transcript) -> list[PlaceResult]:
    """Query a memory, into which the transcript was played, in every place."""
    events: list[core.Event] = []
    while found := await memory.events(core.Scene.operator(), limit=200, offset=len(events)):
        events += found
    return [await _checked_in(place, memory, transcript, events) for place in transcript.places]


async def _checked_in(
    place: Place, memory: core.CognitiveMemory, transcript: Transcript, events: Sequence[core.Event]
) -> PlaceResult:
    """Search in a place for events and lines of others, and in every other group by its number, as a model might."""
    result, said_in = PlaceResult(place), {str(line.number): line for line in transcript.lines}
    scene = scene_in(place, next((line.user for line in transcript.lines if line.place == place), place.number))
    own = "\n".join(line.text for line in transcript.lines if may_see(place, line))
    foreign = [line.text for line in transcript.lines if not may_see(place, line)]
    telling = [text for text in foreign if len(text) >= TELLING and text not in own]
    elsewhere = [event.text for event in events if not _may_see_event(place, event)]
    for text in (*spread(elsewhere, PROBES), *spread(foreign, PROBES)):
        hits = await memory.search_events(scene, text, kinds=("message",), top_k=20)
        hits += await memory.search_events(scene, text, top_k=20)
        context = (await memory.context(scene, text)).text
        result.asked += 3
        result.shown += len(hits)
        result.leaks += [line for line in telling if line in context]
        for event in (hit.event for hit in hits):
            said = [said_in[number] for number in event.message_ids if number in said_in]
            if not (_may_see_event(place, event) and all(may_see(place, line) for line in said)):
                result.leaks.append(event.text)
    for other in transcript.places:
        if other.kind == place.kind == "group" and other != place:
            try:
                await memory.search_events(scene, "最近", group_id=str(other.number))
                result.leaks.append(f"没有拒绝对 {other.number} 的点名搜索")
            except core.NotPermitted:
                result.refused += 1
    return result


def scene_in(place: Place, user: int) -> core.Scene:
    """Return the scene of a person in a place."""
    if place.kind == "group":
        return core.Scene.group(str(place.number), str(user), group_name=place.name)
    return core.Scene.private(str(user))


def may_see(place: Place, line: TranscriptLine) -> bool:
    """Return whether a line may be shown in a place."""
    return line.place == place or (place.kind == "private" and line.user == place.number)


def _may_see_event(place: Place, event: core.Event) -> bool:
    number = str(place.number)
    if place.kind == "group":
        return event.group_id == number
    return event.sender_id == number or (not event.group_id and event.user_id == number)


def spread(items: Sequence[T], wanted: int) -> Sequence[T]:
    """Return items evenly spread over the whole sequence."""
    step = max(len(items) // wanted, 1)
    return items[::step][:wanted]
