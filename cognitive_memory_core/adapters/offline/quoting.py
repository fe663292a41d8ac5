"""Quotes a line of chat as it was said, and adds what its words meant on that day: dates, people, the group."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from ... import sentences
from ...domain.people import Person
from ...domain.turn import shortened
from ...text.identity.name_cleaning import one_line
from ...text.lexical.folding import folded
from ...text.names_and_quotations import TextMask, occurrences, quoted
from ...text.statements.lexicon import Sighting, mask_of, sightings
from ...text.time.time_spans import DAY, TimeSpan
from ...text.time.time_words import Mention, mentions, resolved
from .known_people import KnownPeople
from .phrasing import STATEMENT_LENGTH, is_group_word

MOST_NOTES = 6
ANSWERED_LENGTH = 60  # characters of a line that is answered
_LINE_READ = 1_000
_LONGEST_DAY = timedelta(hours=36)  # an evening extends into the night
_MYSELF = frozenset(("我", "俺", "i", "me", "my", "mine"))
_YOU = frozenset(("你", "您", "you"))
_NESTED = str.maketrans("“”", "「」")
_CORNERED = str.maketrans("“”「」（）", "『』『』()")
_AMOUNT = re.compile("[0-9零一二三四五六七八九十百两几半数好]+个?(?:多|半)?(?:秒|分钟|小时|钟头|天|周|星期|礼拜|月|年)")
_DAYS_AWAY = re.compile("[0-9一二三四五六七八九十两]+天[之以]?[前后]")
_STEPPED = re.compile("[上下这本]{1,2}[一1]?个?(?:周|星期|礼拜|月|年|季度)(?!半)")
_BEFORE_A_NAME = frozenset(
    "和跟给对让找与同叫被请替帮问等说得为以信选投看听约谢靠借教夸骂骗陪是把连比归由从向有里外前后时天里人但而@"
)


@dataclass(frozen=True)
class QuotedPassage:
    """A statement that quotes its speaker, and whether all of it can be understood on another day."""

    text: str
    is_absolute: bool


@dataclass(frozen=True)
class Quoting:
    """Quotes what ``speaker`` said in one place; ``addressee`` is the person addressed, if any."""

    known_people: KnownPeople
    speaker: Person
    addressee: Person | None = None

    def answer(self, line: str, when: datetime, answered: str) -> QuotedPassage:
        """Quote a line together with the line of ``addressee`` that it answers; absolute if both quotations are."""
        answered_quote = Quoting(self.known_people, self.addressee or self.speaker).quote(answered, when)
        begun = shortened(one_line(answered[:_LINE_READ]).translate(_CORNERED), ANSWERED_LENGTH)
        speaker = (self.addressee or self.speaker).label
        beside = sentences.stored_text.ANSWERING.format(speaker=speaker, line=begun)
        quotation = self.quote(line, when, (beside,))
        return QuotedPassage(quotation.text, quotation.is_absolute and answered_quote.is_absolute)

    def quote(self, line: str, when: datetime, first: tuple[str, ...] = ()) -> QuotedPassage:
        """Return ``name(id)：“line”`` with notes on its dates and people; absolute if nothing else depends on its time.

        ``first`` are notes that are placed before these.
        """
        text = one_line(line[:_LINE_READ])
        mask = mask_of(text, self.known_people.names)
        found, dates = sightings(text, mask), _dates(text, when, mask)
        beside = (*first, *_dated(text, dates), *self._addressed(found), *self._placed(found), *self._people(text))
        notes = tuple(dict.fromkeys(beside))
        room = STATEMENT_LENGTH - len(sentences.stored_text.quoted_line(self.speaker.label, "", notes[:MOST_NOTES]))
        return QuotedPassage(
            sentences.stored_text.quoted_line(
                self.speaker.label, shortened(text.translate(_NESTED), room), notes[:MOST_NOTES]
            ),
            all(self._is_clear(one, dates) for one in found) and len(notes) <= MOST_NOTES,
        )

    def is_of_place(self, line: str) -> bool:
        """Return whether a line speaks of the group itself: its first word means the group."""
        found = sightings(line, mask_of(line, self.known_people.names))
        return bool(self.known_people.place.id) and any(one.start == 0 and _is_of_group(one) for one in found)

    def _is_clear(self, sighting: Sighting, dates: Iterable[tuple[Mention, TimeSpan]]) -> bool:
        """Return whether the speaker's label or a note says what this word meant."""
        word = folded(sighting.offence.word)
        if sighting.offence.kind == "time":
            return any(mention.start == sighting.start for mention, _ in dates)
        if sighting.offence.kind == "place":
            return bool(self.known_people.place.id) and _is_of_group(sighting)
        return word in _MYSELF or (self.addressee is not None and word in _YOU)

    def _addressed(self, found: Iterable[Sighting]) -> Iterator[str]:
        said = (one.offence.word for one in found if one.offence.kind == "pronoun" and self.addressee)
        yield from (
            sentences.stored_text.MEANT.format(word=word, meaning=self.addressee.label)
            for word in said
            if self.addressee and folded(word) in _YOU
        )

    def _placed(self, found: Iterable[Sighting]) -> Iterator[str]:
        if self.known_people.place.id and any(map(_is_of_group, found)):
            yield self.known_people.place.label

    def _people(self, text: str) -> list[str]:
        """Return the labels of the other people named; a name inside another word does not count."""
        quotes = TextMask(len(text), quoted(text))
        spans = sorted(
            (
                (at, stop, name)
                for name in self.known_people.by_name
                if name in text
                for at, stop in occurrences(text, name)
            ),
            key=lambda span: (span[0], -span[1]),
        )
        found: list[str] = []
        end = 0
        for at, stop, name in spans:
            person = self.known_people.by_name[name]
            if at < end or quotes.touches(at, stop) or not _is_whole_word(text, at):
                continue
            end = stop
            if person.id != self.speaker.id and text[stop : stop + 1] not in ("(", "（"):
                found.append(person.label)
        return found


def _is_of_group(sighting: Sighting) -> bool:
    return sighting.offence.kind == "place" and is_group_word(sighting.offence.word)


def _is_whole_word(text: str, at: int) -> bool:
    before = text[at - 1 : at]
    return not before or not before.isalnum() or before in _BEFORE_A_NAME or before.isascii()


def _dates(text: str, when: datetime, mask: TextMask) -> list[tuple[Mention, TimeSpan]]:
    """Return the time words that name days, each with its span of time; durations and hours are omitted."""
    found = resolved(text, when, mask)
    return [(mention, time_span) for mention, time_span in found if _names_days(text[mention.start : mention.stop])]


def _names_days(word: str) -> bool:
    return not _AMOUNT.search(word) or bool(_DAYS_AWAY.fullmatch(word) or _STEPPED.match(word))


def _dated(text: str, dates: list[tuple[Mention, TimeSpan]]) -> Iterator[str]:
    """Yield the notes on dates: "word = date", or the date alone if the text has only one time word.

    现在 gets no date: it means the day on which it was said.
    """
    is_alone = len(mentions(text)) == 1
    for mention, time_span in dates:
        if mention.kind != "now":
            word, day = text[mention.start : mention.stop], _written(time_span)
            yield day if is_alone else sentences.stored_text.MEANT.format(word=word, meaning=day)


def _written(time_span: TimeSpan) -> str:
    """Write a span of time in digits: as one day, a whole month, a whole year, or its first and last day."""
    first, last = time_span.start.date(), (time_span.stop - timedelta(microseconds=1)).date()
    if time_span.stop - time_span.start <= _LONGEST_DAY:
        return first.isoformat()
    if (first.day, (last + DAY).day) != (1, 1):
        return _span(first.isoformat(), last.isoformat())
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.year}-{first.month:02d}"
    if (first.month, last.month) == (1, 12) and first.year == last.year:
        return str(first.year)
    return _span(f"{first.year}-{first.month:02d}", f"{last.year}-{last.month:02d}")


def _span(first: str, last: str) -> str:
    return sentences.stored_text.FROM_TO.format(first=first, last=last)
