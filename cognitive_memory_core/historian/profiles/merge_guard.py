"""Rejects a new profile that differs from the old one by more than the new facts explain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ... import sentences
from ...text.identity.name_cleaning import one_line
from ...text.identity.written_ids import plain, strange_numbers
from ...text.lexical.tokens import sentences_of
from ...text.statements.sameness import contradicts
from .profile_words import SAME_THING, clauses_of, likeness, terms_of, weight_of, without, words_of

Kind = Literal["emptied", "unrelated", "overgrown", "destructive", "strangers", "contrary"]
SUPPORTED = 0.12  # least share of a profile that must come from old profile and facts: correct ones have 0.15 and more
SENTENCE_SUPPORTED, SENTENCE = 0.1, 18.0  # the same for each sentence of that weight or more
KEPT = 0.5  # least share of the old profile that must remain
KEPT_OF_LITTLE = 0.25  # the same for an old profile so short that one changed fact is a large share of it
LITTLE = 60.0  # weight of such a short profile: about forty characters
KEPT_OF_NOTES = 0.12  # the same for lines noted verbatim, which a profile condenses and rewords
PLAY = 40.0  # unexplained weight allowed beside PER_FACT times that of the facts and PER_OLD times that of the old
PER_FACT, PER_OLD = 1.5, 0.4
ROOM = 200  # characters by which a profile may grow beside three times those of the facts
SEAMS = 3.0  # weight of words next to a withdrawn claim that may be removed with it
_SHOWN = 3  # unknown ids listed in the feedback
_QUOTED = 40  # characters of a clause quoted in the feedback


@dataclass(frozen=True)
class Objection:
    """The reason for which a profile is rejected, and the feedback for the model."""

    kind: Kind
    feedback: str


@dataclass(frozen=True)
class MergeSources:
    """What can justify a new profile: the old profile and the new facts. ``subject_names`` are names and ids.

    ``limit`` is the maximum number of characters; an old profile that exceeds it may be condensed. ``notes`` are lines
    of the old profile that the rules wrote verbatim. The new profile must not state ``withdrawn`` texts in any wording.
    """

    old: str
    facts: Sequence[str]
    subject_names: Sequence[str]
    limit: int
    notes: Sequence[str] = ()
    withdrawn: Sequence[str] = ()

    @property
    def given(self) -> tuple[str, ...]:
        """The notes and the facts, which the new profile may reword."""
        return (*self.facts, *self.notes)


def objection(new: str, sources: MergeSources) -> Objection | None:
    """Return why a profile must not replace the old one; None if it may."""
    content = _Content.of(new, sources)
    if (content.expected or content.notes) and not content.new:
        return Objection("emptied", sentences.feedback.PROFILE_EMPTIED)
    if strangers := _foreign_ids(new, sources):
        return Objection("strangers", sentences.feedback.PROFILE_OF_STRANGERS.format(ids="、".join(strangers[:_SHOWN])))
    if content.is_unrelated or any(_is_unsupported(one, content) for one in sentences_of(new)):
        return Objection("unrelated", sentences.feedback.PROFILE_UNRELATED)
    if content.is_overgrown or len(new) > len(sources.old) + 3 * sum(map(len, sources.given)) + ROOM:
        return Objection("overgrown", sentences.feedback.PROFILE_OVERGROWN)
    if content.kept < _share_to_keep(content, sources) * content.expected or content.has_lost_notes:
        return Objection("destructive", sentences.feedback.PROFILE_DESTROYED)
    return _contradiction(new, sources)


def _contradiction(new: str, sources: MergeSources) -> Objection | None:
    turned = _contradicted_clauses(new, sources)
    if turned is None:
        return None
    now, before = (one_line(clause, _QUOTED) for clause in turned)
    return Objection("contrary", sentences.feedback.PROFILE_TURNED_ROUND.format(now=now, before=before))


def _contradicted_clauses(new: str, sources: MergeSources) -> tuple[str, str] | None:
    """Return a clause of the new profile and the old clause that it contradicts, without a fact that explains it.

    None if there are no such clauses.
    """
    names = terms_of(sources.subject_names)
    explained = words_of((*sources.given, *sources.withdrawn)) - names
    before = {clause: without(words_of([clause]), names) for clause in clauses_of(sources.old)}
    for clause in (one for one in clauses_of(new) if one not in before):
        said = without(words_of([clause]), names)
        was = max(before, key=lambda old: likeness(said, before[old]), default="")
        held = before.get(was, frozenset[str]())
        if likeness(said, held) >= SAME_THING and explained.isdisjoint(said & held) and contradicts(clause, was):
            return clause, was
    return None


@dataclass(frozen=True)
class _Content:
    """The terms of the profiles ``new`` and ``old``, of ``notes``, of notes and facts (``given``), of withdrawn claims.

    Names are excluded. Withdrawn notes do not count as notes.
    """

    new: frozenset[str]
    old: frozenset[str]
    notes: frozenset[str]
    given: frozenset[str]
    gone: frozenset[str]

    @classmethod
    def of(cls, new: str, sources: MergeSources) -> _Content:
        """Collect the terms, without names, which every text about the subject has."""
        names = terms_of(sources.subject_names)
        gone = terms_of(sources.withdrawn) - names
        texts = ([new], [sources.old], sources.given)
        found, old, given = (terms_of(each) - names for each in texts)
        return cls(found, old, terms_of(sources.notes) - names - gone, given, gone)

    @property
    def is_unrelated(self) -> bool:
        """Whether too little of the new profile comes from the old profile or the facts."""
        return weight_of(self.new & (self.old | self.given)) < SUPPORTED * weight_of(self.new)

    @property
    def is_overgrown(self) -> bool:
        """Whether more of the new profile lacks a source than rewording explains."""
        unexplained = weight_of(self.new - self.old - self.given)
        return unexplained > PLAY + PER_FACT * weight_of(self.given) + PER_OLD * weight_of(self.old)

    @property
    def expected(self) -> float:
        """The weight of the old profile that the new one should keep: without withdrawn claims in any wording."""
        excused = weight_of(self.gone - self.old) + SEAMS if self.gone else 0.0
        return max(weight_of(self.old - self.gone) - excused, 0.0)

    @property
    def kept(self) -> float:
        """The weight of the old profile's terms that the new one still has, without withdrawn claims."""
        return weight_of((self.old & self.new) - self.gone)

    @property
    def has_lost_notes(self) -> bool:
        """Whether there were many notes and hardly any of them remain."""
        noted = weight_of(self.notes)
        return noted > LITTLE and weight_of(self.notes & self.new) < KEPT_OF_NOTES * noted


def _share_to_keep(content: _Content, sources: MergeSources) -> float:
    share = KEPT if weight_of(content.old) > LITTLE else KEPT_OF_LITTLE
    return share * min(1.0, sources.limit / max(len(sources.old), 1))


def _is_unsupported(sentence: str, content: _Content) -> bool:
    said = terms_of([sentence]) & content.new
    weight = weight_of(said)
    return weight >= SENTENCE and weight_of(said & (content.old | content.given)) < SENTENCE_SUPPORTED * weight


def _foreign_ids(new: str, sources: MergeSources) -> list[str]:
    source = plain("\n".join((sources.old, *sources.given, *sources.subject_names)))
    return strange_numbers(plain(new), source, sources.subject_names)
