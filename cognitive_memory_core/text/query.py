"""A parsed question: its index terms, the past times that it names, what it asks for; without knowing the memory."""

from __future__ import annotations

import html
import math
from collections.abc import Collection
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime
from itertools import zip_longest

from .. import sentences
from ..domain.instants import Interval
from ..domain.scope import Scene
from .cleaning import clean_text
from .names import clean_name
from .questions import asked_sentences, asks_for_number, asks_who
from .spans import blanked
from .terms import ASKED, LEAST_TELLING, query_terms, telling, telling_of, without_formulas
from .time.time_words import mentions, time_windows

QUERY_LENGTH = 4_000
SHORT = 20
SAYS_LITTLE = 0.9  # weight below which every term of a greeting lies
GREETING = 3  # letters of 大家好; 年会在哪 has common ones only, too, and asks for something
LINES = 32  # last lines of a batch that are searched for people and for who is asked about
_MESSAGE, _OPENED, _CLOSED = "<message", "<content>", "</content>"


@dataclass(frozen=True)
class Query:
    """A parsed query: ``said`` is the plain text, ``terms`` are its index terms, ``windows`` the past times it names.

    ``text`` is what a model embeds: the text alone or, if it is short, with its place and speaker. ``asks_who``: the
    query asks who somebody is; ``asks_number``: it asks for a number. ``asides`` are the terms of sentences around a
    question that the question does not contain. ``people`` are the ids of the people named, including the asker for 我:
    who knows their names adds them.
    """

    text: str
    terms: tuple[str, ...] = ()
    windows: tuple[Interval, ...] = ()
    said: str = ""
    asks_who: bool = False
    asks_number: bool = False
    asides: frozenset[str] = field(default=frozenset())
    people: frozenset[str] = field(default=frozenset())

    @classmethod
    def of(cls, text: str, scene: Scene, reference: datetime) -> Query:
        """Parse a message, a batch of lines, or ``<message><content>`` frames of them.

        Only the first 4,000 characters count. A text of at most 20 characters is embedded with a line that states place
        and asker, to give texts such as "那个呢" a context. ``reference`` is the current time in the configured zone.
        """
        said = clean_text(_said(text[:QUERY_LENGTH])).strip()
        asked, placed, terms = asked_sentences(said), said, _terms(said.split("\n"))
        told = (query_terms(one, characters=True) for one in asked)
        asides = frozenset(terms).difference(*told) if asked else frozenset[str]()
        if said and len(said) <= SHORT and scene.kind != "operator":
            called = clean_name(scene.group_name), clean_name(scene.user_name)
            placed = f"{said}\n{sentences.context.query_place(scene.kind, *called)}"
        is_identity = any(map(asks_who, said.split("\n")[-LINES:]))
        windows = windows_in(said, reference)
        return cls(placed, terms, windows, said, is_identity, asks_for_number(said), asides)

    @property
    def says_little(self) -> bool:
        """Whether the query, such as 早上好 or 收到, names no time, and but a word that all chats have."""
        if self.asks_who or self.windows:
            return False
        rest = without_formulas(self.said)
        told = self.terms if rest == self.said and "\n" not in rest else query_terms(rest, characters=True)
        return sum(map(str.isalnum, rest)) <= GREETING and all(telling_of(term) < SAYS_LITTLE for term in told)

    def known_share(self, heard: AbstractSet[str]) -> float:
        """Return which share of its words is known, each weighed by how telling it is; 1 for a single word.

        Words stand between blanks; one is known if a term of it is ``heard``, which may be a single character. When it
        was is no word: events have dates.
        """
        times = mentions(self.said)
        said = blanked(self.said, ((one.start, one.stop) for one in times)).split()
        split = ([*filter(self.terms.__contains__, query_terms(one, characters=True))] for one in said)
        words = [terms for terms in split if terms]
        weights = [math.fsum(map(telling_of, terms)) / len(terms) for terms in words]
        known = [weight for terms, weight in zip(words, weights, strict=True) if not heard.isdisjoint(terms)]
        return math.fsum(known) / math.fsum(weights) if words and len(words) + len(times) > 1 else 1.0


def windows_in(said: str, reference: datetime, called: Collection[str] = ()) -> tuple[Interval, ...]:
    """Return the past windows that a text names. A name of somebody ``called`` so, such as 周末, is not a time.

    Sentences around a question do not count: 今天天气真不错。我们三月去了哪里？ is about March.
    """
    windows = time_windows(" ".join(asked_sentences(said)) or said, reference, called)
    return tuple(one for one in windows if one.start < reference)  # of the future anything may have been said


def _said(text: str) -> str:
    """Return the contents of the message frames in a text, by one forward pass; a text without frames as it is."""
    contents, rest = list[str](), text.partition(_MESSAGE)[2]
    while _OPENED in rest:
        content, _, rest = rest.partition(_OPENED)[2].partition(_CLOSED)
        contents.append(html.unescape(content).strip())
        rest = rest.partition(_MESSAGE)[2]
    return "\n".join(contents) if contents else text


def _terms(lines: list[str]) -> tuple[str, ...]:
    """Return the terms of a batch, one from each line in turn, so that a long first line does not use up the limit."""
    if len(lines) == 1:
        return tuple(query_terms(lines[0], characters=True))
    in_turn = zip_longest(*(query_terms(line, characters=True) for line in lines))
    terms = dict.fromkeys(term for turn in in_turn for term in turn if term)
    has_pairs = any(len(term) > 1 for term in terms)  # if there are pairs, very common single characters are skipped
    return tuple(term for term in terms if len(term) > 1 or telling(term) >= LEAST_TELLING or not has_pairs)[:ASKED]
