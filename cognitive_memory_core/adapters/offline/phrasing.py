"""Rewrites a line so that it is understood on its own: names with ids, dates, the group's label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from ...domain.turn import shortened
from ...text.identity.name_cleaning import one_line
from ...text.lexical.folding import folded
from ...text.names_and_quotations import TextMask, occurrences, quoted
from ...text.statements.lexicon import Sighting, mask_of, offences, sightings
from ...text.text_edits import Edit, edited
from ...text.time.time_words import datings
from .known_people import KnownPeople

STATEMENT_LENGTH = 500
_LINE_READ = 1_000
_GROUP_WORDS = frozenset(("这里", "这儿", "群里", "群内", "本群", "这群", "此群", "这个群", "此个群", "本个群"))


@dataclass(frozen=True)
class Phrasing:
    """Rewrites observations (raw facts that a chat plugin noted) of one place so that no date or place is relative.

    我 and 你 stay as they are: a chat model wrote the text, and rules cannot tell whom they mean.
    """

    known_people: KnownPeople

    def phrase(self, line: str, when: datetime) -> str:
        """Return the line with names, dates and group made explicit, as far as rules can."""
        text = one_line(line[:_LINE_READ])
        mask = mask_of(text, self.known_people.names)
        edits = [*self._links(text), *self._places(sightings(text, mask)), *datings(text, when, mask)]
        return shortened(edited(text, edits), STATEMENT_LENGTH)

    def is_absolute(self, text: str) -> bool:
        """Return whether nothing in the text depends on its moment."""
        return not offences(text, names=self.known_people.names)

    def _links(self, text: str) -> Iterator[Edit]:
        quotes = TextMask(len(text), quoted(text))
        at = 0
        for start, stop in self._named(text):
            if start < at or quotes.touches(start, stop):
                continue
            at = stop
            person = self.known_people.by_name.get(text[start:stop])
            if person and text[stop : stop + 1] not in ("(", "（"):
                yield Edit(start - (text[start - 1 : start] == "@"), stop, person.label)

    def _named(self, text: str) -> list[tuple[int, int]]:
        """Return the spans of all names of people and place, by start; of names with one start, longest first."""
        names = (name for name in {*self.known_people.names, *self.known_people.by_name} if name in text)
        spans = (span for name in names for span in occurrences(text, name))
        return sorted(spans, key=lambda span: (span[0], -span[1]))

    def _places(self, found: Iterable[Sighting]) -> Iterator[Edit]:
        for sighting in found:
            is_group = sighting.offence.kind == "place" and is_group_word(sighting.offence.word)
            if is_group and self.known_people.place.id:
                yield Edit(sighting.start, sighting.stop, self.known_people.place.label)


def is_group_word(word: str) -> bool:
    """Return whether a word means the group in which it is said (本群, 群里)."""
    return folded(word) in _GROUP_WORDS
