"""The lines of the log before and after a line, and the one that it answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from sqlite3 import Connection

from ...domain.message import Message, Passage
from ...domain.reading import ReadFilter
from ..database.words import line_key
from ..numpy_on_use import np
from .filters import MESSAGES, place_filter
from .lines import SHOWN, FoundLine, LineRows
from .rows import state_of


def surround(
    connection: Connection, found: Sequence[FoundLine], read_filter: ReadFilter, around: int | None = None
) -> None:
    """Add to lines the ones they reply to and, to the first ``around`` (None: all), those before and after them.

    Lines around a line are of the same session. Only lines that the read filter's scene may read are read.
    """
    wide = replace(read_filter, user_id="", kinds=(), window=None)
    asked = {*(one.answers for one in found), *chain(*(one.beside for one in found[:around]))}
    lines = MESSAGES.at(connection, wide, sorted(asked - {0}))
    for one in found:
        one.replied = lines.get(one.answers)
    for one in found[:around]:
        sides = one.beside[:SHOWN], one.beside[SHOWN:]
        one.before, one.after = (tuple(lines[seq] for seq in side if seq in lines) for side in sides)


def passages_around(
    connection: Connection, messages: Sequence[Message], read_filter: ReadFilter, reach: int
) -> list[Passage]:
    """Return each message with the ``reach`` lines before and after it, of those that the read filter admits."""
    rows = LineRows(*place_filter(read_filter))
    rows.follow(connection, state_of(connection))
    talk, place = rows.talk(read_filter.without), rows.about.values["place"]
    keys = [line_key(line.scene.scope.key, line.id) for line in messages]
    at = talk.position[np.isin(rows.about.values["id"], keys)]
    positions, reach = at[at >= 0], min(reach, len(rows))
    near = positions[:, np.newaxis] + np.arange(-reach, reach + 1)
    other = np.minimum(np.maximum(near, 0), len(talk.rows) - 1)
    is_there = (near == other) & (place[talk.rows[other]] == place[talk.rows[positions]][:, np.newaxis])
    shown = np.unique(near[is_there])
    runs = np.split(shown, np.flatnonzero((np.diff(shown) > 1) | (np.diff(place[talk.rows[shown]]) != 0)) + 1)
    seqs = [rows.seqs.values[talk.rows[run]].tolist() for run in runs]
    lines = MESSAGES.at(connection, read_filter, list(chain(*seqs)))
    passages = (tuple(lines[seq] for seq in run if seq in lines) for run in seqs)
    return [passage for passage in passages if passage]
