"""Which lines of a chat support a statement, who agreed and who refused, and how strong that makes a belief."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ..domain.belief import Belief
from ..domain.message import Message
from ..domain.people import Person
from ..prompts.answers import Proposal
from ..text.names import clean_name
from ..text.numbers import ID_LABEL
from ..text.retelling import share
from ..text.terms import FUNCTION_WORDS, index_terms

FIRST, PER_PERSON, STRONGEST_FIRST = 0.4, 0.1, 0.8
RISE = 0.25  # share of the rest up to 1 that each confirming person adds
HALF_LIFE = timedelta(days=180)  # a rule that nobody breaks is seldom spoken of
NOTICED = timedelta(days=1)  # a shorter time is left to the next run, so that runs close together do not add up


def first_strength(supporters: int) -> float:
    """Return the strength of a new belief that this number of people supports."""
    return min(FIRST + PER_PERSON * supporters, STRONGEST_FIRST)


def confirmed(belief: Belief, people: int, now: datetime) -> Belief:
    """Return a belief with more strength, because this number of people confirmed it at ``now``."""
    return replace(belief, strength=1.0 - (1.0 - belief.strength) * (1.0 - RISE) ** people, weighed_at=now)


SHARED = 0.2  # least share of a statement's words in a line on its topic
PROPOSED = 0.5  # of what the nearest line has of a statement's words, what the line that proposed it has
NEAR = 4  # lines after one, within which 好的 answers it
LEAST_PEOPLE = 2  # whom a norm needs, unless an admin says it


@dataclass(frozen=True)
class Support:
    """The lines that say a statement (``said``), these and the agreeing ones (``lines``), and who refused it.

    ``people`` are those whose word counts: who were seen in the place a week before they said it. ``telling`` are those
    of them whose own line has words of the statement.
    """

    said: tuple[Message, ...] = ()
    lines: tuple[Message, ...] = ()
    refusing: frozenset[str] = frozenset()
    people: frozenset[str] = frozenset()
    telling: frozenset[str] = frozenset()

    @property
    def is_refused(self) -> bool:
        """Whether as many people refused it as supported it, and no admin said it."""
        return not self.is_admins and bool(self.refusing) and len(self.refusing) >= len(self.people)

    @property
    def is_admins(self) -> bool:
        """Whether an owner or admin of the group says it; an unknown role counts as a member's."""
        return any(line.scene.is_admin for line in self.said)

    def suffices(self, named: Collection[str]) -> bool:
        """Return whether an admin says it, or at least :data:`LEAST_PEOPLE` people whose word counts.

        ``named`` are the ids of the members that it names. They do not count then, and the others only by lines that
        say it themselves: 好的 to a claim about somebody is no word.
        """
        people = self.telling.difference(named) if named else self.people
        return self.is_admins or len(people) >= LEAST_PEOPLE


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
        """Return the people's lines of these numbers."""
        found = (self.lines[number - 1] for number in sorted(set(numbers)) if 0 < number <= len(self.lines))
        return [line for line in found if line.sender_id]

    def support(self, statement: str, proposal: Proposal) -> Support:
        """Return who supports a statement: the cited lines that share a word with it, and what others answered later.

        For a person who both agreed and refused, the later line counts.
        """
        said = [line for line in self.cited(proposal.lines) if self.shares(statement, line.text, of_either=True)]
        if not said:
            return Support()
        told = {line.id: share(self._terms(statement), self._terms(line.text)) for line in said}
        # the first that says it; one that has little more than a name in common says something else
        said.sort(key=lambda line: told[line.id] < PROPOSED * max(told.values()))
        at, proposer = self._at, said[0].sender_id
        agreed, refused = (
            [
                line
                for line in self.cited(numbers)
                if line.sender_id != proposer and at[line.id] > at[said[0].id] and line not in said
            ]
            for numbers in (proposal.agreed, proposal.refused)
        )
        last = {line.sender_id: line.id for line in sorted((*said, *agreed, *refused), key=lambda one: at[one.id])}
        refusing = frozenset(line.sender_id for line in refused if last[line.sender_id] == line.id)
        said = [line for line in said if line.sender_id not in refusing]
        lines = list(said)  # an agreeing line shares a word with the statement, replies to a line, or else follows it
        for line in agreed:
            does_answer = any(
                line.reply_to == one.id or (not line.reply_to and 0 < at[line.id] - at[one.id] <= NEAR) for one in lines
            )
            if line.sender_id not in refusing and (does_answer or self.shares(statement, line.text, of_either=True)):
                lines.append(line)
        people: set[str] = set()
        telling: set[str] = set()
        for line in lines:
            person = self._people.get(line.sender_id)
            if person and person.is_settled(line.sent_at):
                people.add(person.id)
                telling |= {person.id} if self.shares(statement, line.text, of_either=True) else set()
        return Support(tuple(said), tuple(lines), refusing, frozenset(people), frozenset(telling))

    def shares(self, statement: str, text: str, *, of_either: bool = False) -> bool:
        """Return whether a text has a share of a statement's words, names apart, and more than single characters.

        ``of_either``: or the statement has that share of the text's words.
        """
        wanted, told = self._terms(statement), self._terms(text)
        shared = max(share(wanted, told), share(told, wanted) if of_either else 0.0)
        return any(len(term) > 1 for term in wanted & told) and shared >= SHARED

    def says(self, line: Message, statement: str, cited: Iterable[Message]) -> bool:
        """Return whether a line has a word of a statement that it does not merely echo from earlier cited lines."""
        at, echoed = self._at[line.id], frozenset[str]()
        for one in cited:
            if one.sender_id != line.sender_id and self._at[one.id] < at:
                echoed |= self._terms(one.text)
        return any(len(term) > 1 for term in (self._terms(line.text) - echoed) & self._terms(statement))

    def _terms(self, text: str) -> frozenset[str]:
        text = ID_LABEL.sub(" ", text)
        for name in self._names:
            text = text.replace(name, " ")
        return frozenset(index_terms(text)) - FUNCTION_WORDS
