"""Words for oneself, the speaker in front of a statement, and members of whom others speak."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from ...domain.people import Person
from .written_ids import plain, short_form

MYSELF = frozenset(("我", "俺", "本人", "i", "me", "my", "mine", "myself"))
_NAME_AND_ID = re.compile(r"[^\s，。：；、“”()]{1,48}\([0-9a-z_-]{1,128}\)")


def is_hearsay(text: str, people: Iterable[Person], speakers: Collection[str]) -> bool:
    """Return whether a text names a member who is not among the speakers, by id or by a name that no speaker bears.

    Names of one character do not count.
    """
    written, bearers = plain(text).casefold(), dict[str, set[str]]()
    for person in people:
        if f"({person.id})" in written and person.id not in speakers:
            return True
        for name in (plain(one).casefold() for one in (person.name, *person.aliases)):
            for form in {name, short_form(name)}:
                bearers.setdefault(form, set()).add(person.id)
    bare = _NAME_AND_ID.sub(" ", written)
    return any(len(form) > 1 and form in bare and ids.isdisjoint(speakers) for form, ids in bearers.items())
