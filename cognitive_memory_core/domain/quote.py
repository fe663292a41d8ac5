"""Quotes: the lines on which an event rests, verbatim, each with its sender."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from .. import sentences

_NESTED = str.maketrans({"“": "「", "”": "」", "„": "「", "‟": "「", "〝": "「", "〞": "」", "·": "・"})
ELLIPSIS = "…"
Label = Callable[[str, str], str]


@dataclass(frozen=True)
class Quote:
    """One line, whole and as it was said. A line of the bot has ``sender_id`` "".

    ``message_id`` is "" if the words are no line of the log: what a person entered by hand, or what the bot noted.
    ``sender_name`` is the sender's name at that time, ``sent_at`` the instant of the line, if they are known.
    """

    message_id: str
    sender_id: str
    text: str
    sender_name: str = ""
    sent_at: datetime | None = None


def shortened(text: str, limit: int | None) -> str:
    """Cut a text to at most ``limit`` characters; a cut text ends in "…"."""
    return text if limit is None or len(text) <= limit else text[: max(limit - 1, 0)] + ELLIPSIS


def nested(text: str) -> str:
    """Return a text on one line as it stands inside quotation marks, which no sign of it can close."""
    return " ".join(text.translate(_NESTED).split())


def label_of(user_id: str, name: str) -> str:
    """Return ``name(id)``, or ``QQ(id)`` if the name is unknown."""
    return f"{name}({user_id})" if name else f"QQ({user_id})"


def exchange(
    quotes: Sequence[Quote], label: Label = label_of, zone: tzinfo | None = None, *, longest: int | None = None
) -> str:
    """Return quotes in order as ``name(id)：“line”``, on one line; no line can pass for two or for another's.

    What a person entered by hand, later than the date of its event, has no quotation marks: ``name(id) 说：words``.
    With a ``zone``, lines of another day than the last one have their day in front. Lines are cut to ``longest``.
    """
    days = [one.sent_at.astimezone(zone).date() if one.sent_at and zone else None for one in quotes]
    shown: list[str] = []
    for one, day in zip(quotes, days, strict=True):
        said = shortened(nested(one.text), longest)
        when = f"{day:%m-%d} " if day and day != days[-1] else ""
        if one.sender_id:
            speaker = label(one.sender_id, one.sender_name.translate(_NESTED))
        else:
            speaker = sentences.stored_text.BOT if one.message_id else sentences.stored_text.BOT_NOTED
        is_written = one.sender_id and not one.message_id
        line = sentences.context.SAID_BY.format(speaker=speaker) + said if is_written else f"{speaker}：“{said}”"
        shown.append(when + line)
    return " ".join(shown)
