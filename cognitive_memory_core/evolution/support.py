"""What supports a statement: the cited lines that say it or agree to it, and who said them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..domain.message import Message
from ..domain.people import Person
from ..text.identity.names import clean_name
from ..text.lexical.frequency import FUNCTION_WORDS, telling
from ..text.lexical.terms import index_terms
from ..text.statements.assent import assents, refuses
from ..text.statements.authority import is_unvouched
from ..text.statements.group_rules import orders_memory

LEAST_PEOPLE = 2  # whom a norm needs, unless an admin says it
REACH = 12  # lines within which a short answer can agree to a line before it
GROUNDED = 0.25  # least share of a statement's words that must come from the lines or the statement before
_LABEL = re.compile(r"[(（][0-9A-Za-z_-]{1,128}[)）]")


@dataclass(frozen=True)
class Support:
    """The lines that support a statement, oldest first."""

    lines: tuple[Message, ...] = ()

    @property
    def people(self) -> tuple[str, ...]:
        """The ids of those who said them."""
        return tuple(dict.fromkeys(line.sender_id for line in self.lines))

    @property
    def message_ids(self) -> tuple[str, ...]:
        """The ids of the messages."""
        return tuple(line.id for line in self.lines)

    @property
    def suffices(self) -> bool:
        """Whether an admin or several people stand behind it."""
        return len(self.people) >= LEAST_PEOPLE or any(is_admins(line) for line in self.lines)


class NumberedChat:
    """The lines of one run, numbered from 1, and the names of people; a name alone is no support for a statement."""

    def __init__(self, lines: Sequence[Message], people: Iterable[Person] = ()) -> None:
        """Check statements against the lines as the prompt showed them."""
        self.lines = tuple(lines)
        named = (name for person in people for name in (person.name, *person.aliases))
        self._names = sorted({name for name in map(clean_name, named) if len(name) > 1}, key=len, reverse=True)

    def cited(self, numbers: Iterable[int]) -> list[Message]:
        """Return the cited lines of people; attempts to steer the bot or its memory are left out."""
        found = (self.lines[number - 1] for number in sorted(set(numbers)) if 0 < number <= len(self.lines))
        return [line for line in found if line.sender_id and not _is_order(line)]

    def are_all_orders(self, numbers: Iterable[int]) -> bool:
        """Return whether there are cited lines of people, and all of them try to steer the bot or its memory."""
        found = [self.lines[number - 1] for number in set(numbers) if 0 < number <= len(self.lines)]
        said = [line for line in found if line.sender_id]
        return bool(said) and all(map(_is_order, said))

    def support(self, statement: str, cited: Sequence[Message]) -> Support:
        """Return the cited lines that say a statement, and the cited lines after them that agree."""
        terms = self.terms(statement)
        says = [line for line in cited if self._says(line, terms)]
        at = {line.id: number for number, line in enumerate(self.lines)}
        starts = [at[line.id] for line in says]
        ids = {line.id for line in says}
        agreeing = (
            line
            for line in cited
            if line.id not in ids
            and assents(line.text)
            and (line.reply_to in ids or any(0 < at[line.id] - start <= REACH for start in starts))
        )
        ids |= {line.id for line in agreeing}
        return Support(tuple(line for line in self.lines if line.id in ids))

    def found(self, statement: str) -> list[Message]:
        """Return the lines that say a statement, where the model cited none."""
        wanted = self.terms(statement)
        least = GROUNDED * 2 * _weight(wanted)
        near = (line for line in self.lines if line.sender_id and not _is_order(line))
        return [line for line in near if _weight(wanted & self.terms(line.text)) >= max(least, 1.0)]

    def is_grounded(self, statement: str, texts: Iterable[str]) -> bool:
        """Return whether enough of a statement's words occur in the texts that it rests on."""
        wanted = self.terms(statement)
        given = frozenset[str]().union(*map(self.terms, texts))
        return _weight(wanted & given) >= GROUNDED * _weight(wanted)

    def terms(self, text: str) -> frozenset[str]:
        """Return the characters, pairs and words of a text without names and function words."""
        text = _LABEL.sub(" ", text)
        for name in self._names:
            text = text.replace(name, " ")
        return frozenset(index_terms(text)) - FUNCTION_WORDS

    def _says(self, line: Message, terms: frozenset[str]) -> bool:
        own = self.terms(line.text)
        words = {term for term in own & terms if len(term) > 1}
        return bool(words) and not (refuses(line.text) and len(own) <= len(terms) // 4)


def is_admins(line: Message) -> bool:
    """Return whether the sender is owner or admin of the group; an unknown role counts as a member's."""
    return line.scene.is_admin


def _is_order(line: Message) -> bool:
    return orders_memory(line.text) or is_unvouched(line.text)


def _weight(terms: Iterable[str]) -> float:
    return sum(1.0 if term.isascii() else min(map(telling, term)) ** 2 for term in terms)
