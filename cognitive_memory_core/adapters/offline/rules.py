"""The historian without a model: applies rules, and marks statements that they could not make absolute."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import tzinfo

from ... import sentences
from ...domain.event import Statement
from ...domain.message import Message
from ...domain.people import Anchors, Person
from ...domain.turn import Dialogue, Turn, shortened
from ...text.identity.names import clean_name
from .known_people import Cast
from .phrasing import STATEMENT_LENGTH, Phrasing
from .worth import kind_of, worthy

CONFIDENCE = 0.6
_NEAR = 20  # characters within which a sentence about its speaker names them


@dataclass(frozen=True)
class RuleHistorian:
    """A rule-based historian that writes dates, labels and names in ``zone``; deterministic and free of cost."""

    zone: tzinfo

    async def rewrite(self, turn: Turn, anchors: Anchors) -> list[Statement]:
        """Return one statement per observation; 我 and 你 of a chat model stay and mark it as not absolute."""
        phrasing = Phrasing(Cast(anchors))
        written: list[Statement] = []
        for observation in turn.observations:
            written.append(self._observed(observation, turn, anchors, phrasing))
            await asyncio.sleep(0)  # one line at a time, to keep the event loop responsive
        return written

    async def triage(self, dialogue: Dialogue, anchors: Anchors) -> list[Statement]:
        """Return what people disclosed, planned, decided or asked to remember, each line attributed to its sender."""
        by_id = {message.id: message for message in dialogue.messages}
        senders = [_sender(message) for message in reversed(dialogue.messages) if not message.is_bot]
        cast = Cast(anchors, senders)
        kept: list[Statement] = []
        for message in dialogue.messages:
            kept.extend(self._kept(message, by_id, cast))
            await asyncio.sleep(0)
        return kept

    def _observed(self, observation: str, turn: Turn, anchors: Anchors, phrasing: Phrasing) -> Statement:
        text = phrasing.phrase(observation, anchors.when.astimezone(self.zone)) or sentences.stored.NOTHING_SHOWN
        return Statement(
            text,
            kind_of(text),
            subjects=phrasing.cast.standing_in(text),
            speaker=turn.scene.user_id,
            confidence=CONFIDENCE,
            is_absolute=phrasing.is_absolute(text),
            is_own=True,
            is_of_place=phrasing.cast.is_of_place(text),
            message_ids=tuple(turn.message_ids),
        )

    def _kept(self, message: Message, by_id: Mapping[str, Message], cast: Cast) -> Iterator[Statement]:
        if message.is_bot:
            return
        sender = _sender(message) if message.scene.user_name else cast.person(message.sender_id)
        phrasing = Phrasing(cast, sender, _addressee(message, by_id, cast))
        others = [name for name, person in cast.by_name.items() if person.id != sender.id]
        for sentence in worthy(message.text, others):
            said = phrasing.phrase(sentence, message.sent_at.astimezone(self.zone))
            text = _attributed(said, sender, cast)
            yield Statement(
                text,
                kind_of(text),
                subjects=_spoken_of(said, text, sender, cast),
                speaker=sender.id,
                confidence=CONFIDENCE,
                is_absolute=phrasing.is_absolute(text),
                is_own=True,
                is_of_place=cast.is_of_place(said),
                message_ids=(message.id,),
                happened_at=message.sent_at,
            )


def _sender(message: Message) -> Person:
    """Return the sender under the name of that time."""
    return Person(message.sender_id, clean_name(message.scene.user_name))


def _addressee(message: Message, by_id: Mapping[str, Message], cast: Cast) -> Person | None:
    """Return the person meant by 你: the author of the answered line, unless that is the bot or the sender."""
    answered = by_id.get(message.reply_to or "")
    if answered is None or answered.is_bot or message.addressed_to_bot or answered.sender_id == message.sender_id:
        return None
    return cast.person(answered.sender_id)


def _spoken_of(said: str, text: str, sender: Person, cast: Cast) -> tuple[str, ...]:
    """Return the ids that a statement is about, without the sender if it only reports their words."""
    standing = cast.standing_in(said)
    return standing if said == text else tuple(user_id for user_id in standing if user_id != sender.id)


def _attributed(text: str, sender: Person, cast: Cast) -> str:
    """Prefix "A 说：" unless A speaks of A alone, so that nobody's words become a fact about somebody else."""
    at = text.find(sender.label)
    is_own = 0 <= at <= _NEAR and not set(text[:at]) & set("，,。：:") and cast.standing_in(text) == (sender.id,)
    return text if is_own else shortened(f"{sender.label} 说：{text}", STATEMENT_LENGTH)
