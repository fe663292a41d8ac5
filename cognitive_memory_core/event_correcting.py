"""Corrects single events: a new event with the corrected text replaces the old one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

from . import sentences
from .consent import Consent
from .domain.event import Draft, Event, Fact, Quote, corrected_id, duplicate_key, exchange
from .domain.ids import checked_text, derived_id
from .domain.interval import Interval
from .domain.read_filter import ReadFilter
from .domain.scope import Scene
from .domain.turn import TurnLimits, shortened
from .errors import NotPermitted, UnknownEvent
from .historian.jobs.own_words_into_profiles import group_fact, own_key
from .settings import Live, Settings
from .store.events import EventLedger
from .text.names import clean_name, clean_text
from .text.statements.lexicon import offences

MOST_DATED = 1_000  # events of one instant that are read to find an equal one


@dataclass(frozen=True)
class EventCorrecting:
    """Replaces the text of events that the asker said, or that an operator chose."""

    events: EventLedger
    consent: Consent
    settings: Live[Settings]

    async def correct(self, scene: Scene, old: Event, text: str) -> Event:
        """Store a corrected event and retire the old one, atomically; return the event that is active afterwards.

        If the texts are equal, nothing changes. Raises NotPermitted if somebody else said the old event, UnknownEvent
        if it is retired.
        """
        if not is_own(scene, old):
            raise NotPermitted(sentences.caller.NOT_YOURS_TO_CORRECT)
        if old.retired_at is not None:
            raise UnknownEvent(sentences.caller.UNKNOWN_EVENT)
        words = self.consent.hidden(shortened(clean_text(checked_text(text, "text")), TurnLimits().text))
        draft = self._draft(scene, old, words)
        if duplicate_key(draft.events[0].text) == duplicate_key(old.text):
            return old
        await self.events.commit(draft)
        return await self._stored(old, draft.events[0])

    async def _stored(self, old: Event, written: Event) -> Event:
        """Return the corrected event as stored, or the active event with the same words that the ledger kept instead.

        Raises UnknownEvent if the ledger rejected the correction, because the person opted out or was erased meanwhile.
        """
        found = await self.events.find(written.id)
        if found is not None and found.retired_at is None:
            return found
        left = await self.events.find(old.id)
        if left is None or left.retired_at is None:
            raise UnknownEvent(sentences.caller.UNKNOWN_EVENT)
        instant = Interval(old.happened_at, old.happened_at + timedelta(microseconds=1))
        dated = await self.events.recent(ReadFilter(Scene.operator(old.agent), window=instant), MOST_DATED)
        alike = (written.scope, written.sender_id, duplicate_key(written.text))
        equal = (one for one in dated if (one.scope, one.sender_id, duplicate_key(one.text)) == alike)
        return next(equal, written)

    def _draft(self, scene: Scene, old: Event, words: str) -> Draft:
        """Return the corrected event: the asker's own words, or a note if the operator wrote them.

        Words that depend on the speaker are stored as a quotation.
        """
        writer = "" if scene.kind == "operator" else scene.user_id
        quotes = (Quote("", writer, words, clean_name(scene.user_name or old.sender_name) if writer else ""),)
        text = exchange(quotes) if writer and offences(words) else words
        corrected = replace(
            old,
            id=corrected_id(old.id, text),
            text=text,
            sender_id=writer or old.sender_id,
            quotes=quotes,
            is_absolute=not offences(words),
            confidence=1.0,
            count=1,
            last_seen_at=None,
        )
        job_id = derived_id("correction", old.id, text)
        return Draft(job_id, (corrected,), facts=tuple(self._facts(scene, corrected)), corrects=old.id)

    def _facts(self, scene: Scene, event: Event) -> Iterator[Fact]:
        """Yield the facts for the speaker's and the group's profile, if the asker is the speaker.

        A correction by an operator changes no profile. The ledger drops the group's fact unless the old event had one.
        """
        if scene.user_id != event.sender_id or scene.kind == "operator":
            return
        learned_in = _learned_in(event)
        if set(event.subjects) == {event.sender_id}:
            key = own_key(learned_in, event.sender_id, self.settings.current)
            yield Fact(key, event.id, event.quotes[0].text, event.kind, event.happened_at)
        if event.group_id:
            yield group_fact(learned_in, event)


def _learned_in(event: Event) -> Scene:
    if event.request_type == "private":
        return Scene.private(event.user_id, agent=event.agent)
    return Scene.group(event.group_id, event.sender_id, agent=event.agent)


def is_own(scene: Scene, event: Event) -> bool:
    """Return whether the asker may change an event.

    It is their own, of their private chat, or what the bot noted in a turn with them; an operator may change all.
    """
    is_in_private = event.request_type == "private" and event.user_id == scene.user_id
    return scene.kind == "operator" or event.person == scene.user_id or is_in_private
