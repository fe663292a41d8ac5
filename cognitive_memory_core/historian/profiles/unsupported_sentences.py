"""Removes from a new profile the sentences and clauses that none of its sources supports."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property

from ...text.statements.agreement import CitedLine
from ...text.statements.differing_figures import differing_figures
from ...text.statements.lexicon import is_talk, mask_of, offences
from ...text.statements.sameness import contradicts
from ...text.time.time_words import leaning
from .profile_words import SAME_THING, clauses_of, likeness, terms_of, weight_of, without, words_of

SENTENCE = 0.3  # least share of a sentence that its sources say, each clause compared with the source nearest to it
CLAUSE, TELLING = 0.3, 2.0  # the same for a clause of a supported sentence, if it has that weight or more
TAG = 0.2  # the same for a tag, which names a topic in one word
_SENTENCES = re.compile("[^。！？!?\n]+[。！？!?\n]*")
_CLAUSE_ENDS = re.compile(r"([，；,;]+|(?<=[\u4e00-\u9fff]) +)")
_ENDS = "。！？!?\n"
_LABEL = re.compile(r"[(（][0-9A-Za-z_-]{1,128}[)）]")


@dataclass(frozen=True)
class SupportCheck:
    """The sources of a new profile: its facts and the lines of the old profile.

    Names and ids of the subject support nothing, because every text about the subject has them. ``now`` is the wall
    clock, by which dates without a year are compared. ``old`` is the old profile; sentences with words such as 我 or
    明天 are supported only if they are in it.
    """

    sources: Sequence[str]
    names: Sequence[str]
    now: datetime
    old: str = ""

    def split(self, text: str) -> tuple[str, list[str]]:
        """Return the supported sentences and clauses of a text, "" if there are none, and a list of the unsupported."""
        kept, left_out = list[str](), list[str]()
        for sentence in _SENTENCES.findall(text):
            parts = list(_parts(sentence))
            stays = self._kept_clauses(sentence, [clause for clause, _ in parts])
            left_out += [clause.strip(_ENDS) for (clause, _), is_kept in zip(parts, stays, strict=True) if not is_kept]
            kept.append(_joined(sentence, [part for part, is_kept in zip(parts, stays, strict=True) if is_kept]))
        return "".join(kept).strip(), left_out

    def supported(self, text: str) -> str:
        """Return the supported sentences and clauses of a text; "" if there are none."""
        return self.split(text)[0]

    def supports_tag(self, tag: str) -> bool:
        """Return whether a source has enough of the rarer characters and words of a tag."""
        return self._supported_share(tag) >= TAG

    def _kept_clauses(self, sentence: str, clauses: Sequence[str]) -> list[bool]:
        """Return for each clause of a sentence whether to keep it.

        None is kept if the first is not supported, because it names the subject, or if the kept ones together are not.
        """
        leans = self._leans(sentence)  # a quotation may hold any word, and clauses cut it
        if self._is_old(sentence) and not leans:
            return [True] * len(clauses)
        stays = [self._is_supported(clause) and not (leans and self._leans(clause)) for clause in clauses]
        if not stays[0]:  # what follows would stand without its subject
            return [False] * len(clauses)
        left = [clause for clause, is_kept in zip(clauses, stays, strict=True) if is_kept]
        return stays if self._supported_share_of_all(left) >= SENTENCE else [False] * len(clauses)

    def _is_supported(self, clause: str) -> bool:
        if self._is_old(clause):
            return True
        is_telling = weight_of(self._terms(clause)) >= TELLING
        return not ((is_telling and self._supported_share(clause) < CLAUSE) or self._is_contradicted(clause))

    def _leans(self, text: str) -> bool:
        """Return whether a text says I or you, or names a day such as tomorrow, and is not in the old profile."""
        if text.strip(_ENDS) in self.old:
            return False
        mask = mask_of(text, self.names)
        days = (one for one in leaning(text) if one.kind == "relative")
        is_dated = any(not mask.touches(one.start, one.stop) for one in days)
        return is_dated or any(map(is_talk, offences(text, names=self.names)))

    def _is_contradicted(self, clause: str) -> bool:
        """Return whether all sources on the same thing contradict a clause, or a figure in it is in no source."""
        said = self._words(clause)
        about = [other for other, words in self._clauses.items() if likeness(said, words) >= SAME_THING]
        if about and all(contradicts(clause, other) for other in about):
            return True
        return differing_figures(clause, self._lines)

    def _is_old(self, text: str) -> bool:
        return any(text.strip(_ENDS) in source for source in self.sources)

    def _supported_share_of_all(self, clauses: Sequence[str]) -> float:
        weight = sum(weight_of(self._terms(clause)) for clause in clauses)
        return sum(map(self._supported_weight, clauses)) / weight if weight else 1.0

    def _supported_share(self, clause: str) -> float:
        weight = weight_of(self._terms(clause))
        return self._supported_weight(clause) / weight if weight else 1.0

    def _supported_weight(self, clause: str) -> float:
        """Return the weight of the words that a clause shares with the source that has most of them."""
        terms = self._terms(clause)
        if any(map(terms.issubset, self._of_sources)):
            return weight_of(terms)
        return max((weight_of(terms & source) for source in self._of_sources), default=0.0)

    @cached_property
    def _terms(self) -> Callable[[str], frozenset[str]]:
        """Return a function that returns the terms of a text without names, and caches them for this object."""
        return cache(self._terms_of)

    def _terms_of(self, text: str) -> frozenset[str]:
        return without(terms_of([text]), self._of_names)

    def _words(self, text: str) -> frozenset[str]:
        return without(words_of([text]), self._of_names)

    @cached_property
    def _of_names(self) -> frozenset[str]:
        return terms_of(self.names)

    @cached_property
    def _of_sources(self) -> list[frozenset[str]]:
        return [self._terms(source) for source in self.sources]

    @cached_property
    def _clauses(self) -> dict[str, frozenset[str]]:
        return dict(self._each_clause())

    def _each_clause(self) -> Iterator[tuple[str, frozenset[str]]]:
        for source in self.sources:
            for clause in clauses_of(_LABEL.sub("", source)):
                yield clause, self._words(clause)

    @cached_property
    def _lines(self) -> list[CitedLine]:
        return [CitedLine(_LABEL.sub("", source), self.now) for source in self.sources]


def _parts(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield each clause with the punctuation at its end; a space after a Chinese character ends a clause, too."""
    parts = [*_CLAUSE_ENDS.split(sentence), ""]
    yield from zip(parts[::2], parts[1::2], strict=True)


def _joined(sentence: str, parts: Sequence[tuple[str, str]]) -> str:
    """Join the remaining clauses of a sentence, and end them with the punctuation mark of the sentence."""
    kept = "".join(clause + end for clause, end in parts)
    if kept == sentence:
        return sentence
    bare = kept.rstrip(f"，；,; {_ENDS}")
    return bare + sentence[len(sentence.rstrip(_ENDS)) :] if bare else ""
