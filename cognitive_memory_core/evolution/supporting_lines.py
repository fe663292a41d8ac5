"""Finds what supports a statement: the cited lines that say it or agree to it, and who said them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..domain.message import Message
from ..domain.people import Person
from ..text.identity.name_cleaning import clean_name
from ..text.lexical.frequency import FUNCTION_WORDS, telling
from ..text.lexical.terms import index_terms
from ..text.statements.agreement import opposes
from ..text.statements.group_rules import ends_rules, forbids, orders_memory, sets_rules
from ..text.statements.rules_in_force import untimed
from ..text.statements.stance import proposes, stance_of, tells_of_self
from ..text.statements.unvouched_claims import is_unvouched

LEAST_PEOPLE = 2  # whom a norm needs, unless an admin says it
REACH = 12  # lines within which a short answer can agree to a line before it
SAID_AS_A_RULE, SAID_PLAINLY, SAID_ALONE = 0.2, 0.35, 0.6  # least share of common words in a line that says a statement
LEAST_SHARED = 1.5  # weight of the common words in one clause
GROUNDED = 0.25  # least share of a statement's words that must come from the lines or the statement before
_CLAUSES = re.compile("[，,、。.!！?？;；~～ ]+")
_LABEL = re.compile(r"[(（][0-9A-Za-z_-]{1,128}[)）]")


@dataclass(frozen=True)
class SupportingLines:
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
        """Whether the lines are of an admin or of several people."""
        return len(self.people) >= LEAST_PEOPLE or any(is_admins(line) for line in self.lines)


class NumberedChat:
    """The lines of one run, numbered from 1, and the names of people, which are ignored when words are compared."""

    def __init__(self, lines: Sequence[Message], people: Iterable[Person] = ()) -> None:
        """Number the lines as in the prompt; names of one character are not ignored."""
        self.lines = tuple(lines)
        self._at = {line.id: number for number, line in enumerate(self.lines)}
        named = (name for person in people for name in (person.name, *person.aliases))
        self._names = sorted({name for name in map(clean_name, named) if len(name) > 1}, key=len, reverse=True)

    def cited(self, numbers: Iterable[int]) -> list[Message]:
        """Return the people's lines of these numbers, without those that try to steer the bot or its memory."""
        found = (self.lines[number - 1] for number in sorted(set(numbers)) if 0 < number <= len(self.lines))
        return [line for line in found if line.sender_id and not _is_order(line)]

    def are_all_orders(self, numbers: Iterable[int]) -> bool:
        """Return whether these numbers include people's lines, and all of these try to steer the bot or its memory."""
        found = [self.lines[number - 1] for number in set(numbers) if 0 < number <= len(self.lines)]
        said = [line for line in found if line.sender_id]
        return bool(said) and all(map(_is_order, said))

    def support(self, statement: str, cited: Sequence[Message]) -> SupportingLines:
        """Return the cited lines that say a statement, with the later cited lines that agree to them."""
        terms = self.terms(statement)
        return self._joined([line for line in cited if self._says(line, statement, terms)], cited)

    def ending(self, statement: str, cited: Sequence[Message]) -> SupportingLines:
        """Return the cited lines that end or deny a statement, with the later cited lines that agree to them.

        A line counts if it shares words with the statement, or if it only says that something ends and follows such a
        line.
        """
        of_it = [line for line in cited if self.shares(statement, line.text)]
        ends = [
            line for line in of_it if _is_told(line.text) and (ends_rules(line.text) or opposes(statement, line.text))
        ]
        known = {line.id for line in of_it}
        ends += [line for line in self._following_lines(of_it, cited) if line.id not in known and _only_ends(line.text)]
        return self._joined(ends, cited)

    def _joined(self, says: Sequence[Message], cited: Sequence[Message]) -> SupportingLines:
        agreeing = (line for line in self._following_lines(says, cited) if stance_of(line.text) == "agrees")
        ids = {line.id for line in (*says, *agreeing)}
        return SupportingLines(tuple(line for line in self.lines if line.id in ids))

    def _following_lines(self, lines: Sequence[Message], cited: Sequence[Message]) -> Iterator[Message]:
        """Yield the cited lines that reply to one of ``lines``, or come soon after one with no objection between."""
        ids = {line.id for line in lines}
        starts = [self._at[line.id] for line in lines]
        for line in cited:
            at = self._at[line.id]
            near = max((start for start in starts if start < at), default=at)
            is_next = 0 < at - near <= REACH and not any(map(_objects, self.lines[near + 1 : at]))
            if line.id not in ids and (line.reply_to in ids or is_next):
                yield line

    def found(self, statement: str) -> list[Message]:
        """Return the lines that share enough words with a statement; used if the model cited none."""
        wanted = self.terms(statement)
        least = GROUNDED * 2 * _weight(wanted)
        near = (line for line in self.lines if line.sender_id and not _is_order(line))
        return [line for line in near if _weight(wanted & self.terms(line.text)) >= max(least, 1.0)]

    def is_grounded(self, statement: str, texts: Iterable[str]) -> bool:
        """Return whether enough of a statement's words occur in the texts."""
        wanted = self.terms(statement)
        given = frozenset[str]().union(*map(self.terms, texts))
        return _weight(wanted & given) >= GROUNDED * _weight(wanted)

    def shares(self, statement: str, text: str) -> bool:
        """Return whether a text is on the topic of a statement, that is, shares enough words with it."""
        wanted = self.terms(statement)
        shared = wanted & self.terms(text)
        return any(len(term) > 1 for term in shared) and _weight(shared) >= SAID_AS_A_RULE * _weight(wanted)

    def terms(self, text: str) -> frozenset[str]:
        """Return the characters, pairs and words of a text without names and function words."""
        text = _LABEL.sub(" ", text)
        for name in self._names:
            text = text.replace(name, " ")
        return frozenset(index_terms(text)) - FUNCTION_WORDS

    def _says(self, line: Message, statement: str, terms: frozenset[str]) -> bool:
        """Return whether a line itself says a statement: by setting the rule, or in most of the statement's words."""
        if not _is_told(line.text) or not (self.terms(line.text) & terms):
            return False
        is_rule = sets_rules(line.text) or forbids(line.text) or proposes(line.text)
        covered, own = self._covered(statement, line.text), self._topic_share(line.text, terms)
        if is_rule:
            is_said = covered >= SAID_AS_A_RULE or own >= SAID_PLAINLY
        else:
            is_said = own >= SAID_PLAINLY <= covered or own >= SAID_ALONE
            is_said = is_said and not tells_of_self(line.text)
        return is_said and not opposes(statement, line.text)

    def _covered(self, statement: str, text: str) -> float:
        """Return the share of a statement that a text says; days and hours do not count, because their forms differ."""
        wanted = self.terms(untimed(statement))
        shared = self.terms(statement) & self.terms(text)
        return _weight(shared) / _weight(wanted) if any(len(term) > 1 for term in shared & wanted) else 0.0

    def _topic_share(self, text: str, terms: frozenset[str]) -> float:
        """Return the share of a clause's words that are terms of the statement, for the clause where it is largest."""
        clauses = [self.terms(clause) for clause in _CLAUSES.split(text)]
        near = (_weight(own & terms) / _weight(own) for own in clauses if _weight(own & terms) >= LEAST_SHARED)
        return max(near, default=0.0)


def is_admins(line: Message) -> bool:
    """Return whether the sender is owner or admin of the group; an unknown role counts as a member's."""
    return line.scene.is_admin


def _is_told(line: str) -> bool:
    """Return whether a line states or proposes something, that is, neither objects nor asks for facts."""
    stance = stance_of(line)
    return stance != "objects" and (stance != "asks" or proposes(line) or sets_rules(line))


def _objects(line: Message) -> bool:
    return stance_of(line.text) == "objects"


def _only_ends(line: str) -> bool:
    return ends_rules(line) and _is_told(line)


def _is_order(line: Message) -> bool:
    return orders_memory(line.text) or is_unvouched(line.text)


def _weight(terms: Iterable[str]) -> float:
    return sum(1.0 if term.isascii() else min(map(telling, term)) ** 2 for term in terms)
