"""Search by words with the BM25 statistics of the place that is read."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.message import Message, Passage
from cognitive_memory_core.domain.read_filter import ReadFilter
from cognitive_memory_core.ports.ledger import LineSearch, MessageLog
from cognitive_memory_core.text.lexical.indexed import indexed_text
from cognitive_memory_core.text.lexical.terms import index_terms

from .passages import PassagesOf
from .state import InMemoryState

_SATURATION, _LENGTH_SHARE = 1.2, 0.75
T = TypeVar("T")


@dataclass(frozen=True)
class _Document(Generic[T]):
    item: T
    terms: Counter[str]
    length: int


class InMemoryLexical:
    """Word search over a state, computed for each search."""

    def __init__(self, state: InMemoryState, log: MessageLog) -> None:
        """Use a state that other ports share, and the log that reads the lines around."""
        self._state = state
        self._log = log

    async def events(self, terms: Sequence[str], read_filter: ReadFilter, limit: int) -> list[tuple[Event, float]]:
        """Return events that share terms, best first."""
        place = ReadFilter(read_filter.scene, group_id=read_filter.group_id)
        there = (event for event in self._state.events.values() if place.admits(event))
        return _ranked([_document(event, _event_text(event)) for event in there], terms, read_filter.admits, limit)

    async def messages(self, terms: Sequence[str], read_filter: ReadFilter, limit: int) -> list[tuple[Message, float]]:
        """Return messages that share terms, best first."""
        place = ReadFilter(read_filter.scene, group_id=read_filter.group_id)
        lines = (message for at, message in self._state.messages.items() if at not in self._state.hidden_lines)
        there = (message for message in lines if place.admits(message.as_event()))
        documents = [_document(message, _message_text(message)) for message in there]
        return _ranked(documents, terms, lambda message: read_filter.admits(message.as_event()), limit)

    async def passages(self, searches: Sequence[LineSearch], read_filter: ReadFilter, reach: int) -> list[Passage]:
        """Return the lines around all messages found."""
        return await PassagesOf(self, self._log).passages(searches, read_filter, reach)


def _ranked(
    documents: Sequence[_Document[T]], terms: Sequence[str], admits: Callable[[T], bool], limit: int
) -> list[tuple[T, float]]:
    weights = {term: _weight(term, documents) for term in terms}
    usual = sum(document.length for document in documents) / max(len(documents), 1)
    shared = (document for document in documents if not document.terms.keys().isdisjoint(terms))
    scored = [(document.item, _score(document, weights, usual)) for document in shared if admits(document.item)]
    return sorted(scored, key=lambda pair: -pair[1])[: max(limit, 0)]


def _weight(term: str, documents: Sequence[_Document[T]]) -> float:
    having = sum(term in document.terms for document in documents)
    return math.log1p((len(documents) - having + 0.5) / (having + 0.5))


def _score(document: _Document[T], weights: dict[str, float], usual_length: float) -> float:
    damping = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * document.length / usual_length)
    return sum(
        weight * count * (_SATURATION + 1) / (count + damping)
        for term, weight in weights.items()
        if (count := document.terms[term])
    )


def _document(item: T, text: str) -> _Document[T]:
    terms = index_terms(text)
    return _Document(item, Counter(terms), len(terms))


def _event_text(event: Event) -> str:
    said = f"{event.text}\n{event.pain}\n{event.solution}\n{event.outcome}"
    return indexed_text(event.sender_name, event.happened_at, said)


def _message_text(message: Message) -> str:
    return indexed_text("" if message.is_bot else message.scene.user_name, message.sent_at, message.text)
