"""The lines around messages of the log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from sqlite3 import Connection

from ....domain.message import Message, Passage
from ....domain.read_filter import ReadFilter
from ..database.rows import bound
from ..database.statements import select
from .corpus import MESSAGES

_Place = tuple[int, int]  # at_us and seq: the order of the log
_BEFORE = select(
    "at_us, seq", "messages", "scope = ? AND (at_us, seq) < (?, ?)", "ORDER BY at_us DESC, seq DESC LIMIT ?"
)
_AFTER = select("at_us, seq", "messages", "scope = ? AND (at_us, seq) > (?, ?)", "ORDER BY at_us, seq LIMIT ?")


def passages_around(
    connection: Connection, messages: Sequence[Message], read_filter: ReadFilter, reach: int
) -> list[Passage]:
    """Return the lines around each message; only messages and lines that the read filter admits are read."""
    admitted = sorted({(line.scene.scope, line.id) for line in messages if read_filter.admits_line(line)})
    windows: dict[str, list[list[_Place]]] = {}
    for scope, message_id in admitted:
        key, identifier = bound(scope.key, message_id)
        for found in connection.execute(select("at_us, seq", "messages", "scope = ? AND id = ?"), (key, identifier)):
            windows.setdefault(key, []).append(_window(connection, key, found, reach))
    runs = [run for here in windows.values() for run in _joined(here)]
    lines = MESSAGES.at(connection, read_filter, [seq for run in runs for _, seq in run])
    passages = (tuple(lines[seq] for _, seq in run if seq in lines) for run in runs)
    return [passage for passage in passages if passage]


def _window(connection: Connection, key: str, at: _Place, reach: int) -> list[_Place]:
    before = connection.execute(_BEFORE, (key, *at, reach)).fetchall()
    return [*before[::-1], at, *connection.execute(_AFTER, (key, *at, reach))]


def _joined(windows: Iterable[list[_Place]]) -> list[list[_Place]]:
    """Join the windows of one place that share a line."""
    runs: list[list[_Place]] = []
    for window in sorted(windows):
        if runs and window[0] <= runs[-1][-1]:
            runs[-1] += [place for place in window if place > runs[-1][-1]]
        else:
            runs.append(window)
    return runs
