"""Judges each proposal of a model: turns it into an edit of a belief, or rejects it with a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from ..domain.belief import STATEMENT_LENGTH, Belief, BeliefEdit, logged, newest
from ..domain.event import duplicate_key
from ..domain.ids import derived_id
from ..domain.job import JobContext
from ..domain.message import Message
from ..prompts.answers import Proposal
from ..text.callnames import is_hearsay, members_named
from ..text.cleaning import one_line, plain
from ..text.ids import foreign_ids, ids_by_name
from ..text.numbers import Line, strange_figures
from ..text.relative_words import is_talk, offences
from ..text.time.time_words import mentions
from .support import HALF_LIFE, LEAST_PEOPLE, NOTICED, NumberedChat, Support, confirmed, first_strength

DELETED = 5  # a run deletes at most one in so many of the active beliefs
LEAST_WORDS = 4  # characters of a statement


@dataclass
class Judgement:
    """The edits of a run, and the number of rejected proposals by reason, a key of ``REASONS`` of the sentences.

    Proposals are judged by the active beliefs in the order of the prompt, the chat, and the names of people. ``given``
    is the whole prompt; an id in an answer that is not in the prompt is rejected. ``most`` beliefs may be active.
    ``barred`` are the keys of statements that an admin retired; ``admins`` are the ids of those who run the group.
    """

    run_id: str
    beliefs: Sequence[Belief]
    chat: NumberedChat
    job_context: JobContext
    given: str
    now: datetime
    most: int
    barred: Collection[str] = ()
    admins: Collection[str] = ()
    kept: int = field(default=0, init=False)
    edits: list[BeliefEdit] = field(default_factory=list[BeliefEdit], init=False)
    rejected: Counter[str] = field(default_factory=Counter[str], init=False)
    _told: set[str] = field(default_factory=set[str], init=False)  # ids of beliefs of which a proposal was admitted
    _standing: dict[str, str] = field(default_factory=dict[str, str], init=False)  # statements by id
    _deleted: int = field(default=0, init=False)

    def take(self, proposals: Iterable[Proposal]) -> None:
        """Judge proposals: each leads to an edit or is rejected; a belief without a proposal is kept and fades.

        Only the first admitted proposal on a belief counts; one whose proposals are all rejected is kept.
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
                change = {"keep": self._keep, "update": self._write, "delete": self._delete}[proposal.action]
                if (reason := change(belief, proposal)) is None:
                    self._told.add(belief.id)
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
        self.edits.append(logged("update" if before else "create", after, before, proposal.reason, now))
        self._standing[before.id if before else after.id] = statement
        return None

    def _delete(self, belief: Belief, proposal: Proposal) -> str | None:
        support = self.chat.support(belief.statement, proposal)
        if not belief.is_asleep and (reason := self._doubt(belief.statement, support, belief)):
            return reason
        if self._deleted >= max(len(self.beliefs) // DELETED, 1):
            return "too_many_deletions"
        self._deleted += 1
        retired = replace(belief, status="deprecated", updated_at=self.now, change_summary=proposal.reason)
        self.edits.append(logged("delete", retired, belief, proposal.reason, self.now))
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
        if reason := self._doubt(statement, support, before):
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

    def _doubt(self, statement: str, support: Support, before: Belief | None) -> str | None:
        """Return why the group does not stand behind a statement; what members say of themselves is not its word.

        What an admin laid down needs for a change an admin, or one of those who supported it ``before``.
        """
        if not support.said:
            return "unfounded"
        if support.is_refused:
            return "contrary"
        laid_down = frozenset(before.supporters if before else ())
        if laid_down.intersection(self.admins) and not (support.is_admins or support.people & laid_down):
            return "alone"
        named = {one for ids in members_named(statement, self.job_context.people) for one in ids}
        return None if support.suffices(named) else "alone"


def _resting_on(belief: Belief, lines: Sequence[Message]) -> Belief:
    return replace(
        belief,
        message_ids=newest((*belief.message_ids, *(line.id for line in lines))),
        supporters=newest((*belief.supporters, *(line.sender_id for line in lines))),
    )
