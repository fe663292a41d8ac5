"""Finds problems that a group met repeatedly, among its experiences, and drafts a line to keep about each of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, tzinfo

from .. import sentences
from ..domain.belief import STATEMENT_LENGTH, Suggestion, SuggestionDecision, SuggestionKind
from ..domain.event import Event
from ..domain.ids import derived_id
from ..domain.scope import Scope
from ..text.names import one_line
from ..text.statements.group_rules import orders_memory
from ..text.statements.lexicon import offences
from ..text.statements.problems import asks, failed, has_steps, shared, steps_of, uses_tool, worked
from ..text.statements.unvouched_claims import dictates, is_unvouched

LEAST = 2  # people, or days, that have met a problem
MOST_MORE = 2  # more of them that are wanted where admins keep dismissing
DISMISSED = 2  # dismissals beyond the acceptances of a kind for each that is wanted more
MOST_STEPS = 6
PROBLEM_LENGTH = 80
LEAST_FOUNDED = 0.5  # share of a draft's words that the experiences tell
_NUMBER = re.compile("[0-9]+")
_STEPS = frozenset(map(str, range(1, MOST_STEPS + 1)))
Same = Callable[[Event, Event], bool]


@dataclass(frozen=True)
class RecurringProblem:
    """Experiences (events) with the same problem, oldest first, and the days on which it was met."""

    events: tuple[Event, ...]
    days: frozenset[date]

    @property
    def people(self) -> tuple[str, ...]:
        """Who met the problem, in the order of the experiences."""
        return tuple(dict.fromkeys(person for one in self.events if (person := one.sender_id or one.user_id)))

    @property
    def occasions(self) -> int:
        """The number of people who met the problem, or of days on which it was met, whichever is larger."""
        return max(len(self.people), len(self.days))

    @property
    def kind(self) -> SuggestionKind:
        """The kind of the solutions: "workflow" if at least half list steps, else "skill" or "faq".

        It is "skill" if most use a tool and the problem is not put as a question.
        """
        solved = [one.solution for one in self.events if one.solution]
        if solved and sum(map(has_steps, solved)) * 2 >= len(solved):
            return "workflow"
        is_tool = sum(map(uses_tool, solved)) * 2 > len(solved)
        return "skill" if is_tool and not asks(self.best.pain) else "faq"

    @property
    def best(self) -> Event:
        """The experience to quote, with a solution if any has one.

        One whose solution worked comes first, then one that is not known to have failed; of several the newest.
        """
        solved = [one for one in self.events if one.solution] or self.events
        return max(solved, key=lambda one: (worked(one.outcome), not failed(one.outcome), one.happened_at))


def patterns_among(events: Sequence[Event], zone: tzinfo, same: Same) -> list[RecurringProblem]:
    """Group experiences by problem.

    Each joins the group that it fits best, if more than half of the experiences there have the same problem, or else
    begins a group.
    """
    groups: list[list[Event]] = []
    for event in sorted(events, key=lambda one: (one.happened_at, one.id)):
        shares = [sum(same(event, one) for one in group) / len(group) for group in groups]
        best = max(range(len(groups)), key=shares.__getitem__, default=None)
        if best is not None and shares[best] > 1 / 2:
            groups[best].append(event)
        else:
            groups.append([event])
    return [RecurringProblem(tuple(group), frozenset(_days(group, zone))) for group in groups]


def wanted_occasions(decisions: Iterable[SuggestionDecision]) -> Counter[SuggestionKind]:
    """Return the occasions that a pattern of each kind needs before it is suggested: more after many dismissals."""
    surplus = Counter[SuggestionKind]()
    for decision in decisions:
        surplus[decision.kind] += -1 if decision.is_accepted else 1
    kinds: tuple[SuggestionKind, ...] = ("skill", "workflow", "faq")
    return Counter({kind: LEAST + min(max(surplus[kind], 0) // DISMISSED, MOST_MORE) for kind in kinds})


def open_patterns(
    patterns: Sequence[RecurringProblem], decisions: Sequence[SuggestionDecision], known: Sequence[Event], same: Same
) -> list[RecurringProblem]:
    """Return the patterns to suggest now, the most frequent first.

    Left out are patterns that an admin decided on (``known`` are the events of these ``decisions``), and those in whose
    words somebody claims a rank, names a payment or gives orders.
    """
    decided = frozenset(one for decision in decisions for one in decision.event_ids)
    wanted = wanted_occasions(decisions)
    fresh = [
        one
        for one in patterns
        if one.best.solution and one.occasions >= wanted[one.kind] and not _is_decided(one, decided, known, same)
    ]
    return [one for one in sorted(fresh, key=_weight, reverse=True) if is_harmless(drafted_by_rules(one))]


def suggestion_of(scope: Scope, pattern: RecurringProblem, draft: str) -> Suggestion:
    """Return a suggestion made from a pattern and a draft."""
    ids = tuple(one.id for one in pattern.events)
    return Suggestion(
        derived_id("suggestion", scope.key, pattern.kind, draft, *ids),
        scope,
        pattern.kind,
        one_line(pattern.best.pain, PROBLEM_LENGTH),
        draft,
        ids,
        pattern.people,
        len(pattern.days),
        first_at=pattern.events[0].happened_at,
        last_at=max(one.last_seen_at or one.happened_at for one in pattern.events),
    )


def drafted_by_rules(pattern: RecurringProblem) -> str:
    """Return a draft of one line in the words of the best experience, at most as long as a belief may be."""
    best = pattern.best
    steps = steps_of(best.solution)[:MOST_STEPS] if pattern.kind == "workflow" else [best.solution]
    said = sentences.suggestions.draft(pattern.kind, best.pain, steps, best.outcome if worked(best.outcome) else "")
    return one_line(said, STATEMENT_LENGTH)


def is_harmless(draft: str) -> bool:
    """Return whether a draft is free of claims of rank, payments and orders."""
    return bool(draft) and not (is_unvouched(draft) or orders_memory(draft) or dictates(draft))


def is_supported(draft: str, pattern: RecurringProblem) -> bool:
    """Return whether a model's draft says nothing that the experiences do not, and can be read on its own.

    It must be short enough and harmless, and share most of its words and all of its numbers with the experiences.
    """
    source = " ".join(text for one in pattern.events for text in (one.pain, one.solution, one.outcome))
    numbers = set(_NUMBER.findall(draft)) - _STEPS
    return (
        len(draft) <= STATEMENT_LENGTH
        and numbers <= set(_NUMBER.findall(source))
        and shared(draft, source) >= LEAST_FOUNDED
        and not offences(draft)
        and is_harmless(draft)
    )


def _is_decided(pattern: RecurringProblem, decided: Collection[str], known: Sequence[Event], same: Same) -> bool:
    if any(one.id in decided for one in pattern.events):
        return True
    return any(same(one, old) for one in pattern.events for old in known)


def _weight(pattern: RecurringProblem) -> tuple[int, int, float]:
    return (pattern.occasions, sum(one.count for one in pattern.events), pattern.events[-1].happened_at.timestamp())


def _days(events: Iterable[Event], zone: tzinfo) -> Iterable[date]:
    for event in events:
        yield event.happened_at.astimezone(zone).date()
        if event.last_seen_at is not None:
            yield event.last_seen_at.astimezone(zone).date()
