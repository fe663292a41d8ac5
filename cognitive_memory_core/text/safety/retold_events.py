"""Detection of lines that retell an event: lines of the bot or of the event's sender that repeat its statement."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from ... import sentences
from ...domain.erasure import keys_of
from ...domain.event import Event
from ...domain.message import Message
from ...domain.profile import Profile
from ..caches import cleared_on_erasure
from ..statements.withdrawn_claims import WithdrawnClaim, without

_LABEL = re.compile(r"[^\s，。！？、：；,.!?:;()（）]{1,32}[(（][0-9]{5,}[)）]")


def retells(message: Message, event: Event) -> bool:
    """Return whether a line repeats an event in the same or similar words.

    Two kinds of lines are compared: the bot's, in the event's scope or addressed to the event's sender; and, for an
    event without source messages, those that the event's sender said in that scope before the event.
    """
    if message.is_bot:
        spoken_to = (message.scene.agent, message.scene.user_id) if event.person else None
        is_there = message.scene.scope == event.scope or spoken_to == (event.agent, event.person)
    else:
        is_by_sender = (message.scene.scope, message.sender_id) == (event.scope, event.person)
        is_earlier = event.retired_at is None or message.sent_at <= event.retired_at
        is_there = not event.message_ids and is_by_sender and is_earlier
    return is_there and statement_of(event).is_recited_by(message.text)


def untelling(events: Iterable[Event], corrected: Mapping[str, Sequence[Event]] | None = None) -> Callable[[str], str]:
    """Return a function that removes from a text the sentences that retell one of these events.

    ``corrected`` maps the id of a corrected event to the events that replace it; what these also say is kept.
    """
    standing = corrected or {}
    statements = [statement_of(event, *standing.get(event.id, ())) for event in events]

    def is_told(piece: str) -> bool:
        return any(one.is_told_by(piece) or one.is_recited_by(piece) for one in statements)

    return lambda text: without(text, is_told) if statements else text


def without_retold(profile: Profile, gone: Iterable[Event], ids: Collection[str] = ()) -> Profile:
    """Return a profile without the lines that rest on events of ``ids`` or ``gone``, or retell one of ``gone``."""
    own = [event for event in gone if profile.key in keys_of(event)]
    return profile.without_events({*ids, *(event.id for event in own)}).reworded(untelling(own))


def statement_of(event: Event, *standing: Event) -> WithdrawnClaim:
    """Return what an event claims, without people's names (any line may have them) and what ``standing`` events say."""
    text = event.text.removeprefix(f"{sentences.stored_text.BOT_NOTED}：")
    return _statement(text, event.sender_name, event.person, *(one.text for one in standing))


@cleared_on_erasure
@lru_cache(maxsize=1024)
def _statement(text: str, *but: str) -> WithdrawnClaim:
    return WithdrawnClaim(text, tuple(filter(None, (*_LABEL.findall(text), *but))))
