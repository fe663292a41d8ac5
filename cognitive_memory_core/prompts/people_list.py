"""The people of a prompt, listed once, and how its lines name them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from ..domain.job import JobContext
from ..domain.message import Message
from ..domain.people import Person
from ..text.callnames import callname, callnames
from ..text.fences import defused
from ..text.ids import BARE_ID
from ..text.names import clean_name
from ..text.redaction import finder

MOST_PEOPLE = 40
MOST_ALIASES = 4
_KNOWN = 500  # people of a place that are considered
_ALIASES = 10  # of one person that are considered
_LOOKED_AT, _HEARD = 1_000, 40_000  # characters searched of one text and of all


@dataclass(frozen=True)
class PeopleList:
    """The people of one prompt, by id and with the names that it shows; the first is the speaker of the turn."""

    place: Person
    people: Mapping[str, Person]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every name that is shown."""
        everyone = (*self.people.values(), self.place)
        return tuple(name for person in everyone for name in (person.name, *person.aliases) if name)

    def called(self, user_id: str, name: str = "") -> str:
        """Return a person as ``name(id)`` by the name that this prompt uses; of an unknown person by ``name``."""
        known = self.people.get(user_id)
        return known.label if known else _displayed(Person(user_id, name)).label

    def short(self, user_id: str, name: str = "") -> str:
        """Return a person's name without the id; of an unknown person ``name``, or the id if ``name`` is blank."""
        known = self.people.get(user_id)
        return (known.name if known else shown_name(name)) or defused(user_id)


def people_list_of(
    job_context: JobContext, lines: Sequence[Message | str], texts: Iterable[str], *, fill: int = 0
) -> PeopleList:
    """Choose at most 40 people to show: participants, then those whose id, name or alias occurs in a text.

    If they are fewer than ``fill``, others of the place are added, because people are also called by unlisted names.
    """
    scenes = {line.sender_id: line.scene for line in lines if isinstance(line, Message) and line.sender_id}
    lined = (Person(user_id, scene.user_name) for user_id, scene in scenes.items())
    known: dict[str, Person] = {}
    for person in (job_context.speaker, *job_context.people[:_KNOWN], *lined):  # what is known of each is merged
        before = known.get(person.id, Person(person.id))
        known[person.id] = Person(person.id, before.name or person.name, (*before.aliases, *person.aliases))
    signs = {
        user_id: [
            *(form for name in (person.name, *person.aliases[:_ALIASES]) for form in callnames(name)),
            *((callname(user_id),) if len(user_id) >= BARE_ID else ()),
        ]
        for user_id, person in known.items()
    }
    said = (*(line if isinstance(line, str) else line.text for line in lines), *texts)
    heard = callname("\n".join(text[:_LOOKED_AT] for text in said)[:_HEARD])
    words = frozenset(finder(chain.from_iterable(signs.values()))(heard))
    mentioned = [user_id for user_id, forms in signs.items() if not words.isdisjoint(forms)]
    shown = list(dict.fromkeys((job_context.speaker.id, *scenes, *mentioned)))
    others = [user_id for user_id in known if user_id not in shown][: max(fill - len(shown), 0)]
    people = {user_id: _displayed(known[user_id], words) for user_id in (*shown, *others)[:MOST_PEOPLE]}
    return PeopleList(Person(job_context.place.group_id, clean_name(job_context.place_name)), people)


def _displayed(person: Person, heard: frozenset[str] = frozenset()) -> Person:
    """Return a person with names fit for display; the aliases in ``heard`` come first."""
    name = shown_name(person.name)
    aliases = sorted(person.aliases[:_ALIASES], key=lambda alias: heard.isdisjoint(callnames(alias)))
    cleaned = dict.fromkeys(shown_name(alias) for alias in aliases)
    kept = [alias for alias in cleaned if alias and alias != name]
    return Person(defused(person.id), name, tuple(kept[:MOST_ALIASES]))


def shown_name(name: str) -> str:
    """Return a name fit for display."""
    return defused(clean_name(name))


def sender_shown(line: Message, people_list: PeopleList) -> str:
    """Return who said a line, with the name at that time if it differs, because other lines may use it."""
    name = line.scene.user_name
    if line.is_bot:
        return f"[机器人]对{people_list.short(line.scene.user_id, name)}"
    label, then = people_list.called(line.sender_id, name), shown_name(name)
    return label if not then or label.startswith(f"{then}(") else f"{label}[当时叫{then}]"
