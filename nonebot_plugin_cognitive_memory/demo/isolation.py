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


@dataclass
class PlaceResult:
    """The result for one place: how many searches, hits and refusals, and the shown texts that belong elsewhere."""

    place: Place
    asked: int = 0
    shown: int = 0
    refused: int = 0
    leaks: list[str] = field(default_factory=list[str])


class IsolationCheck:
    """Queries a memory after a transcript was played to it."""

    def __init__(self, memory: core.CognitiveMemory, transcript: Transcript) -> None:
        """Prepare to ask a memory, into which the transcript was played."""
        self._memory = memory
        self._transcript = transcript
        self._said_in = {str(line.number): line for line in transcript.lines}

    async def run(self) -> list[PlaceResult]:
        """Check every place."""
        events: list[core.Event] = []
        while found := await self._memory.events(core.Scene.operator(), limit=200, offset=len(events)):
            events += found
        return [await self._checked(place, events) for place in self._transcript.places]

    async def _checked(self, place: Place, events: Sequence[core.Event]) -> PlaceResult:
        result = PlaceResult(place)
        speaker = next((line.user for line in self._transcript.lines if line.place == place), place.number)
        scene = scene_in(place, speaker)
        foreign = [event.text for event in events if not _may_see_event(place, event)]
        lines = [line.text for line in self._transcript.lines if not may_see(place, line)]
        for text in (*spread(foreign, PROBES), *spread(lines, PROBES)):
            await self._probe(result, scene, text)
        await self._secrets(result, scene)
        await self._named(result, scene)
        return result

    async def _probe(self, result: PlaceResult, scene: core.Scene, text: str) -> str:
        """Search for a text in events, in the log and through a context; return everything that was shown."""
        hits = await self._memory.search_events(scene, text, kinds=("message",), top_k=20)
        hits += await self._memory.search_events(scene, text, top_k=20)
        context = (await self._memory.context(scene, text)).text
        result.asked += 3
        result.shown += len(hits)
        result.leaks += [hit.event.text for hit in hits if not self._may_see_hit(result.place, hit.event)]
        return "\n".join((context, *(hit.event.text for hit in hits)))

    async def _secrets(self, result: PlaceResult, scene: core.Scene) -> None:
        own = "\n".join(line.text for line in self._transcript.lines if may_see(result.place, line))
        for place, words in self._transcript.secrets:
            if place != result.place:
                shown = await self._probe(result, scene, " ".join(words))
                result.leaks += [word for word in words if word in shown and word not in own]

    async def _named(self, result: PlaceResult, scene: core.Scene) -> None:
        """Search in every other group by its number, as a model might; count refusals, and report any other answer."""
        for place in self._transcript.places:
            if place.kind == "group" and result.place.kind == "group" and place != result.place:
                try:
                    await self._memory.search_events(scene, "最近", group_id=str(place.number))
                    result.leaks.append(f"没有拒绝对 {place.number} 的点名搜索")
                except core.NotPermitted:
                    result.refused += 1

    def _may_see_hit(self, place: Place, event: core.Event) -> bool:
        said = [self._said_in[number] for number in event.message_ids if number in self._said_in]
        return _may_see_event(place, event) and all(may_see(place, line) for line in said)


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
