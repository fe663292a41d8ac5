"""Events as what their speakers said, and stored statements with the present names of people."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import tzinfo

from .. import sentences
from ..domain.event import Event, Label, exchange
from ..domain.people import Person, label_of
from .fences import defused
from .names import NAME_LENGTH, clean_name
from .spans import LABEL, is_whole

_NAME = re.compile(rf"[^\s，。：:、()（）]{{1,{NAME_LENGTH}}}")
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
    name, (before, has_label, _) = clean_name(event.sender_name), event.text.partition(f"({event.sender_id})")
    if not speaker or (has_label and (before == name if name else _NAME.fullmatch(before))):
        return event.text
    return sentences.context.SAID_BY.format(speaker=speaker) + event.text


NAMELESS = "QQ"  # what stands before the id of a person whose name was not known


def ids_in_brackets(texts: Iterable[str]) -> frozenset[str]:
    """Return the texts in brackets in these texts; each may be an id behind a name, but need not be."""
    return frozenset(match[1] for text in texts for match in LABEL.finditer(text))


def with_current_names(text: str, people: Mapping[str, Person]) -> str:
    """Return a statement with the present name in each ``name(id)`` of a known person.

    The first label in which a person's name was replaced also shows the replaced name. A name that the person never had
    is kept, and so is a name without an id.
    """
    pieces: list[str] = []
    at = 0
    told: set[str] = set()
    for match in LABEL.finditer(text):
        person = people.get(match[1])
        if person is None:
            continue
        name, worn = clean_name(person.name), [clean_name(one) for one in (person.name, *person.aliases)]
        names = {*worn, *map(defused, worn), NAMELESS} - {""}
        before = text[at : match.start()]
        ending = [one for one in names if before.endswith(one) and is_whole(before, len(before) - len(one), one)]
        written = max(ending, key=len, default="")
        if written in ("", name):
            continue
        pieces += [text[at : match.start() - len(written)], name, match[0]]
        if written != NAMELESS and person.id not in told:
            pieces.append(sentences.context.CALLED_THEN.format(name=written))
        told.add(person.id)
        at = match.end()
    return "".join((*pieces, text[at:]))
