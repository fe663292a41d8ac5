"""Rewrites a line so that it is understood on its own: names with ids, dates, the group's label."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from ...domain.people import Person
from ...domain.turn import shortened
from ...text.identity.names import one_line
from ...text.lexical.folding import folded
from ...text.replacements import Edit, edited
from ...text.spared_spans import Spared, occurrences, quoted
from ...text.statements.lexicon import Sighting, offences, sightings, spared_in
from ...text.time.timewords import datings
from .known_people import Cast

STATEMENT_LENGTH = 500
_LINE_READ = 1_000
_GROUP_WORDS = frozenset(("这里", "这儿", "群里", "群内", "本群", "这群", "此群", "这个群", "此个群", "本个群"))
_I = frozenset(("我", "俺", "i", "me"))
_MY = frozenset(("my", "mine"))
_YOU = frozenset(("你", "您", "you"))
_SHORT_FORMS = {"m": " is", "ve": " has", "ll": " will", "d": " would"}
_SHORT_FORM = re.compile("['’](m|ve|ll|d)(?![a-z])", re.IGNORECASE)


@dataclass(frozen=True)
class Phrasing:
    """Rewriting for one place, of lines by ``me`` to ``you``; without them 我 and 你 stay."""

    cast: Cast
    me: Person | None = None
    you: Person | None = None

    def phrase(self, line: str, when: datetime) -> str:
        """Return a line whose meaning does not depend on day and place, as far as rules can achieve that."""
        text = one_line(line[:_LINE_READ])
        spared = spared_in(text, self.cast.names)
        found = sightings(text, spared)
        edits = [*self._links(text), *self._persons(text, found), *self._places(found), *datings(text, when, spared)]
        return shortened(edited(text, edits), STATEMENT_LENGTH)

    def is_absolute(self, text: str) -> bool:
        """Return whether nothing in the text depends on its time or place."""
        return not offences(text, names=self.cast.names)

    def _links(self, text: str) -> Iterator[Edit]:
        quotes = Spared(len(text), quoted(text))
        at = 0
        for start, stop in self._named(text):
            if start < at or quotes.touches(start, stop):
                continue
            at = stop
            person = self.cast.by_name.get(text[start:stop])
            if person and not self._is_me(person) and text[stop : stop + 1] not in ("(", "（"):
                yield Edit(start - (text[start - 1 : start] == "@"), stop, person.label)

    def _named(self, text: str) -> list[tuple[int, int]]:
        """Return the spans of all names of people and place; of those with the same start the longest first."""
        names = (name for name in {*self.cast.names, *self.cast.by_name} if name in text)
        spans = (span for name in names for span in occurrences(text, name))
        return sorted(spans, key=lambda span: (span[0], -span[1]))

    def _is_me(self, person: Person) -> bool:
        """Return whether a name is the speaker's own: nobody names themselves, so 敲木鱼 by 木鱼 means the thing."""
        return self.me is not None and self.me.id == person.id

    def _persons(self, text: str, found: Iterable[Sighting]) -> Iterator[Edit]:
        for sighting in found:
            word = folded(sighting.offence.word) if sighting.offence.kind == "pronoun" else ""
            if self.me and word in _I:
                yield _as_me(text, sighting, self.me.label)
            if self.me and word in _MY:
                yield Edit(sighting.start, sighting.stop, f"{self.me.label}'s")
            if self.you and word in _YOU:
                yield Edit(sighting.start, sighting.stop, self.you.label)

    def _places(self, found: Iterable[Sighting]) -> Iterator[Edit]:
        for sighting in found:
            is_group = sighting.offence.kind == "place" and folded(sighting.offence.word) in _GROUP_WORDS
            if is_group and self.cast.place.id:
                yield Edit(sighting.start, sighting.stop, self.cast.place.label)


def _as_me(text: str, sighting: Sighting, label: str) -> Edit:
    short = _SHORT_FORM.match(text, sighting.stop)
    if short:
        return Edit(sighting.start, short.end(), label + _SHORT_FORMS[short[1].lower()])
    return Edit(sighting.start, sighting.stop, label)
