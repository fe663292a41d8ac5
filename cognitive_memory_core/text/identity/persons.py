"""Words for oneself, the speaker in front of a statement, and members of whom others speak."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from ...domain.people import Person
from .written_ids import plain, short_form

MYSELF = frozenset(("我", "俺", "本人", "i", "me", "my", "mine", "myself"))
_CLOCK = "[0-9]{1,2}[:：][0-9]{2}"
_WHEN = (  # the form that our own prompts ask for, and its English one
    f"(?:[ 在于]{{0,2}}(?:[0-9]{{4}}年)?[0-9]{{1,2}}月(?:[0-9]{{1,2}}[日号])?(?:[ ，,]{{0,2}}{_CLOCK})?"
    f"|(?: on)? [a-z]{{3,9}} [0-9]{{1,2}}, [0-9]{{4}}(?:,?(?: at)? {_CLOCK})?,?"
    f"|[ 在于]{{0,2}}[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?: {_CLOCK})?)?"
)
_SAID = re.compile(f"{_WHEN} ?(?:说(?![唱书明话服])|表示|提到|says?|said)(?: that)?[：:，, ]*", re.IGNORECASE)
_BEFORE_A_NAME = re.compile("[^，。！？!?；;：()（）]{0,64}")
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


def unsaid(text: str, user_id: str) -> str:
    """Remove "this person said", and a date in it, before a statement: "A(1) 2026年3月5日 说：X" becomes X."""
    for label in _labels(user_id):
        at = text.find(label)
        said = _SAID.match(text, at + len(label)) if at >= 0 and _BEFORE_A_NAME.fullmatch(text, 0, at) else None
        if said:
            told = text[said.end() :]
            return f"{text[: said.start()]}{told}" if told.startswith("自己") else told
    return text


def _labels(user_id: str) -> tuple[str, str]:
    return f"({user_id})", f"（{user_id}）"
