"""Chooses the people that a prompt shows, and for each the one name that it uses."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain

from ..domain.message import Message
from ..domain.people import JobContext, Person
from ..text.caches import cleared_on_erasure
from ..text.names import clean_name
from ..text.safety.prompt_fences import defused
from ..text.safety.redaction import Vocabulary

MOST_PEOPLE = 40
MOST_ALIASES = 4
_KNOWN = 500  # people of a place that are considered
_ALIASES = 10  # of one person that are considered
_LOOKED_AT, _HEARD = 1_000, 40_000  # characters searched of one text and of all
_SHORTEST_NAME = 2  # characters; a shorter name occurs in almost every text
_SHORTEST_ID = 5
_SPOKEN = re.compile(r"\w{2,}")


@dataclass(frozen=True)
class PeopleList:
    """The people of one prompt with their display names; the first is the speaker of the turn."""

    place: Person
    people: tuple[Person, ...]

    @property
    def ids(self) -> frozenset[str]:
        """Return every id that an answer may name, including the group's."""
        return frozenset(person.id for person in (*self.people, self.place) if person.id)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every name that is shown."""
        return tuple(name for person in (*self.people, self.place) for name in (person.name, *person.aliases) if name)

    @property
    def called_place(self) -> str:
        """Return ``name(id)`` of the group; "" in a private chat."""
        return f"{_shown(self.place.name) or '群'}({defused(self.place.id)})" if self.place.id else ""

    def called(self, user_id: str, name: str = "") -> str:
        """Return a person as ``name(id)`` by the name that this prompt uses; of an unknown person by ``name``."""
        known = self._by_id.get(user_id)
        return known.label if known else _displayed(Person(user_id, name)).label

    def short(self, user_id: str, name: str = "") -> str:
        """Return a person's name without the id; of an unknown person ``name``, or the id if ``name`` is blank."""
        known = self._by_id.get(user_id)
        return (known.name if known else _shown(name)) or defused(user_id)

    def called_then(self, user_id: str, name: str) -> str:
        """Return :meth:`called`, followed by ``name``, the name at that time, if it differs: other lines may use it."""
        label, shown_name = self.called(user_id, name), _shown(name)
        return label if not shown_name or label.startswith(f"{shown_name}(") else f"{label}[当时叫{shown_name}]"

    @cached_property
    def _by_id(self) -> dict[str, Person]:
        return {person.id: person for person in self.people}


def people_list_of(
    job_context: JobContext, lines: Sequence[Message | str], texts: Iterable[str], *, fill: int = 0
) -> PeopleList:
    """Choose at most 40 people to show: participants, then those whose id, name or alias occurs in a text.

    If they are fewer than ``fill``, others of the place are added, because people are also called by unlisted names.
    """
    messages = [line for line in lines if isinstance(line, Message)]
    known = _known(job_context, messages)
    present = dict.fromkeys((job_context.speaker.id, *(line.sender_id for line in messages if line.sender_id)))
    signs = {user_id: tuple(_identifying_words(person)) for user_id, person in known.items()}
    said = (*(line if isinstance(line, str) else line.text for line in lines), *texts)
    heard = _mentioned_words(said, chain.from_iterable(signs.values()))
    mentioned = [user_id for user_id, words in signs.items() if not heard.isdisjoint(words)]
    shown = list(dict.fromkeys((*present, *mentioned)))
    others = [user_id for user_id in known if user_id not in shown][: max(fill - len(shown), 0)]
    people = tuple(_displayed(known[user_id], heard) for user_id in (*shown, *others)[:MOST_PEOPLE])
    return PeopleList(Person(job_context.place.group_id, clean_name(job_context.place_name)), people)


def _known(job_context: JobContext, messages: Sequence[Message]) -> dict[str, Person]:
    """Merge what is known of each person; a line's sender name is used where the job context has none."""
    scenes = {line.sender_id: line.scene.user_name for line in messages if line.sender_id}
    known: dict[str, Person] = {}
    lined = (Person(user_id, name) for user_id, name in scenes.items())
    for person in (job_context.speaker, *job_context.people[:_KNOWN], *lined):
        before = known.get(person.id, person)
        aliases = before.aliases if before is person else (*before.aliases, *person.aliases)
        known[person.id] = Person(person.id, before.name or person.name, aliases)
    return known


def _mentioned_words(texts: Iterable[str], words: Iterable[str]) -> frozenset[str]:
    """Return the words, case-folded ids and names of people, that occur in the texts."""
    said = "\n".join(text[:_LOOKED_AT] for text in texts)[:_HEARD]
    return frozenset(Vocabulary(words).within(said.casefold()))


def _displayed(person: Person, heard: Collection[str] = ()) -> Person:
    """Return a person with names fit for display; the aliases in ``heard`` come first."""
    name = _shown(person.name)
    aliases = sorted(person.aliases[:_ALIASES], key=lambda alias: not any(word in heard for word in _words(alias)))
    cleaned = dict.fromkeys(_shown(alias) for alias in aliases)
    kept = [alias for alias in cleaned if alias and alias != name]
    return Person(defused(person.id), name, tuple(kept[:MOST_ALIASES]))


def _shown(name: str) -> str:
    return defused(clean_name(name))


def _identifying_words(person: Person) -> Iterator[str]:
    """Return the words that identify a person in a text: the id, and each name."""
    if len(person.id) >= _SHORTEST_ID:
        yield person.id.casefold()
    for name in (person.name, *person.aliases[:_ALIASES]):
        yield from _words(name)


@cleared_on_erasure
@lru_cache(maxsize=8192)  # the people of a place are looked through for each of its prompts
def _words(name: str) -> tuple[str, ...]:
    """Return the ways others write a name: in full, and without its decoration (陈皮 of 陈皮(已还魂))."""
    spoken = _SPOKEN.match(name)
    forms = (name, spoken[0] if spoken else "")
    return tuple(form.casefold() for form in forms if len(form) >= _SHORTEST_NAME)
