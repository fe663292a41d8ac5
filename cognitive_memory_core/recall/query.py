"""Parses a query: the terms of the current message, the people and time that it names, who is asked about."""

from __future__ import annotations

import html
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import zip_longest

from .. import sentences
from ..domain.interval import Interval
from ..domain.people import Person
from ..domain.scope import Scene
from ..settings import Settings
from ..text.names import clean_name, clean_text
from ..text.statements import asked_sentences, asks_who, speaks_of_asker
from ..text.terms import ASKED, LEAST_TELLING, query_terms, telling, telling_of, without_formulas
from ..text.time.time_words import time_windows
from .names import NOBODY, Names, names_of

QUERY_LENGTH = 4_000
SHORT = 20
SAYS_LITTLE = 0.9  # weight below which every term of a greeting lies; the least question of 146 has a term of 0.95
LINES = 32  # lines of a batch that are searched for people and for who is asked about
_MESSAGE, _OPENED, _CLOSED = "<message", "<content>", "</content>"


@dataclass(frozen=True)
class Query:
    """A parsed query: ``said`` is the plain text, ``terms`` are its index terms, ``windows`` the past times it names.

    ``text`` is what a model embeds: the text alone or, if it is short, with its place and speaker. ``people``
    are the ids of the people named, including the asker for 我; ``asks_who``: the query asks who somebody is.
    ``names`` are those known in the place. ``asides`` are the terms of sentences around a question that the question
    does not contain.
    """

    text: str
    terms: tuple[str, ...] = ()
    windows: tuple[Interval, ...] = ()
    said: str = ""
    asks_who: bool = False
    people: frozenset[str] = field(default=frozenset())
    names: Names = field(default=NOBODY, compare=False, repr=False)
    asides: frozenset[str] = field(default=frozenset())

    @property
    def says_little(self) -> bool:
        """Whether the query, such as 早上好 or 收到, names nobody, no time, and only what all chats consist of."""
        if self.asks_who or self.people or self.windows:
            return False
        told = query_terms(without_formulas(self.said), characters=True)
        return all(telling_of(term) < SAYS_LITTLE for term in told)


def query_of(
    text: str, scene: Scene, reference: datetime, names: Names = NOBODY, *, addressed: bool | None = None
) -> Query:
    """Parse a message, a batch of lines, or ``<message><content>`` frames of them (seed 001).

    Only the first 4,000 characters count. A text of at most 20 characters is embedded with a line that states place,
    asker and, if known, whether the bot was ``addressed``, to give texts such as "那个呢" a context. ``reference`` is
    the current time in the configured zone; ``names`` are those known in the scene's place.
    """
    said = clean_text(_said(text[:QUERY_LENGTH])).strip()
    lines, asked, placed = said.split("\n"), asked_sentences(said), said
    terms = _terms(lines)
    told = (query_terms(one, characters=True) for one in asked)
    asides = frozenset(terms).difference(*told) if asked else frozenset[str]()
    if said and len(said) <= SHORT and scene.kind != "operator":
        called = clean_name(scene.group_name), clean_name(scene.user_name)
        placed = f"{said}\n{sentences.context.query_place(scene.kind, *called, addressed)}"
    asks = any(map(asks_who, lines[-LINES:]))
    query = Query(placed, terms, _windows(said, reference, NOBODY), said, asks, asides=asides)
    return with_names(query, scene, reference, names)


def with_names(query: Query, scene: Scene, reference: datetime, names: Names) -> Query:
    """Return a query with the people and the time that it names, given the ``names`` that are known in the place."""
    windows = _windows(query.said, reference, names) if query.windows else ()
    begun = tuple(one for one in windows if one.start < reference)  # of the future anything may have been said
    lines = query.said.split("\n")[-LINES:]
    people = frozenset[str]().union(*map(names.named, lines))
    if scene.kind != "operator":
        if any(map(speaks_of_asker, lines)):
            people |= {scene.user_id}
        else:
            people = people.union(*map(names_of(Person(scene.user_id, scene.user_name)).named, lines))
    return replace(query, windows=begun, people=people, names=names)


def embedded_text(query: Query, settings: Settings) -> str:
    """Return the text to embed; place and speaker are included only for a real model.

    With the local embedder, which hashes characters, they would outweigh the query.
    """
    return query.text if settings.models.embedding.model_name else query.said or query.text


def _windows(said: str, reference: datetime, names: Names) -> tuple[Interval, ...]:
    """Return the windows that a text names. A person's name such as 周末 is not a time.

    Sentences around a question do not count: 今天天气真不错。我们三月去了哪里？ is about March.
    """
    said = " ".join(asked_sentences(said)) or said
    windows = time_windows(said, reference)
    if not windows:
        return ()
    called = {name for person in names.people.values() for name in (person.name, *person.aliases) if name in said}
    return time_windows(said, reference, called) if called else windows


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
