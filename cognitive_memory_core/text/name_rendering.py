"""Renders names in stored statements from the ids beside them: the present name; the former one is added once."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from .. import sentences
from ..domain.people import Person
from .names import clean_name
from .safety.prompt_fences import defused

NAMELESS = "QQ"  # what stands before the id of a person whose name was not known
_LABEL = re.compile(r"[(（]([^()（）\s]{1,128})[)）]")


def labelled(texts: Iterable[str]) -> frozenset[str]:
    """Return the texts in brackets in these texts; each may be an id behind a name, but need not be."""
    return frozenset(match[1] for text in texts for match in _LABEL.finditer(text))


def with_current_names(text: str, people: Mapping[str, Person]) -> str:
    """Return a statement with the present name in each ``name(id)`` of a known person.

    The first label in which a person's name was replaced also shows the replaced name. A name that the person never had
    is kept, and so is a name without an id.
    """
    pieces: list[str] = []
    at = 0
    told: set[str] = set()
    for match in _LABEL.finditer(text):
        person = people.get(match[1])
        written = _written(text[at : match.start()], person) if person else ""
        if person is None or not written or written == (name := clean_name(person.name)):
            continue
        pieces += [text[at : match.start() - len(written)], name, match[0]]
        if written != NAMELESS and person.id not in told:
            pieces.append(sentences.context.CALLED_THEN.format(name=written))
        told.add(person.id)
        at = match.end()
    return "".join((*pieces, text[at:]))


def _written(before: str, person: Person) -> str:
    """Return the longest name of a person with which a text ends, as a whole word; "" if it ends with none of them."""
    found = (name for name in _names(person) if before.endswith(name) and not _is_tail(before, name))
    return max(found, key=len, default="")


def _names(person: Person) -> Collection[str]:
    worn = [clean_name(name) for name in (person.name, *person.aliases)]
    return {name for name in (*worn, *map(defused, worn), NAMELESS) if name}


def _is_tail(before: str, name: str) -> bool:
    """Return whether a name of Latin letters is only the end of a longer word."""
    pair = before[: -len(name)][-1:] + name[:1]
    return len(pair) > 1 and pair.isascii() and pair.isalnum()
