"""The words of a row, stored beside it: its terms as hashes, and for a line of the log what is scored with them.

Whenever the words of an equal row would be others, :data:`FORM` must change: all are made anew then, at the next start.
"""

from __future__ import annotations

import struct
import unicodedata
from array import array
from collections.abc import Iterable
from datetime import date
from functools import lru_cache
from zlib import crc32

from ...domain.event import Event
from ...domain.message import Message
from ...text.characters import cleared_on_erasure
from ...text.questions import holds_number
from ...text.terms import forms_version, index_terms, indexed_text

FORM = f"4/{unicodedata.unidata_version}/{forms_version()}"
READ = 600  # characters of a line
LINE_HEAD = [
    ("at_us", "i8"),
    ("id", "u4"),  # hash of place and message id
    ("answered", "u4"),  # that of the line which it answers, or 0
    ("place", "u4"),  # hash of the scope
    ("person", "u4"),  # hash of who said it, or to whom the bot said it
    ("label", "u2"),  # how many of the terms, the first ones, are of its label (speaker and day) only
    ("is_bot", "?"),
    ("private", "?"),
    ("numeric", "?"),  # whether the line holds a number
    ("unused", "V3"),
]  # numpy's type of what stands before the terms of a line
_HEAD = struct.Struct("=qIIIIH???3x")
HEAD_BYTES = _HEAD.size
TERM_BYTES = 4


def hashed(term: str) -> int:
    """Return the 32-bit hash under which a term is stored: the same in every process, and no text."""
    return crc32(term.encode("utf-8", "replace"))


def line_key(place: str, message_id: str) -> int:
    """Return a 32-bit hash of a message's place (the key of its scope) and id."""
    return crc32(f"{place}\n{message_id}".encode("utf-8", "replace"))


def event_words(event: Event) -> bytes:
    """Return the terms of an event: of its texts, its speaker's name and its day."""
    said = f"{event.text}\n{event.pain}\n{event.solution}\n{event.outcome}"
    return _stored({hashed(term) for term in index_terms(indexed_text(event.sender_name, event.happened_at, said))})


def line_words(line: Message, at_us: int) -> bytes:
    """Return a line's :data:`LINE_HEAD`, the terms of its label, and those of its text."""
    scene, said = line.scene, set(map(hashed, index_terms(line.text[:READ])))
    label = _label("" if line.is_bot else scene.user_name, line.sent_at.date()) - said
    place, key = hashed(scene.scope.key), scene.scope.key
    ids = line_key(key, line.id), line_key(key, line.reply_to) if line.reply_to else 0
    marks = line.is_bot, scene.scope.kind == "private", holds_number(line.text)
    return _HEAD.pack(at_us, *ids, place, hashed(scene.user_id), len(label), *marks) + _stored((*label, *said))


def _stored(terms: Iterable[int]) -> bytes:
    return array("I", terms).tobytes()


@cleared_on_erasure
@lru_cache(maxsize=1024)  # the same people speak on the same days
def _label(speaker: str, day: date) -> frozenset[int]:
    return frozenset({hashed(term) for term in index_terms(indexed_text(speaker, day, ""))})
