"""Adds context to a dialogue for its prompt: lines before it, lines that it answers, and the place's newest events."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from ...consent import Consent
from ...domain.event import Event
from ...domain.message import Message
from ...domain.people import JobContext
from ...domain.read_filter import ReadFilter
from ...domain.turn import Dialogue, shortened_line
from ...errors import UnavailableError
from ...store.events import EventLedger
from ...store.messages import MessageLog

EARLIER = 6  # lines before a dialogue
WITHIN = timedelta(hours=6)  # of its first line; what is older is another topic
EARLIER_LENGTH = 80  # characters of one of them
NEWEST = 3  # events of the place, shown whatever they are about; more where fewer others are near
MOST = 8  # neighbours, with these


@dataclass(frozen=True)
class DialogueContext:
    """Adds to a job context the earlier lines and the events to which its dialogue may refer.

    If a store is unavailable, nothing is added.
    """

    log: MessageLog
    events: EventLedger
    consent: Consent

    async def around(self, dialogue: Dialogue, job_context: JobContext) -> JobContext:
        """Return the job context with earlier lines, lines that the dialogue answers, and the place's newest events."""
        try:
            earlier = await self._earlier(dialogue)
            answered = await self._answered(dialogue)
            newest = await self._newest(dialogue)
        except UnavailableError:
            return job_context
        added = [event for event in newest if event not in job_context.neighbours]
        near = job_context.neighbours[: MOST - len(added[:NEWEST])]
        neighbours = (*near, *added)[:MOST]
        return replace(job_context, earlier=earlier, answered=answered, neighbours=neighbours)

    async def _earlier(self, dialogue: Dialogue) -> tuple[Message, ...]:
        first = min(line.sent_at for line in dialogue.messages)
        found = await self.log.recent(dialogue.scene.scope, EARLIER, before=first)
        near = (line for line in found if first - line.sent_at <= WITHIN)
        return tuple(line for line in map(self._shown, near) if line is not None)

    async def _answered(self, dialogue: Dialogue) -> tuple[Message, ...]:
        here = {line.id for line in dialogue.messages}
        wanted = {line.reply_to for line in dialogue.messages if line.reply_to} - here
        found = await self.log.find(dialogue.scene.scope, wanted) if wanted else []
        return tuple(line for line in map(self._shown, found) if line is not None)

    async def _newest(self, dialogue: Dialogue) -> list[Event]:
        read_filter = ReadFilter(dialogue.scene, without=frozenset(self.consent.opted_out))
        found = await self.events.recent(read_filter, MOST)
        return [event for event in found if event.scope == dialogue.scene.scope]

    def _shown(self, line: Message) -> Message | None:
        """Return a line redacted and shortened for the prompt; None if its sender opted out or was erased."""
        if line.scene.user_id in self.consent.opted_out or self.consent.is_erased(line.scene, line.sent_at):
            return None
        cut = shortened_line(self.consent.redacted(line), EARLIER_LENGTH)
        return cut if isinstance(cut, Message) else None
