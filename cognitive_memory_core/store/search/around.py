"""The lines of the log before and after a line, and the one that it answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from sqlite3 import Connection

from ...domain.message import Message, Passage
from ...domain.reading import ReadFilter
from ..database.rows import bound, select
from .filters import MESSAGES, message_filter
from .lines import PAUSE, PAUSE_US, FoundLine

SHOWN = 2  # lines before and after a line that are shown with it
_ASKED = """json_each(?1) j CROSS JOIN messages m
    ON m.scope = json_extract(j.value, '$[0]') AND m.id = json_extract(j.value, '$[1]')"""
_ANSWERED = select(
    "m.scope, m.id, r.seq", f"{_ASKED} CROSS JOIN messages r ON r.scope = m.scope AND r.id = m.reply_to", "TRUE"
)
_EVER_US = 2**61


def passages_around(
    connection: Connection, messages: Sequence[Message], read_filter: ReadFilter, reach: int
) -> list[Passage]:
    """Return each message with the ``reach`` lines before and after it, of those that the read filter admits."""
    admitted = {(line.scene.scope.key, line.id) for line in messages if read_filter.admits_line(line)}
    asked = json.dumps([bound(*key) for key in sorted(admitted)])
    clause, values = message_filter(read_filter)
    side = (*values, _EVER_US, reach)
    windows: dict[str, dict[int, list[tuple[int, int]]]] = {}  # by place and line: time and seq, the order of the log
    for place, _, number, at_us, seq in connection.execute(_beside(clause), (asked, *side, *side)):
        windows.setdefault(place, {}).setdefault(number, []).append((at_us, seq))
    runs: list[list[tuple[int, int]]] = []
    for here in windows.values():
        begun = len(runs)
        for window in sorted(map(sorted, here.values())):
            if len(runs) > begun and window[0] <= runs[-1][-1]:  # windows that share a line are one
                runs[-1] += [place for place in window if place > runs[-1][-1]]
            else:
                runs.append(window)
    lines = MESSAGES.at(connection, read_filter, [seq for run in runs for _, seq in run])
    passages = (tuple(lines[seq] for _, seq in run if seq in lines) for run in runs)
    return [passage for passage in passages if passage]


def surround(
    connection: Connection, found: Sequence[FoundLine], read_filter: ReadFilter, around: int | None = None
) -> None:
    """Add to lines the ones they reply to and, to the first ``around`` (None: all), those before and after them.

    Lines around a line are of the same session. Only lines that the read filter's scene may read are read; the lines
    found must be of the log.
    """
    read_filter = replace(read_filter, user_id="", kinds=(), window=None)
    keys = [bound(one.line.scene.scope.key, one.line.id) for one in found]
    clause, values = message_filter(read_filter)
    side_of = (*values, SHOWN * PAUSE_US, SHOWN)
    beside: dict[tuple[str, ...], list[int]] = {}
    for *key, _, seq in sorted(connection.execute(_beside(clause), (json.dumps(keys[:around]), *side_of, *side_of))):
        beside.setdefault(tuple(key[:2]), key[2:3]).append(seq)  # first the line's own
    answered = {(place, name): seq for place, name, seq in connection.execute(_ANSWERED, (json.dumps(keys),))}
    lines = MESSAGES.at(connection, read_filter, list({*answered.values(), *chain(*beside.values())}))
    for one, key in zip(found, keys, strict=True):
        own, *near = beside.get(key, (0, 0))
        at = near.index(own)
        sides = [[lines[seq] for seq in some if seq in lines] for some in (near[:at][::-1], near[at + 1 :])]
        for side in sides:  # of one session: without a pause between two lines
            said = one.line.sent_at, *(line.sent_at for line in side)
            pauses = (number for number, line in enumerate(side) if abs(line.sent_at - said[number]) > PAUSE)
            del side[next(pauses, len(side)) :]
        one.before, one.after = tuple(sides[0][::-1]), tuple(sides[1])
        one.replied = lines.get(answered.get(key, 0))


def _beside(clause: str) -> str:
    """Build the query of the lines before and after some lines that a clause admits, and of these lines."""
    place = f"e.scope = m.scope AND {clause} AND (e.at_us, e.seq)"
    before = f"{place} < (m.at_us, m.seq) AND e.at_us >= m.at_us - ?", "ORDER BY e.at_us DESC, e.seq DESC LIMIT ?"
    after = f"{place} > (m.at_us, m.seq) AND e.at_us <= m.at_us + ?", "ORDER BY e.at_us, e.seq LIMIT ?"
    sides = (f"SELECT seq FROM ({select('e.seq', 'messages e', *one)})" for one in (before, after))
    return select(
        "m.scope, m.id, m.seq, n.at_us, n.seq",
        f"{_ASKED} CROSS JOIN messages n",
        f"n.seq IN ({' UNION ALL '.join((*sides, 'SELECT m.seq'))})",
    )
