"""Chooses which lines of a chat one evolution run shows in full, if there are more than fit."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta, tzinfo

from ..domain.message import Message
from ..text.statements.group_rules import is_command

PAUSE = timedelta(minutes=15)  # a longer silence ends an exchange
LONGEST = 40  # lines of one exchange
MOST_PEOPLE = 4  # speakers of an exchange that count
PIECE_LINES, PIECE_LENGTH, MOST_PIECES = 150, 12_000, 8  # of a summary; PIECE_LENGTH in characters
ADMIN_WORTH = 3  # of each line of an admin, beside 1 for each speaker


@dataclass(frozen=True)
class ChosenLines:
    """The lines to show in full, and the others (``left``), which are summarised; both oldest first."""

    shown: tuple[Message, ...]
    left: tuple[Message, ...] = ()


def chosen(lines: Sequence[Message], most: int, zone: tzinfo) -> ChosenLines:
    """Choose at most ``most`` lines in whole exchanges, spread over the days in ``zone``; drop commands.

    The days take turns with one exchange each; of a day, exchanges with more speakers and lines of admins come first.
    """
    said = [line for line in lines if not is_command(line.text)]
    if len(said) <= most:
        return ChosenLines(tuple(said))
    by_day: dict[date, list[list[Message]]] = {}
    for exchange in exchanges(said, min(LONGEST, most)):
        by_day.setdefault(exchange[0].sent_at.astimezone(zone).date(), []).append(exchange)
    ids: set[str] = set()
    for exchange in _in_turns(by_day):
        if len(ids) + len(exchange) <= most:
            ids.update(line.id for line in exchange)
    shown = tuple(line for line in said if line.id in ids)
    return ChosenLines(shown, tuple(line for line in said if line.id not in ids))


def exchanges(lines: Sequence[Message], longest: int = LONGEST) -> Iterator[list[Message]]:
    """Split lines into exchanges: after a pause longer than ``PAUSE``, and after ``longest`` lines."""
    exchange: list[Message] = []
    for line in lines:
        if exchange and (line.sent_at - exchange[-1].sent_at > PAUSE or len(exchange) == longest):
            yield exchange
            exchange = []
        exchange.append(line)
    if exchange:
        yield exchange


def _in_turns(by_day: dict[date, list[list[Message]]]) -> Iterator[list[Message]]:
    queues = deque(deque(sorted(of_day, key=_exchange_score, reverse=True)) for _, of_day in sorted(by_day.items()))
    while queues:
        of_day = queues.popleft()
        yield of_day.popleft()
        if of_day:
            queues.append(of_day)


def _exchange_score(exchange: Sequence[Message]) -> float:
    people = len({line.sender_id for line in exchange if line.sender_id})
    admins = sum(line.scene.is_admin for line in exchange if line.sender_id)
    return min(people, MOST_PEOPLE) + ADMIN_WORTH * admins


def summary_pieces(lines: Sequence[Message]) -> list[list[Message]]:
    """Split lines into pieces for one model call each; return the newest ``MOST_PIECES`` pieces."""
    pieces: list[list[Message]] = []
    length = PIECE_LENGTH
    for line in lines:
        length += len(line.text)
        if not pieces or len(pieces[-1]) == PIECE_LINES or length > PIECE_LENGTH:
            pieces.append([])
            length = len(line.text)
        pieces[-1].append(line)
    return pieces[-MOST_PIECES:]
