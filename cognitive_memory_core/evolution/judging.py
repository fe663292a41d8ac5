"""Judges each proposal of a model: turns it into an edit of a belief, or rejects it with a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from ..domain.belief import STATEMENT_LENGTH, Belief, BeliefEdit, logged, newest
from ..domain.event import duplicate_key
from ..domain.ids import derived_id
from ..domain.message import Message
from ..domain.people import JobContext
from ..prompts.answers import Proposal
from ..text.names import is_hearsay, mislabelled, one_line, plain, short_form, strange_numbers, unnamed
from ..text.statements.figures import Line, strange_figures
from ..text.statements.lexicon import is_talk, offences
from ..text.statements.unvouched_claims import is_unvouched
from ..text.time.time_words import mentions
from .strength import confirmed, faded, first_strength
from .support import LEAST_PEOPLE, NumberedChat, Support

Rejection = Literal[
    "unreadable",
    "unknown",
    "empty",
    "too_long",
    "unclear",
    "duplicate",
    "barred",
    "drift",
    "attack",
    "alone",
    "unfounded",
    "contrary",
    "too_many",
    "too_many_deletions",
    "changed_meanwhile",
]
DELETED = 5  # a run deletes at most one in so many of the active beliefs
LEAST_WORDS = 4  # characters of a statement


@dataclass(frozen=True)
class JudgingInput:
    """What proposals are judged by: the active beliefs in the order of the prompt, the chat, the names of people.

    ``barred`` are the keys of statements that an admin retired. ``given`` is the whole prompt; an id in an answer that
    is not in the prompt is rejected.
    """

    beliefs: Sequence[Belief]
    chat: NumberedChat
    job_context: JobContext
    given: str
    now: datetime
    most: int
    barred: Collection[str] = ()


@dataclass
class Judgement:
    """The edits of a run, and the number of rejected proposals by reason."""

    edits: list[BeliefEdit] = field(default_factory=list[BeliefEdit])
    rejected: Counter[Rejection] = field(default_factory=Counter[Rejection])
    kept: int = 0


def judged(proposals: Sequence[Proposal], judging_input: JudgingInput, run_id: str) -> Judgement:
    """Return the edits that a model's proposals lead to, and the rejections; a belief without a proposal is kept.

    Only the first proposal on a belief counts.
    """
    judge = _Judge(judging_input, run_id)
    for proposal in proposals:
        reason = judge.take(proposal)
        if reason is not None:
            judge.judgement.rejected[reason] += 1
    judge.fade()
    return judge.judgement


class _Judge:
    def __init__(self, judging_input: JudgingInput, run_id: str) -> None:
        self.judgement = Judgement()
        self._input = judging_input
        self._run_id = run_id
        self._by_label = _labelled(judging_input.beliefs)
        self._standing = {belief.id: belief.statement for belief in judging_input.beliefs}
        self._told: set[str] = set()  # ids of beliefs that a proposal spoke of
        self._deleted = 0

    def take(self, proposal: Proposal) -> Rejection | None:
        """Judge one proposal; return why it is rejected, or None if its edit was recorded."""
        if proposal.action == "create":
            return self._create(proposal)
        belief = self._by_label.get(proposal.old_id.strip().upper()) or self._by_label.get(proposal.old_id.strip())
        if belief is None:
            return "unknown"
        if belief.id in self._told:
            return "duplicate"
        self._told.add(belief.id)
        match proposal.action:
            case "keep":
                return self._keep(belief, proposal)
            case "update":
                return self._update(belief, proposal)
            case "delete":
                return self._delete(belief, proposal)

    def fade(self) -> None:
        """Lower the strength of beliefs that no proposal changed or confirmed."""
        edited = {edit.before.id for edit in self.judgement.edits if edit.before}
        for belief in self._input.beliefs:
            if belief.id not in edited:
                self.judgement.kept += belief.id not in self._told
                weaker = faded(belief, self._input.now)
                if weaker != belief:
                    self.judgement.edits.append(BeliefEdit(weaker, belief))

    def _keep(self, belief: Belief, proposal: Proposal) -> None:
        self.judgement.kept += 1
        support = self._input.chat.support(belief.statement, proposal)
        news = [line for line in support.lines if line.id not in belief.message_ids]
        people = dict.fromkeys(line.sender_id for line in news)
        if people and not support.is_refused:
            after = replace(confirmed(belief, len(people), self._input.now), updated_at=self._input.now)
            self.judgement.edits.append(BeliefEdit(_supported(after, news), belief))

    def _update(self, belief: Belief, proposal: Proposal) -> Rejection | None:
        statement = one_line(proposal.statement, STATEMENT_LENGTH * 2)
        if duplicate_key(statement) == belief.key:
            return self._keep(belief, proposal)
        reason, support = self._supported(statement, proposal, belief)
        if reason:
            return reason
        now = self._input.now
        raised = confirmed(belief, max(len(support.people), 1), now)
        after = replace(
            raised,
            id=derived_id(belief.chain_id, belief.version + 1, self._run_id),
            statement=statement,
            version=belief.version + 1,
            parent_id=belief.id,
            tags=proposal.tags or belief.tags,
            change_summary=proposal.reason,
            updated_at=now,
            message_ids=(),
            event_ids=(),
            supporters=(),
        )
        self._note(_supported(after, support.lines), belief, proposal.reason)
        self._standing[belief.id] = statement
        return None

    def _delete(self, belief: Belief, proposal: Proposal) -> Rejection | None:
        support = self._input.chat.support(belief.statement, proposal)
        if not belief.is_asleep and not support.said:
            return "unfounded"
        if not belief.is_asleep and support.is_refused:
            return "contrary"
        if not belief.is_asleep and not support.suffices:
            return "alone"
        if self._deleted >= max(len(self._input.beliefs) // DELETED, 1):
            return "too_many_deletions"
        self._deleted += 1
        retired = replace(belief, status="deprecated", updated_at=self._input.now, change_summary=proposal.reason)
        change = logged("delete", retired, belief, proposal.reason, self._input.now)
        self.judgement.edits.append(BeliefEdit(retired, belief, change))
        del self._standing[belief.id]
        return None

    def _create(self, proposal: Proposal) -> Rejection | None:
        statement = one_line(proposal.statement, STATEMENT_LENGTH * 2)
        reason, support = self._supported(statement, proposal, None)
        if reason:
            return reason
        if len(self._standing) >= self._input.most:
            return "too_many"
        now, scope = self._input.now, self._input.job_context.place
        belief = Belief(
            derived_id(self._run_id, duplicate_key(statement)),
            scope,
            statement,
            tags=proposal.tags,
            strength=first_strength(max(len(support.people), LEAST_PEOPLE)),  # an admin counts as several
            change_summary=proposal.reason,
            created_at=now,
            updated_at=now,
            weighed_at=now,
        )
        self._note(_supported(belief, support.lines), None, proposal.reason)
        self._standing[belief.id] = statement
        return None

    def _note(self, after: Belief, before: Belief | None, reason: str) -> None:
        action = "create" if before is None else "update"
        change = logged(action, after, before, reason, self._input.now)
        self.judgement.edits.append(BeliefEdit(after, before, change))

    def _supported(self, statement: str, proposal: Proposal, before: Belief | None) -> tuple[Rejection | None, Support]:
        """Return why a statement must not be stored (None if it may be), and who supports it."""
        chat, job_context = self._input.chat, self._input.job_context
        reason = self._fault(statement, before)
        if reason:
            return reason, Support()
        support = chat.support(statement, proposal)
        saying = {line.sender_id for line in support.lines if chat.says(line, statement, support.lines)}
        if not support.said or is_hearsay(statement, job_context.people, saying):
            return "unfounded", support
        if before is not None and not any(
            chat.shares(before.statement, text) for text in (statement, *(line.text for line in support.lines))
        ):
            return "drift", support  # the update names the wrong belief
        if support.is_refused:
            return "contrary", support
        if not support.suffices:
            return "alone", support
        zone = job_context.when.tzinfo
        lines = [Line(line.text, line.sent_at.astimezone(zone)) for line in support.lines]
        lines += [Line(before.statement)] if before else []
        lines.append(Line(job_context.place_name))  # 周五局 is no weekday
        names = [one for one in job_context.names if one != job_context.place_name]
        has_strange = strange_figures(statement, lines, names)
        return ("contrary" if has_strange else None), support

    def _fault(self, statement: str, before: Belief | None) -> Rejection | None:
        """Return the first fault of a statement, by itself or compared with other beliefs; None if there is none."""
        key, own = duplicate_key(statement), before.id if before else ""
        standing = {duplicate_key(text) for one, text in self._standing.items() if one != own}
        checks: tuple[tuple[Rejection, Callable[[], bool]], ...] = (
            ("empty", lambda: sum(map(str.isalnum, statement)) < LEAST_WORDS),
            ("too_long", lambda: len(statement) > STATEMENT_LENGTH),
            ("attack", lambda: is_unvouched(statement)),
            ("unclear", lambda: self._is_unclear(statement)),
            ("drift", lambda: self._has_foreign_ids(statement)),
            ("barred", lambda: key in self._input.barred),
            ("duplicate", lambda: key in standing),
        )
        return next((reason for reason, is_wrong in checks if is_wrong()), None)

    def _is_unclear(self, statement: str) -> bool:
        """Return whether a statement is a question, or has a word such as 我 or 明天."""
        talk = any(map(is_talk, offences(statement, names=self._input.job_context.names)))
        return statement.endswith(("?", "？")) or talk or any(one.kind == "relative" for one in mentions(statement))

    def _has_foreign_ids(self, statement: str) -> bool:
        job_context = self._input.job_context
        written, given = plain(statement), plain(self._input.given)
        ids_by_name = _ids_by_name(job_context)
        ids = {person.id for person in job_context.people} | {job_context.place.place_id}
        return bool(
            strange_numbers(unnamed(written, ids_by_name), given, ids) or mislabelled(written, ids_by_name, ids)
        )


def _labelled(beliefs: Sequence[Belief]) -> Mapping[str, Belief]:
    """Map the beliefs' labels in the prompt (B1, B2, …), and their ids, to the beliefs."""
    labels = {f"B{number}": belief for number, belief in enumerate(beliefs, 1)}
    return {**labels, **{belief.id: belief for belief in beliefs}}


def _ids_by_name(job_context: JobContext) -> dict[str, set[str]]:
    ids_by_name: dict[str, set[str]] = {}
    for person in job_context.people:
        for name in (person.name, *person.aliases):
            for form in {name, short_form(name)} - {""}:
                ids_by_name.setdefault(plain(form), set()).add(person.id)
    return ids_by_name


def _supported(belief: Belief, lines: Sequence[Message]) -> Belief:
    return replace(
        belief,
        message_ids=newest((*belief.message_ids, *(line.id for line in lines))),
        supporters=newest((*belief.supporters, *(line.sender_id for line in lines))),
    )
