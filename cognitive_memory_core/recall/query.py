"""What is asked: the words of the current message, and the time that they name."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest

from .. import sentences
from ..domain.interval import Interval
from ..domain.scope import Scene
from ..text.frequency import telling
from ..text.names import clean_name, clean_text
from ..text.terms import query_terms
from ..text.timewords import time_window

QUERY_LENGTH = 4_000
SHORT = 20
TERMS = 64
_MESSAGE, _OPENED, _CLOSED = "<message", "<content>", "</content>"


@dataclass(frozen=True)
class Query:
    """What is searched for: what was ``said``, its words as ``terms``, the time it names as ``window``.

    ``text`` is what a model embeds: what was said, and where and by whom when that alone says little.
    """

    text: str
    terms: tuple[str, ...] = ()
    window: Interval | None = None
    said: str = ""


def query_of(text: str, scene: Scene, reference: datetime) -> Query:
    """Read a message, a batch of lines, or ``<message><content>`` frames of them (seed 001).

    Only the first 4,000 characters count. What has at most 20 is given to a model with a line that says where and who,
    so that "那个呢" means something; words and time are taken without it. ``reference`` says when, and in whose zone.
    """
    said = clean_text(_said(text[:QUERY_LENGTH])).strip()
    return Query(_placed(said, scene), _terms(said), time_window(said, reference), said)


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


def _terms(said: str) -> tuple[str, ...]:
    """Take the words of a batch's lines in turns, so that a long first line does not use up the room."""
    if "\n" not in said:
        return tuple(query_terms(said, rare_characters=True))
    in_turn = zip_longest(*(query_terms(line, rare_characters=True) for line in said.split("\n")))
    terms = dict.fromkeys(term for turn in in_turn for term in turn if term)
    has_pairs = any(len(term) > 1 for term in terms)  # beside pairs, common characters are not worth asking for
    return tuple(term for term in terms if len(term) > 1 or telling(term) == 1.0 or not has_pairs)[:TERMS]


def _placed(said: str, scene: Scene) -> str:
    if not said or len(said) > SHORT or scene.kind == "operator":
        return said
    return f"{said}\n{sentences.query_place(scene.kind, clean_name(scene.group_name), clean_name(scene.user_name))}"
