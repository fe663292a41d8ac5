"""The historian without a model: applies rules, and marks statements that they could not make absolute."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from ... import sentences
from ...domain.event import Statement
from ...domain.fact import EventKind
from ...domain.message import Message
from ...domain.people import JobContext, Person
from ...domain.turn import Dialogue, Turn
from ...text.identity.name_cleaning import clean_name
from ...text.statements.group_rules import lays_down_rule
from .known_people import KnownPeople
from .lasting_facts import begins_with_speaker, ended_states, lasting_clause
from .memorable_passages import chosen, corrected_line, is_dated, is_serious, retracts
from .phrasing import Phrasing
from .quoting import QuotedPassage, Quoting
from .sentence_filter import kind_of
from .settling_replies import can_be_settled, settles

CONFIDENCE = 0.6
_SOON = 8  # lines within which somebody takes back what they said
_TAKEN_BACK = 2  # of their lines
_FOOLS_DAY = (4, 1)


@dataclass(frozen=True)
class RuleHistorian:
    """A historian by rules instead of a model; dates are written in ``zone``. Equal input gives equal statements."""

    zone: tzinfo

    async def rewrite(self, turn: Turn, job_context: JobContext) -> list[Statement]:
        """Return one statement per observation; it is not absolute if it has 我 or 你, which no rule resolves."""
        phrasing = Phrasing(KnownPeople(job_context))
        written: list[Statement] = []
        for observation in turn.observations:
            written.append(self._observed(observation, turn, job_context, phrasing))
            await asyncio.sleep(0)  # one line at a time, to keep the event loop responsive
        return written

    async def triage(self, dialogue: Dialogue, job_context: JobContext) -> list[Statement]:
        """Return what people disclosed, planned, decided or asked to remember, in the words of the senders.

        A rule that the group's owner or an admin lays down is about the group. A short answer to
        somebody's question or proposal is quoted with it. Lines whose sender takes them back,
        and announcements made on 1 April, are left out.
        """
        by_id = {message.id: message for message in (*job_context.answered, *dialogue.messages)}
        senders = [_sender(message) for message in reversed(dialogue.messages) if not message.is_bot]
        known_people = KnownPeople(job_context, senders)
        kept: list[Statement] = []
        doubtful = _retracted_ids(dialogue.messages)
        for message in dialogue.messages:
            if not message.is_bot and message.id not in doubtful:
                statements = [*self._kept(message, by_id, known_people, _line_corrected_by(message, dialogue.messages))]
                kept += statements or self._settled(message, by_id, known_people, doubtful)
            await asyncio.sleep(0)
        return kept

    def _observed(self, observation: str, turn: Turn, job_context: JobContext, phrasing: Phrasing) -> Statement:
        text = (
            phrasing.phrase(observation, job_context.when.astimezone(self.zone)) or sentences.stored_text.NOTHING_SHOWN
        )
        return Statement(
            text,
            kind_of(text),
            subjects=phrasing.known_people.ids_in(text),
            speaker=turn.scene.user_id,
            confidence=CONFIDENCE,
            is_absolute=phrasing.is_absolute(text),
            is_own=True,
            is_of_place=phrasing.known_people.is_of_place(text),
            message_ids=tuple(turn.message_ids),
        )

    def _kept(
        self, message: Message, by_id: Mapping[str, Message], known_people: KnownPeople, wrong: Message | None
    ) -> Iterator[Statement]:
        when = message.sent_at.astimezone(self.zone)
        if (when.month, when.day) == _FOOLS_DAY and not is_serious(message.text):
            return
        sender = _sender(message) if message.scene.user_name else known_people.person(message.sender_id)
        quoting = Quoting(known_people, sender, _addressee(message, by_id, known_people))
        others = [name for name, person in known_people.by_name.items() if person.id != sender.id]
        text = corrected_line(message.text, wrong.text) if wrong else message.text
        for passage in chosen(text, others):
            quotation = quoting.quote(passage, when)
            lasting = lasting_clause(passage, others)
            holds = bool(lasting or ended_states(passage))
            is_rule = message.scene.is_admin and not holds and lays_down_rule(passage)
            yield Statement(
                quotation.text,
                lasting.kind if lasting else _kind(passage),
                subjects=_subjects(quotation, passage, sender, known_people, holds=holds),
                speaker=sender.id,
                confidence=CONFIDENCE,
                is_absolute=quotation.is_absolute,
                is_own=True,
                is_of_place=is_rule or quoting.is_of_place(passage),
                message_ids=(wrong.id, message.id) if wrong else (message.id,),
                happened_at=message.sent_at,
            )

    def _settled(
        self, message: Message, by_id: Mapping[str, Message], known_people: KnownPeople, doubtful: Collection[str]
    ) -> Iterator[Statement]:
        when, answered = message.sent_at.astimezone(self.zone), by_id.get(message.reply_to or "")
        addressee = _addressee(message, by_id, known_people)
        if answered is None or addressee is None or answered.id in doubtful or (when.month, when.day) == _FOOLS_DAY:
            return
        if settles(message.text) and can_be_settled(answered.text):
            sender = _sender(message) if message.scene.user_name else known_people.person(message.sender_id)
            quotation = Quoting(known_people, sender, addressee).answer(message.text, when, answered.text)
            voices = (sender.id, addressee.id)
            yield Statement(
                quotation.text,
                "event",
                subjects=tuple(dict.fromkeys((*voices, *known_people.ids_in(quotation.text)))),
                confidence=CONFIDENCE,
                is_absolute=quotation.is_absolute,
                voices=voices,
                message_ids=(answered.id, message.id),
                happened_at=message.sent_at,
            )


def _sender(message: Message) -> Person:
    """Return a message's sender with the name that they had when they wrote it."""
    return Person(message.sender_id, clean_name(message.scene.user_name))


def _addressee(message: Message, by_id: Mapping[str, Message], known_people: KnownPeople) -> Person | None:
    """Return the person meant by 你: the author of the answered line, unless that is the bot or the sender."""
    answered = by_id.get(message.reply_to or "")
    if answered is None or answered.is_bot or message.addressed_to_bot or answered.sender_id == message.sender_id:
        return None
    return known_people.person(answered.sender_id)


def _retracted_ids(messages: Sequence[Message]) -> frozenset[str]:
    """Return the ids of the lines that their sender called a joke or a mistake soon afterwards."""
    found: list[str] = []
    for index, message in enumerate(messages):
        if not message.is_bot and retracts(message.text):
            near = messages[max(index - _SOON, 0) : index]
            own = [one.id for one in near if one.sender_id == message.sender_id]
            found += own[-1:] if _line_corrected_by(message, messages) else own[-_TAKEN_BACK:]
    return frozenset(found)


def _line_corrected_by(message: Message, messages: Sequence[Message]) -> Message | None:
    """Return the line that a message corrects, the last of its sender shortly before; None if it corrects no line."""
    if not corrected_line(message.text, message.text):
        return None
    index = next((at for at, one in enumerate(messages) if one.id == message.id), 0)
    near = messages[max(index - _SOON, 0) : index]
    return next((one for one in reversed(near) if not one.is_bot and one.sender_id == message.sender_id), None)


def _kind(passage: str) -> EventKind:
    kind = kind_of(passage)
    return "event" if kind == "knowledge" and is_dated(passage) else kind


def _subjects(
    quotation: QuotedPassage, passage: str, sender: Person, known_people: KnownPeople, *, holds: bool
) -> tuple[str, ...]:
    """Return the ids of the people whom a quotation is about: those it names, and possibly its speaker.

    The speaker counts if the quotation states or ends something lasting of them (``holds``), or begins with them and
    names nobody else.
    """
    others = tuple(user_id for user_id in known_people.ids_in(quotation.text) if user_id != sender.id)
    is_of_sender = holds or (not others and begins_with_speaker(passage))
    return (sender.id, *others) if is_of_sender else others
