"""The lines around messages of the log."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from sqlite3 import Connection

from ...domain.message import Message, Passage
from ...domain.read_filter import ReadFilter
from ..database.rows import bound
from ..database.statements import select
from .corpus import MESSAGES

_Place = tuple[int, int]  # at_us and seq: the order of the log
_ASKED = """json_each(?2) j CROSS JOIN messages m
    ON m.scope = json_extract(j.value, '$[0]') AND m.id = json_extract(j.value, '$[1]')"""
_BEFORE = select(
    "seq",
    "messages",
    "scope = m.scope AND (at_us, seq) < (m.at_us, m.seq)",
    "ORDER BY at_us DESC, seq DESC LIMIT ?1",
)
_AFTER = select(
    "seq", "messages", "scope = m.scope AND (at_us, seq) > (m.at_us, m.seq)", "ORDER BY at_us, seq LIMIT ?1"
)
_ENDS = (select("seq", f"({ordered})", "TRUE") for ordered in (_BEFORE, _AFTER))
_WINDOW = " UNION ALL ".join((*_ENDS, "SELECT m.seq"))
_WINDOWS = select("m.seq, n.scope, n.at_us, n.seq", f"{_ASKED} CROSS JOIN messages n", f"n.seq IN ({_WINDOW})")


def passages_around(
    connection: Connection, messages: Sequence[Message], read_filter: ReadFilter, reach: int
) -> list[Passage]:
    """Return the lines around each message; only messages and lines that the read filter admits are read."""
    admitted = {(line.scene.scope.key, line.id) for line in messages if read_filter.admits_line(line)}
    asked = json.dumps([bound(*key) for key in sorted(admitted)])
    windows: dict[str, dict[int, list[_Place]]] = {}
    for number, place, at_us, seq in connection.execute(_WINDOWS, (reach, asked)):
        windows.setdefault(place, {}).setdefault(number, []).append((at_us, seq))
    runs = [run for here in windows.values() for run in _joined(map(sorted, here.values()))]
    lines = MESSAGES.at(connection, read_filter, [seq for run in runs for _, seq in run])
    passages = (tuple(lines[seq] for _, seq in run if seq in lines) for run in runs)
    return [passage for passage in passages if passage]


def _joined(windows: Iterable[list[_Place]]) -> list[list[_Place]]:
    """Join the windows that share a line; all windows are of one place."""
    runs: list[list[_Place]] = []
    for window in sorted(windows):
        if runs and window[0] <= runs[-1][-1]:
            runs[-1] += [place for place in window if place > runs[-1][-1]]
        else:
            runs.append(window)
    return runs
