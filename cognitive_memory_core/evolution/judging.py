"""Judges each proposal of a model: turns it into an edit of a belief, or rejects it with a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from ..domain.belief import STATEMENT_LENGTH, Belief, BeliefEdit, logged, newest
from ..domain.event import duplicate_key
from ..domain.ids import derived_id
from ..domain.job import JobContext
from ..domain.message import Message
from ..domain.people import Person
from ..prompts.answers import Proposal
from ..text.callnames import is_hearsay, members_named
from ..text.cleaning import one_line, plain
from ..text.ids import foreign_ids, ids_by_name
from ..text.names import clean_name
from ..text.numbers import ID_LABEL, Line, strange_figures
from ..text.relative_words import is_talk, offences
from ..text.retelling import share
from ..text.terms import FUNCTION_WORDS, index_terms
from ..text.time.time_words import mentions

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
        """Return whether an admin says it, or several people whose word counts.

        If it names members, several others must say it in their own lines: 好的 to a claim about somebody is no word.
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
        lines = list(said)  # an agreeing line shares a word with the statement, replies to a line, or follows closely
        for line in agreed:
            does_answer = any(line.reply_to == one.id or 0 < at[line.id] - at[one.id] <= NEAR for one in lines)
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


DELETED = 5  # a run deletes at most one in so many of the active beliefs
LEAST_WORDS = 4  # characters of a statement


@dataclass
class Judgement:
    """The edits of a run, and the number of rejected proposals by reason, a key of ``REASONS`` of the sentences.

    Proposals are judged by the active beliefs in the order of the prompt, the chat, and the names of people. ``given``
    is the whole prompt; an id in an answer that is not in the prompt is rejected. ``most`` beliefs may be active.
    ``barred`` are the keys of statements that an admin retired.
    """

    run_id: str
    beliefs: Sequence[Belief]
    chat: NumberedChat
    job_context: JobContext
    given: str
    now: datetime
    most: int
    barred: Collection[str] = ()
    kept: int = field(default=0, init=False)
    edits: list[BeliefEdit] = field(default_factory=list[BeliefEdit], init=False)
    rejected: Counter[str] = field(default_factory=Counter[str], init=False)
    _told: set[str] = field(default_factory=set[str], init=False)  # ids of beliefs that a proposal spoke of
    _standing: dict[str, str] = field(default_factory=dict[str, str], init=False)  # statements by id
    _deleted: int = field(default=0, init=False)

    def take(self, proposals: Iterable[Proposal]) -> None:
        """Judge proposals: each leads to an edit or is rejected; a belief without a proposal is kept and fades.

        Only the first proposal on a belief counts.
        """
        by_label = {f"B{number}": belief for number, belief in enumerate(self.beliefs, 1)}  # of the prompt
        by_label |= {belief.id: belief for belief in self.beliefs}
        self._standing = {belief.id: belief.statement for belief in self.beliefs}
        for proposal in proposals:
            label = proposal.old_id.strip()
            belief = by_label.get(label.upper()) or by_label.get(label)
            if proposal.action == "create":
                reason = self._write(None, proposal)
            elif belief is None:
                reason = "unknown"
            elif belief.id in self._told:
                reason = "duplicate"
            else:
                self._told.add(belief.id)
                change = {"keep": self._keep, "update": self._write, "delete": self._delete}[proposal.action]
                reason = change(belief, proposal)
            if reason is not None:
                self.rejected[reason] += 1

        edited = {edit.before.id for edit in self.edits if edit.before}
        for belief in self.beliefs:
            passed = self.now - (belief.weighed_at or belief.updated_at)
            if belief.id in edited:
                continue
            self.kept += belief.id not in self._told
            if passed >= NOTICED:  # never if the clock went back
                weaker = replace(belief, strength=belief.strength * 0.5 ** (passed / HALF_LIFE), weighed_at=self.now)
                self.edits.append(BeliefEdit(weaker, belief))

    def _keep(self, belief: Belief, proposal: Proposal) -> None:
        self.kept += 1
        support = self.chat.support(belief.statement, proposal)
        news = [line for line in support.lines if line.id not in belief.message_ids]
        people = dict.fromkeys(line.sender_id for line in news)
        if people and not support.is_refused:
            after = replace(confirmed(belief, len(people), self.now), updated_at=self.now)
            self.edits.append(BeliefEdit(_resting_on(after, news), belief))

    def _write(self, before: Belief | None, proposal: Proposal) -> str | None:
        """Store a statement as a new belief or as the next version of ``before``."""
        statement = one_line(proposal.statement, STATEMENT_LENGTH * 2)
        if before and duplicate_key(statement) == before.key:
            return self._keep(before, proposal)
        reason, support = self._judged(statement, proposal, before)
        if reason:
            return reason
        if before is None and len(self._standing) >= self.most:
            return "too_many"
        people, now, scope = len(support.people), self.now, self.job_context.place
        if before is None:  # an admin counts as several
            strength = first_strength(max(people, LEAST_PEOPLE))
            after = Belief(
                derived_id(self.run_id, duplicate_key(statement)),
                scope,
                statement,
                tags=proposal.tags,
                strength=strength,
                change_summary=proposal.reason,
                created_at=now,
                updated_at=now,
                weighed_at=now,
            )
        else:
            after = confirmed(before, max(people, 1), now).unsupported(statement)
            after = before.followed_by(after, proposal.reason, now, self.run_id)
            after = replace(after, tags=proposal.tags or before.tags)
        after = _resting_on(after, support.lines)
        change = logged("update" if before else "create", after, before, proposal.reason, now)
        self.edits.append(BeliefEdit(after, before, change))
        self._standing[before.id if before else after.id] = statement
        return None

    def _delete(self, belief: Belief, proposal: Proposal) -> str | None:
        support = self.chat.support(belief.statement, proposal)
        if not belief.is_asleep and (reason := self._doubt(belief.statement, support)):
            return reason
        if self._deleted >= max(len(self.beliefs) // DELETED, 1):
            return "too_many_deletions"
        self._deleted += 1
        retired = replace(belief, status="deprecated", updated_at=self.now, change_summary=proposal.reason)
        change = logged("delete", retired, belief, proposal.reason, self.now)
        self.edits.append(BeliefEdit(retired, belief, change))
        del self._standing[belief.id]
        return None

    def _judged(self, statement: str, proposal: Proposal, before: Belief | None) -> tuple[str | None, Support]:
        """Return why a statement must not be stored (None if it may be), and who supports it."""
        chat, job_context = self.chat, self.job_context
        if reason := self._fault(statement, before):
            return reason, Support()
        support = chat.support(statement, proposal)
        saying = {line.sender_id for line in support.lines if chat.says(line, statement, support.lines)}
        if not support.said or is_hearsay(statement, job_context.people, saying):
            return "unfounded", support
        if before is not None and not any(
            chat.shares(before.statement, text) for text in (statement, *(line.text for line in support.lines))
        ):
            return "drift", support  # the update names the wrong belief
        if reason := self._doubt(statement, support):
            return reason, support
        zone = job_context.when.tzinfo
        lines = [Line(line.text, line.sent_at.astimezone(zone)) for line in support.lines]
        lines += [Line(before.statement)] if before else []
        lines.append(Line(job_context.place_name))  # 周五局 is no weekday
        names = [one for one in job_context.names if one != job_context.place_name]
        return ("contrary" if strange_figures(statement, lines, names) else None), support

    def _fault(self, statement: str, before: Belief | None) -> str | None:
        """Return the first fault of a statement, by itself or compared with other beliefs; None if there is none."""
        people, place = self.job_context.people, self.job_context.place
        if sum(map(str.isalnum, statement)) < LEAST_WORDS:
            return "empty"
        if len(statement) > STATEMENT_LENGTH:
            return "too_long"

        # a question, or a word such as 我 or 明天
        is_leaning = any(map(is_talk, offences(statement, names=self.job_context.names)))
        if is_leaning or statement.endswith(("?", "？")) or any(one.kind == "relative" for one in mentions(statement)):
            return "unclear"

        ids, written = {person.id for person in people} | {place.place_id}, plain(statement)
        if any(foreign_ids(written, [plain(self.given)], ids_by_name(people, written), ids)):
            return "drift"

        key, own = duplicate_key(statement), before.id if before else ""
        if key in self.barred:
            return "barred"
        others = (text for one, text in self._standing.items() if one != own)
        return "duplicate" if key in map(duplicate_key, others) else None

    def _doubt(self, statement: str, support: Support) -> str | None:
        """Return why the group does not stand behind a statement; what members say of themselves is not its word."""
        if not support.said:
            return "unfounded"
        if support.is_refused:
            return "contrary"
        named = {one for ids in members_named(statement, self.job_context.people) for one in ids}
        return None if support.suffices(named) else "alone"


def _resting_on(belief: Belief, lines: Sequence[Message]) -> Belief:
    return replace(
        belief,
        message_ids=newest((*belief.message_ids, *(line.id for line in lines))),
        supporters=newest((*belief.supporters, *(line.sender_id for line in lines))),
    )
