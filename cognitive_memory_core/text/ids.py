"""Ids of people in texts: which of them occur, and which numbers are nobody's or another person's."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from ..domain.people import Person
from .characters import cleared_on_erasure
from .cleaning import plain
from .fences import defused
from .names import short_form
from .numbers import numbers_in
from .spans import blanked, is_whole
from .time.time_words import mentions

BARE_ID = 5  # characters; a shorter id is recognised, and hidden, only in brackets: it may be a day or a count
_TOKEN = re.compile("[0-9A-Za-z_-]{1,128}")
_LABEL = re.compile(r"\(([0-9A-Za-z_-]{1,128})\)")
_NUMBER = re.compile("[0-9]+(?:[ ,][0-9]{3,4}(?![0-9]))*")  # 138 0013 8000 and 12,000 are one number
_GAP = re.compile("[ ,]")


@cleared_on_erasure
@lru_cache(maxsize=20_000)  # covers the names of a busy bot's groups, which every statement needs
def name_forms(name: str) -> tuple[str, ...]:
    """Return a name in full, as a prompt shows it, and in the short form that people use; each distinct form once."""
    return tuple(dict.fromkeys(form for form in (name, defused(name), short_form(name)) if form))


def ids_by_name(people: Iterable[Person], *texts: str) -> dict[str, set[str]]:
    """Map each form of people's names, former ones too, to the ids of all who have it; only forms in the texts."""
    found: dict[str, set[str]] = {}
    for person in people:
        for form in (form for name in (person.name, *person.aliases) for form in map(plain, name_forms(name))):
            if any(form in text for text in texts):
                found.setdefault(form, set()).add(person.id)
    return found


def ids_in(text: str, ids: Iterable[str], names: Iterable[str]) -> list[str]:
    """Return the ids that occur in a text: as ``name(id)``, or alone if at least :data:`BARE_ID` characters long.

    An id inside a known name does not count: a name cannot impersonate another person's id.
    """
    for name in names:
        if name in text and _TOKEN.search(name):
            text = text.replace(f"{name}(", "(")
    tokens = frozenset(_TOKEN.findall(text))
    return [one for one in ids if (len(one) >= BARE_ID and one in tokens) or f"({one})" in text]


def foreign_ids(
    text: str, given: Iterable[str], ids_by_name: Mapping[str, Collection[str]], ids: Collection[str]
) -> list[str]:
    """Return the numbers of five or more digits that nothing given has, and those of ``ids`` behind others' names.

    ``given`` are all texts of the input, read only if a number is none of the ``ids``; they have a number also with
    gaps or in thousands (1.2万). ``ids_by_name`` maps each name to the ids of all who have or had it; the longest name
    that ends at a bracket counts.
    """
    known, strange = {*ids}, _strange(text, ids)
    if strange and (strange := _strange(blanked(text, ((one.start, one.stop) for one in mentions(text))), ids)):
        source = "\n".join(given)
        known |= {f"{value:.0f}" for _, value in numbers_in(source)}
        for match in _NUMBER.finditer("\n".join((source, *ids_by_name))):
            known |= {_GAP.sub("", match[0]), *_GAP.split(match[0])}
    wrong = [
        number
        for written, number in strange.items()
        if number not in known and not known.issuperset(_GAP.split(written))
    ]
    for match in _LABEL.finditer(text):
        ending = [name for name in ids_by_name if is_whole(text, match.start() - len(name), name)]
        if ending and match[1] in ids and match[1] not in ids_by_name[max(ending, key=len)]:
            wrong.append(match[1])
    return list(dict.fromkeys(wrong))


def _strange(text: str, ids: Collection[str]) -> dict[str, str]:
    """Return the numbers of five or more digits that are none of the ids, without gaps, by how they are written."""
    found = {match[0]: _GAP.sub("", match[0]) for match in _NUMBER.finditer(text)}
    return {written: number for written, number in found.items() if len(number) >= BARE_ID and number not in ids}
