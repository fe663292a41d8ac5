"""Adds missing ids behind names in a text, if only one person has the name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ...domain.people import Person
from ..time.time_words import mentions
from .callnames import callname, callnames
from .written_ids import plain

_READ = 2_000  # characters of a text
_BEFORE = "(?:^|(?<=[\\s，。：:；;、！!？?“「（(@和跟与给对让叫请帮替问向]))"
_LABEL = re.compile(r"\s?[(（〔\[]")  # what follows a name that has an id or a note already


def people_by_name(text: str, people: Iterable[Person]) -> Mapping[str, Person]:
    """Map each name in a normalised text (:func:`callname`) to the only person who has or had it."""
    candidates: dict[str, dict[str, Person]] = {}
    for person in people:
        forms = {form for name in (person.name, *person.aliases) for form in callnames(name) if form in text}
        for form in forms:
            candidates.setdefault(form, {})[person.id] = person
    return {form: next(iter(of.values())) for form, of in candidates.items() if len(of) == 1 and not mentions(form)}


def labelled(text: str, people: Iterable[Person]) -> str:
    """Return a text in which a name without an id is written ``name(id)``, if only one known person is called so.

    A name counts at the beginning of a clause and behind words such as 和 and 给; elsewhere it may be part of a word.
    The names of a person whose id is in the text already are left as they are.
    """
    normalised = callname(text)
    by_name = {name: person for name, person in people_by_name(normalised, people).items() if person.id}
    if not by_name or len(normalised) != len(text) or len(text) > _READ:
        return text
    written, parts, end = plain(text), list[str](), 0
    listed = "|".join(re.escape(name) + _end_of(name) for name in sorted(by_name, key=len, reverse=True))
    for found in re.finditer(f"{_BEFORE}({listed})", normalised):  # the longest name counts, also where it has its id
        person = by_name[found[1]]
        if f"({person.id})" not in written and not _LABEL.match(text, found.end()):
            parts += (text[end : found.start()], person.label)
            end = found.end()
            written += f"({person.id})"
    return "".join((*parts, text[end:]))


def ids_of(named: Iterable[str], people: Iterable[Person]) -> tuple[str, ...]:
    """Return the names and ids that a model listed; a name that only one person has is replaced by that person's id."""
    listed = tuple(named)
    by_name = people_by_name(callname("\n".join(listed)), people)
    return tuple(by_name[callname(one)].id if callname(one) in by_name else one for one in listed)


def _end_of(name: str) -> str:
    """Return a lookahead for the end of a name: no letter or digit may follow a Latin name, anything a Chinese one."""
    return r"(?![0-9A-Za-z_])" if name[-1].isascii() else ""
