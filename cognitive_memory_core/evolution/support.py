"""Who supports a proposal: the lines that say it and the people who agreed, as a model numbers them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..domain.message import Message
from ..domain.people import Person
from ..prompts.answers import Proposal
from ..text.names import clean_name
from ..text.statements.group_rules import orders_memory
from ..text.terms import FUNCTION_WORDS, index_terms, telling

SHARED = 0.2  # least share of a statement's words in a line on its topic
LEAST_PEOPLE = 2  # whom a norm needs, unless an admin says it
_LABEL = re.compile(r"[(（][0-9A-Za-z_-]{1,128}[)）]")


@dataclass(frozen=True)
class Support:
    """The lines that say a statement (``said``) or agree to it, oldest first, and the people who refused it.

    ``people`` are those whose word counts: who were seen in the place a week before they said it.
    """

    said: tuple[Message, ...] = ()
    agreed: tuple[Message, ...] = ()
    refusing: frozenset[str] = frozenset()
    people: frozenset[str] = frozenset()

    @property
    def lines(self) -> tuple[Message, ...]:
        """All lines, oldest first."""
        return (*self.said, *self.agreed)

    @property
    def is_refused(self) -> bool:
        """Whether as many people refused it as supported it, and no admin said it."""
        return not self.is_admins and bool(self.refusing) and len(self.refusing) >= len(self.people)

    @property
    def is_admins(self) -> bool:
        """Whether an owner or admin of the group says it; an unknown role counts as a member's."""
        return any(line.scene.is_admin for line in self.said)

    @property
    def suffices(self) -> bool:
        """Whether an admin says it, or several people whose word counts."""
        return self.is_admins or len(self.people) >= LEAST_PEOPLE


class NumberedChat:
    """The lines of one run, numbered from 1, and the people, whose names are ignored when words are compared."""

    def __init__(self, lines: Sequence[Message], people: Iterable[Person] = ()) -> None:
        """Number the lines as in the prompt; names of one character are not ignored."""
        self.lines = tuple(lines)
        self._at = {line.id: number for number, line in enumerate(self.lines)}
        self._people = {person.id: person for person in people}
        named = (name for person in self._people.values() for name in (person.name, *person.aliases))
        self._names = sorted({name for name in map(clean_name, named) if len(name) > 1}, key=len, reverse=True)

    def cited(self, numbers: Iterable[int]) -> list[Message]:
        """Return the people's lines of these numbers, without those that try to steer the bot's memory."""
        found = (self.lines[number - 1] for number in sorted(set(numbers)) if 0 < number <= len(self.lines))
        return [line for line in found if line.sender_id and not orders_memory(line.text)]

    def support(self, statement: str, proposal: Proposal) -> Support:
        """Return who supports a statement: the cited lines that share a word with it, and what others answered later.

        Of somebody who agreed and refused the last line counts.
        """
        said = [line for line in self.cited(proposal.lines) if self.shares(statement, line.text, of_either=True)]
        if not said:
            return Support()
        proposed_at, proposer = self._at[said[0].id], said[0].sender_id
        agreed, refused = (
            [
                line
                for line in self.cited(numbers)
                if line.sender_id != proposer and self._at[line.id] > proposed_at and line not in said
            ]
            for numbers in (proposal.agreed, proposal.refused)
        )
        last = {
            line.sender_id: line.id for line in sorted((*said, *agreed, *refused), key=lambda one: self._at[one.id])
        }
        refusing = frozenset(line.sender_id for line in refused if last[line.sender_id] == line.id)
        said = [line for line in said if line.sender_id not in refusing]
        agreed = [line for line in agreed if line.sender_id not in refusing]
        people = frozenset(line.sender_id for line in (*said, *agreed) if self._is_settled(line))
        return Support(tuple(said), tuple(agreed), refusing, people)

    def shares(self, statement: str, text: str, *, of_either: bool = False) -> bool:
        """Return whether a text has a share of a statement's words, names apart, and more than single characters.

        ``of_either``: or the statement has that share of the text's words.
        """
        wanted, told = self._terms(statement), self._terms(text)
        least = min(_weight(wanted), _weight(told)) if of_either else _weight(wanted)
        return any(len(term) > 1 for term in wanted & told) and _weight(wanted & told) >= SHARED * least

    def says(self, line: Message, statement: str, cited: Iterable[Message]) -> bool:
        """Return whether a line has a word of a statement that it does not merely echo from earlier cited lines."""
        at, echoed = self._at[line.id], frozenset[str]()
        for one in cited:
            if one.sender_id != line.sender_id and self._at[one.id] < at:
                echoed |= self._terms(one.text)
        return any(len(term) > 1 for term in (self._terms(line.text) - echoed) & self._terms(statement))

    def _is_settled(self, line: Message) -> bool:
        person = self._people.get(line.sender_id)
        return person is not None and person.is_settled(line.sent_at)

    def _terms(self, text: str) -> frozenset[str]:
        text = _LABEL.sub(" ", text)
        for name in self._names:
            text = text.replace(name, " ")
        return frozenset(index_terms(text)) - FUNCTION_WORDS


def _weight(terms: Iterable[str]) -> float:
    return sum(1.0 if term.isascii() else min(map(telling, term)) ** 2 for term in terms)
