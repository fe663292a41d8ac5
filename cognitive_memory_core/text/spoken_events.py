"""What a model reads of an event: the lines that it rests on, never a text that another model wrote without them."""

from __future__ import annotations

import re
from datetime import tzinfo

from .. import sentences
from ..domain.event import Event, Label, exchange, label_of
from .names import NAME_LENGTH, clean_name

QUOTE_LENGTH = 240  # characters shown of one line, as of a line of the log


def name_and_id(user_id: str, name: str) -> str:
    """Return a person as ``name(id)``, the name cleaned, so that no name can pass for somebody else's label."""
    return label_of(user_id, clean_name(name))


def spoken(event: Event, label: Label = name_and_id, zone: tzinfo | None = None, *, longest: int = QUOTE_LENGTH) -> str:
    """Return an event as its quotes in order, each with its speaker as ``label`` writes them.

    An event without quotes, stored before there were any, is shown as the word of its sender.
    """
    if event.quotes:
        return exchange(event.quotes, label, zone, longest=longest)
    speaker = label(event.sender_id, event.sender_name) if event.sender_id else ""
    name = re.escape(clean_name(event.sender_name)) or rf"[^\s，。：:、()（）]{{1,{NAME_LENGTH}}}"
    if not speaker or re.match(rf"{name}\({re.escape(event.sender_id)}\)", event.text):
        return event.text
    return sentences.context.SAID_BY.format(speaker=speaker) + event.text
