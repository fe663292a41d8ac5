"""What is asked: the words of the current message, whom and what time they name, and what they are after."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import zip_longest

from .. import sentences
from ..domain.interval import Interval
from ..domain.people import Person
from ..domain.scope import Scene
from ..text.identity.names import clean_name, clean_text
from ..text.lexical.frequency import telling
from ..text.lexical.terms import LEAST_TELLING, query_terms
from ..text.statements.intents import Intent, intent_of, speaks_of_asker
from ..text.time.timewords import time_window
from .naming import NOBODY, Names, names_of

QUERY_LENGTH = 4_000
SHORT = 20
TERMS = 64
LINES = 32  # of a batch whose people and intent are told
_MESSAGE, _OPENED, _CLOSED = "<message", "<content>", "</content>"


@dataclass(frozen=True)
class Query:
    """What is searched for: what was ``said``, its words as ``terms``, the past it names as ``window``.

    ``text`` is what a model embeds: what was said, and where and by whom when that alone says little. ``intent`` is
    what kind of answer it is after, ``people`` are the ids of those whom it names, whoever asks among them for 我.
    """

    text: str
    terms: tuple[str, ...] = ()
    window: Interval | None = None
    said: str = ""
    intent: Intent = "general"
    people: frozenset[str] = field(default=frozenset())


def query_of(
    text: str, scene: Scene, reference: datetime, names: Names = NOBODY, *, addressed: bool | None = None
) -> Query:
    """Read a message, a batch of lines, or ``<message><content>`` frames of them (seed 001).

    Only the first 4,000 characters count. What has at most 20 is given to a model with a line that says where and who,
    and whether the bot was ``addressed`` where that is known, so that "那个呢" means something; all else is taken
    without it. ``reference`` says when, and in whose zone; ``names`` are known where the scene stands.
    """
    said = clean_text(_said(text[:QUERY_LENGTH])).strip()
    lines = said.split("\n")
    return Query(
        _placed(said, scene, addressed),
        _terms(lines),
        _begun(time_window(said, reference), reference),
        said,
        _intent(lines),
        _people(lines, scene, names),
    )


def _begun(window: Interval | None, reference: datetime) -> Interval | None:
    """Leave out a time that is still to come: nothing was said then, and what was said of it lies anywhere."""
    return window if window is not None and window.start < reference else None


def _intent(lines: list[str]) -> Intent:
    """Tell what a batch is after: what its last line says that is after anything."""
    told = map(intent_of, reversed(lines[-LINES:]))
    after: list[Intent] = [intent for intent in told if intent != "general"]
    return after[0] if after else "general"


def _people(lines: list[str], scene: Scene, names: Names) -> frozenset[str]:
    """Name the people of all lines, and whoever asks where they mean themselves."""
    read = lines[-LINES:]
    named = frozenset[str]().union(*map(names.named, read))
    if scene.kind == "operator":
        return named
    if any(map(speaks_of_asker, read)):
        return named | {scene.user_id}
    return named.union(*map(names_of(Person(scene.user_id, scene.user_name)).named, read))


def _said(text: str) -> str:
    contents = [html.unescape(content).strip() for content in _contents(text)]
    return "\n".join(contents) if contents else text


def _contents(text: str) -> Iterator[str]:
    """Give what stands in each message's content, going forward only: no text costs more than its length."""
    at = text.find(_MESSAGE)
    while at >= 0:
        opened = text.find(_OPENED, at)
        if opened < 0:
            return
        start = opened + len(_OPENED)
        closed = text.find(_CLOSED, start)
        stop = closed if closed >= 0 else len(text)
        yield text[start:stop]
        at = text.find(_MESSAGE, stop)


def _terms(lines: list[str]) -> tuple[str, ...]:
    """Take the words of a batch's lines in turns, so that a long first line does not use up the room."""
    if len(lines) == 1:
        return tuple(query_terms(lines[0], characters=True))
    in_turn = zip_longest(*(query_terms(line, characters=True) for line in lines))
    terms = dict.fromkeys(term for turn in in_turn for term in turn if term)
    has_pairs = any(len(term) > 1 for term in terms)  # beside pairs, the commonest are not asked for
    return tuple(term for term in terms if len(term) > 1 or telling(term) >= LEAST_TELLING or not has_pairs)[:TERMS]


def _placed(said: str, scene: Scene, addressed: bool | None) -> str:
    if not said or len(said) > SHORT or scene.kind == "operator":
        return said
    group_name, user_name = clean_name(scene.group_name), clean_name(scene.user_name)
    return f"{said}\n{sentences.query_place(scene.kind, group_name, user_name, addressed)}"
