"""Finds whose lines support a statement: people who say it, or who agree to a cited line that says it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...domain.message import Message
from ...domain.people import JobContext
from ...text.identity.written_ids import plain
from ...text.lexical.terms import index_terms
from ...text.statements.agreement import CitedLine, disagreements, opposes
from ...text.statements.assent import assents, refuses
from ...text.statements.polarity import clauses_of
from ...text.statements.unvouched_claims import dictates, is_unvouched, speaks_for_all
from .echoes import called, share_in, telling_clauses, words_of

NEAR = 8  # lines before an agreement among which the line that it answers is looked for
_BARE = 8  # characters; an agreement of more says something itself
AGREED = 0.25  # least share of each clause of a statement, by weight, that the lines of a backer hold
LOOSELY = 2 / 3  # part of that from which a text is somebody's word, if nobody backs it
AS_MUCH = 0.75  # the same, of the share that the lines of whoever says most of it hold
TELLING = 1.5  # weight of a clause that a backer must have said or agreed to
_DIGIT = re.compile("[0-9]")
_THIN = 4  # characters; shorter lines (哈哈, 🎉) are no proposal that somebody answers


@dataclass(frozen=True)
class Support:
    """The texts by which one person may support a statement: lines that they said, and lines to which they agreed."""

    said: tuple[str, ...] = ()
    agreed: tuple[str, ...] = ()


@dataclass
class _Growing:
    said: list[str] = field(default_factory=list[str])
    agreed: list[str] = field(default_factory=list[str])


def supports(cited: Sequence[Message], messages: Sequence[Message]) -> Mapping[str, Support]:
    """Return the support of each sender of the cited lines.

    Lines that dictate, give orders or claim rank or money support nothing. A line that agrees supports only the line
    that it answers, and only if that line is cited, too: 同意 before a proposal, or to something else, is no consent to
    it. If a cited line speaks for everybody, other people's lines support only by agreeing.
    """
    grown: dict[str, _Growing] = {}
    spokesmen = {line.sender_id for line in cited if speaks_for_all(line.text)}
    ids = {line.id for line in cited}
    for line in (one for one in cited if not is_own_word(one.text)):
        one = grown.setdefault(line.sender_id, _Growing())
        if assents(line.text):
            answered = _answered_line(line, messages)
            one.agreed += [answered.text] if answered and answered.id in ids and not is_own_word(answered.text) else []
        may_speak = not spokesmen or line.sender_id in spokesmen
        if may_speak and not _is_bare_agreement(line.text):
            one.said.append(line.text)
    return {sender: Support(tuple(one.said), tuple(one.agreed)) for sender, one in grown.items()}


def backers_of(text: str, backing: Mapping[str, Support], job_context: JobContext) -> tuple[str, ...]:
    """Return the people whose lines say what a text says, or agree to a line that does.

    A clause of the text counts if a quarter of its words is in anybody's lines. A backer's lines must contain a quarter
    of each such clause, and three quarters of what the lines of the person who says most of it contain: single words in
    common are chance. If the text names one person alone, a quarter suffices for that person. Questions say nothing. A
    person who refuses, or says the contrary, is a backer only if nobody else says the whole text. If nobody says it
    all, the backer is the person whose lines contain two thirds of what is required; else, if the text names one person
    alone, the person who says most of what that one does not say.
    """
    held = _Held.of(text, backing, job_context)
    subject = _named_alone(text, job_context)
    speakers = [one for one in backing if held.says_all(one, AGREED if one in subject else 1.0)]
    backers = tuple(one for one in speakers if not _denies(text, backing[one], called(job_context)))
    if backers or len(backing) == 1:
        return backers
    speakers = speakers or [one for one in backing if held.says_all(one, 1.0, LOOSELY)]
    if not speakers:
        speakers = [held.speaker_of_rest(one) for one in subject if one in backing]
    return tuple(speakers[:1])


@dataclass(frozen=True)
class _Held:
    """For each telling clause of a text the share that each person's lines contain, and the share that is required."""

    shares: Mapping[str, Sequence[float]]
    needed: Sequence[float]

    @classmethod
    def of(cls, text: str, backing: Mapping[str, Support], job_context: JobContext) -> _Held:
        heard = {one: "\n".join(_statements_of(support)) for one, support in backing.items()}
        clauses = telling_clauses(text, TELLING, job_context)
        shares = {one: [share_in(said, clause, job_context) for clause in clauses] for one, said in heard.items()}
        most = [max(of_clause) for of_clause in zip(*shares.values(), strict=True)]
        return cls(shares, [max(AGREED, AS_MUCH * share) if share >= AGREED else 0.0 for share in most])

    def says_all(self, person: str, least: float, part: float = 1.0) -> bool:
        """Return whether a person's lines contain the required share of each clause.

        ``part`` scales what is required; a share of ``least`` always suffices.
        """
        pairs = zip(self.shares[person], self.needed, strict=True)
        return any(self.needed) and all(share >= min(part * needed, least) for share, needed in pairs)

    def speaker_of_rest(self, person: str) -> str:
        """Return the person who says most of the clauses that ``person`` does not say."""
        every = range(len(self.needed))
        lacking = [at for at in every if self.shares[person][at] < self.needed[at]] or every
        return max(self.shares, key=lambda one: (sum(self.shares[one][at] for at in lacking), one != person))


def _named_alone(text: str, job_context: JobContext) -> list[str]:
    """Return the only known person whom a text names by id, as a list of one id; [] if it names none or several."""
    people = (job_context.speaker, *job_context.people)
    named = {
        one.id for one in people if one.id and one.id != job_context.place.group_id and f"({one.id})" in plain(text)
    }
    return list(named) if len(named) == 1 else []


def is_own_word(line: str) -> bool:
    """Return whether a line claims rank or money, gives orders or dictates, so that only its sender vouches for it."""
    return dictates(line) or is_unvouched(line)


def _statements_of(support: Support) -> Iterator[str]:
    yield from (line for line in support.said if not all(clause.asks for clause in clauses_of(line)))
    yield from support.agreed


def _denies(text: str, support: Support, names: Collection[str]) -> bool:
    counted = [CitedLine(line) for line in support.said if _DIGIT.search(line)]
    is_counted_otherwise = bool(counted) and "figure" in disagreements(text, counted, names)
    return is_counted_otherwise or any(refuses(line) or opposes(text, line, names) for line in support.said)


def _is_bare_agreement(text: str) -> bool:
    return len(text.strip()) <= _BARE and assents(text)


def _answered_line(line: Message, messages: Sequence[Message]) -> Message | None:
    """Return the line that another line answers; None if there is none.

    It is the line to which the other replies, else the nearest proposal before it by somebody else. Agreements and very
    short lines are no proposals. An agreement with further words answers, if possible, the nearest proposal that shares
    a word with it.
    """
    if line.reply_to:
        return next((one for one in messages if one.id == line.reply_to), None)
    proposals = list(_proposals_before(line, messages))
    said = set[str]() if _is_bare_agreement(line.text) else words_of(index_terms(line.text))
    taken_up = (one for one in proposals if not said.isdisjoint(index_terms(one.text)))
    return next(taken_up, next(iter(proposals), None))


def _proposals_before(line: Message, messages: Sequence[Message]) -> Iterator[Message]:
    at = next((at for at, one in enumerate(messages) if one.id == line.id), 0)
    for one in reversed(messages[max(at - NEAR, 0) : at]):
        is_of_other = one.sender_id != line.sender_id and bool(one.sender_id)
        if is_of_other and len(one.text.strip()) > _THIN and not assents(one.text):
            yield one
