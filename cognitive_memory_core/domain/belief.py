"""Beliefs of a group, their changes, and what is suggested from them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from .event import Event, Quote, duplicate_key
from .ids import derived_id
from .message import Message
from .scope import Scope

BeliefStatus = Literal["active", "deprecated"]
Listing = Literal["active", "deprecated", "all"]
ChangeAction = Literal["create", "update", "delete", "restore", "strength"]
ASLEEP = 0.2  # strength below which a belief is not shown to a model, though it stays active
STATEMENT_LENGTH = 300  # characters
REASON_LENGTH = 300
MOST_EVIDENCE = 60  # messages, events and supporters kept with a version; the newest


@dataclass(frozen=True)
class Belief:
    """One version of a statement that holds in a group. All versions of one belief form a chain.

    ``id`` identifies this version; ``chain_id`` is the id of the first one. ``created_at`` is the instant of the first
    version, ``updated_at`` that of this one. Only the last version of a chain can be "active"; ``is_current`` tells
    whether this is the last. ``supporters`` are the people whose messages (``message_ids``) say it, ``event_ids`` the
    events made from these messages. ``weighed_at`` is when the strength was last raised or lowered. ``is_barred``: an
    admin retired the belief, and evolution does not create it again. ``quotes`` are the messages of who said it first,
    or, of those that the log has no more, what its events quote: a model worded the statement. They are read where a
    belief is shown, and never stored.
    """

    id: str
    scope: Scope
    statement: str
    version: int = 1
    parent_id: str | None = None
    chain_id: str = ""
    status: BeliefStatus = "active"
    tags: tuple[str, ...] = ()
    strength: float = 0.5
    change_summary: str = ""
    created_at: datetime = field(kw_only=True)
    updated_at: datetime = field(kw_only=True)
    weighed_at: datetime | None = None
    message_ids: tuple[str, ...] = ()
    event_ids: tuple[str, ...] = ()
    supporters: tuple[str, ...] = ()
    is_current: bool = True
    is_barred: bool = False
    quotes: tuple[Quote, ...] = ()

    def __post_init__(self) -> None:
        """Set the ``chain_id`` of a first version to its own id."""
        if not self.chain_id:
            object.__setattr__(self, "chain_id", self.id)

    @property
    def is_asleep(self) -> bool:
        """Whether the belief is too weak to be shown to a model."""
        return self.strength < ASLEEP

    def followed_by(self, content: Belief, reason: str, at: datetime, seed: str) -> Belief:
        """Return ``content`` as the next version of this belief; equal seeds give it the same id."""
        version = self.version + 1
        next_id = derived_id(self.chain_id, version, seed)
        return replace(content, id=next_id, version=version, parent_id=self.id, change_summary=reason, updated_at=at)

    def unsupported(self, statement: str) -> Belief:
        """Return the belief with another statement, which nobody's lines support yet."""
        return replace(self, statement=statement, message_ids=(), event_ids=(), supporters=())

    @property
    def key(self) -> str:
        """The key (:func:`duplicate_key`) that equal statements share."""
        return duplicate_key(self.statement)

    def quoting(self, lines: Iterable[Message], events: Iterable[Event] = ()) -> Belief:
        """Return the belief with those of these lines that are its quotes; if there is none, those of its events."""
        first, own = next(iter(self.supporters), ""), frozenset(self.message_ids)
        said = (line.as_quote() for line in lines if line.id in own)
        told = (quote for event in events if event.id in self.event_ids for quote in event.quotes)
        for quotes in (said, told) if first else ():
            if found := {one.message_id: one for one in quotes if one.sender_id == first and one.message_id in own}:
                return replace(self, quotes=tuple(found.values()))
        return replace(self, quotes=())


@dataclass(frozen=True)
class Change:
    """One entry of the change log: what was done to a belief, when, why, and by whom ("" is evolution).

    ``belief_id`` is the version after the change, ``old_id`` the one before. A deletion has no ``new_statement``, a
    creation no ``old_statement``. The quotes of both versions are read where the change is shown, and never stored.
    """

    id: str
    scope: Scope
    action: ChangeAction
    belief_id: str
    version: int
    old_id: str | None = None
    old_statement: str = ""
    new_statement: str = ""
    change_reason: str = ""
    changed_at: datetime = field(kw_only=True)
    changed_by: str = ""
    old_quotes: tuple[Quote, ...] = ()
    new_quotes: tuple[Quote, ...] = ()


@dataclass(frozen=True)
class BeliefEdit:
    """A belief to store, and ``before``, the stored version that it changes or follows (None for a new belief).

    If both ids are equal, the version is changed in place; otherwise ``belief`` is stored as the next version. Without
    ``change`` nothing is added to the change log.
    """

    belief: Belief
    before: Belief | None = None
    change: Change | None = None


@dataclass(frozen=True)
class BeliefPage:
    """One page of a list of beliefs, strongest first; ``total`` is the length of the whole list."""

    beliefs: tuple[Belief, ...]
    total: int


@dataclass(frozen=True)
class BeliefHit:
    """A belief that a search found, with its similarity in [0, 1]."""

    belief: Belief
    score: float


@dataclass(frozen=True)
class Evolution:
    """Result of one evolution run: counts, logged ``changes``, and how many model answers were rejected, by reason.

    ``message`` is one sentence for people on the result, and on the reason if nothing was changed.
    """

    kept: int = 0
    updated: int = 0
    created: int = 0
    deleted: int = 0
    changes: tuple[Change, ...] = ()
    message: str = ""
    rejected: Mapping[str, int] = field(default_factory=dict[str, int])


def logged(
    action: ChangeAction, after: Belief, before: Belief | None, reason: str, at: datetime, *, by: str = ""
) -> BeliefEdit:
    """Return an edit with its entry of the change log."""
    change = Change(
        derived_id(after.id, action, at.isoformat(), by),
        after.scope,
        action,
        after.id,
        after.version,
        None if before is None else before.id,
        "" if before is None else before.statement,
        "" if action == "delete" else after.statement,
        reason[:REASON_LENGTH],
        changed_at=at,
        changed_by=by,
    )
    return BeliefEdit(after, before, change)


def is_applicable(edit: BeliefEdit, stored: Belief | None, active_keys: Collection[str]) -> bool:
    """Return whether an edit may still be stored; ``stored`` is the belief stored under its id now, None if none is.

    A changed belief must be current and, except for its evidence, equal to ``edit.before``; a new one must have an
    unknown id. An active statement must differ from those of all other active beliefs of the place (``active_keys``).
    """
    before, after = edit.before, edit.belief
    if before is None:
        return stored is None and after.key not in active_keys
    if stored is None or not stored.is_current:
        return False
    if any(getattr(stored, name) != getattr(before, name) for name in ("status", "statement", "strength", "is_barred")):
        return False
    return after.status != "active" or after.key not in active_keys


def without_message(
    belief: Belief, message_id: str, reason: str, at: datetime, senders: Mapping[str, str]
) -> BeliefEdit:
    """Return the edit that removes a withdrawn message from a belief, and retires it if no message remains.

    ``senders`` maps known messages to their senders; the withdrawer is no supporter any more without another message.
    """
    left = tuple(one for one in belief.message_ids if one != message_id)
    gone = {senders.get(message_id)} - {senders.get(one) for one in left}
    backers = tuple(one for one in belief.supporters if one not in gone)
    reduced = replace(belief, message_ids=left, supporters=backers or belief.supporters)
    if left or belief.status != "active":
        return BeliefEdit(reduced, belief)
    retired = replace(reduced, status="deprecated", updated_at=at)
    return logged("delete", retired, belief, reason, at)


def without_people(belief: Belief, people: Collection[str], hide: Callable[[str], str]) -> Belief | None:
    """Return a belief without ``people`` in its texts, by ``hide``, and among its supporters.

    None if it had supporters and all of them are among ``people``; a belief that never had any stays.
    """
    left = tuple(one for one in belief.supporters if one not in people)
    if belief.supporters and not left:
        return None
    return replace(
        belief,
        statement=hide(belief.statement),
        change_summary=hide(belief.change_summary),
        tags=tuple(dict.fromkeys(tag for one in belief.tags if (tag := hide(one)))),
        supporters=left,
    )


def change_without_people(change: Change, people: Collection[str], hide: Callable[[str], str]) -> Change:
    """Return an entry of the change log without people, in its texts and as its author."""
    return replace(
        change,
        old_statement=hide(change.old_statement),
        new_statement=hide(change.new_statement),
        change_reason=hide(change.change_reason),
        changed_by="" if change.changed_by in people else change.changed_by,
    )


def newest(ids: Sequence[str]) -> tuple[str, ...]:
    """Return the distinct ids, at most the last :data:`MOST_EVIDENCE` of them."""
    return tuple(dict.fromkeys(ids))[-MOST_EVIDENCE:]


SuggestionKind = Literal["skill", "workflow", "faq"]
SUGGESTION_KINDS: tuple[SuggestionKind, ...] = ("skill", "workflow", "faq")


@dataclass(frozen=True)
class Suggestion:
    """A problem that several people met, or one person on several days, with a draft of what to keep about it.

    ``event_ids`` are the events of kind "experience" that it rests on, oldest first; ``people`` spoke of
    them, and ``quotes`` are the lines of the one that the draft tells. The id identifies this draft with this evidence:
    other words or other evidence make another suggestion.
    """

    id: str
    scope: Scope
    kind: SuggestionKind
    problem: str
    draft: str
    event_ids: tuple[str, ...]
    people: tuple[str, ...] = ()
    days: int = 1
    first_at: datetime = field(kw_only=True)
    last_at: datetime = field(kw_only=True)
    quotes: tuple[Quote, ...] = ()


@dataclass(frozen=True)
class SuggestionDecision:
    """What an admin decided on a suggestion. It stores no text; its events tell what it was about.

    It is kept as long as one of its events is stored, so that the same problem is not suggested again.
    """

    id: str
    scope: Scope
    kind: SuggestionKind
    is_accepted: bool
    decided_at: datetime
    decided_by: str = ""
    event_ids: tuple[str, ...] = ()
