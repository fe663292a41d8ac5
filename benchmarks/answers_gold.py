"""A chat model that writes the gold facts of a labelled chat; it is counted by purpose.

It answers triage with the facts of the set whose last line stands in the dialogue, a rewrite with the observation as it
is, and a merge with the old sentences and the new facts.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

import cognitive_memory_core as core
from cognitive_memory_core.ports import Ask, Chat
from cognitive_memory_core.text.tokens import token_count
from tests.support.puppet import TRIAGE, Puppet, Question, careful, shaped, statement

from .chat_set import Fact, Window

_KNOWN = re.compile(r"^E(\d+)\. (.*)$", re.MULTILINE)  # the events that a prompt shows as known
_BEGINNING = 12  # characters of a statement by which it is recognised in a prompt
T = TypeVar("T")


@dataclass
class CountedChat:
    """A chat model with its calls and tokens by purpose; tokens are estimated: instructions, form, prompt, answer."""

    chat: Chat
    calls: Counter[str] = field(default_factory=Counter[str])
    tokens: Counter[str] = field(default_factory=Counter[str])
    failures: Counter[str] = field(default_factory=Counter[str])

    async def ask(self, ask: Ask[T]) -> T:
        """Pass a question on."""
        self.calls[ask.purpose] += 1
        form = json.dumps(dict(ask.schema), ensure_ascii=False)
        self.tokens[ask.purpose] += sum(map(token_count, (ask.instructions, form, ask.prompt)))
        try:
            return await self.chat.ask(replace(ask, parse=self._counting(ask)))
        except core.CognitiveMemoryError as failure:
            self.failures[type(failure).__name__] += 1
            raise

    def _counting(self, ask: Ask[T]) -> Callable[[str], T]:
        def parse(written: str) -> T:
            self.tokens[ask.purpose] += token_count(written)
            return ask.parse(written)

        return parse


class GoldHistorian:
    """A model that writes the facts of a set, each when the last line that it rests on is read."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        """Take the facts; ``window`` must be set before a dialogue is handed over."""
        self._facts = [fact.row for fact in facts]
        self.window: Window | None = None
        self._said: dict[str, str] = {}
        self.chat = CountedChat(Puppet(self._answer))

    def _answer(self, question: Question) -> object:
        self._said |= {line.id: line.text for line in self._lines}
        if question.name != TRIAGE:
            return careful(question)
        told = list(self._told(question))
        return shaped(question, *told, should_remember=bool(told), reason="gold")

    def _told(self, question: Question) -> Iterator[Mapping[str, Any]]:
        numbers = dict(self._numbers(question))
        for fact in self._facts:
            sources = cast("list[str]", fact["message_ids"])
            lines = [numbers[source] for source in sources if source in numbers]
            if lines and self._is_complete(fact):
                about = cast("list[str]", fact["subjects"]) or [question.place]
                speaker, subjects = str(fact["sender_id"]), list(filter(None, about))
                said = statement(0, str(fact["text"]), subjects, speaker, lines=lines)
                yield {**said, "kind": fact["kind"], "replaces": self._replaced(question, fact)}

    def _replaced(self, question: Question, fact: Mapping[str, object]) -> int:
        """Return the number of the known event that a fact replaces; 0 if it replaces none or that is not shown."""
        old = next((one for one in self._facts if fact.get("replaces") and one["id"] == fact["replaces"]), None)
        if old is None:
            return 0
        begun = [_plain(self._said.get(one, "\n"))[:_BEGINNING] for one in cast("list[str]", old["message_ids"])]
        known = ((int(found[1]), found[2]) for found in _KNOWN.finditer(question.prompt))
        return next((number for number, text in known if any(one and one in _plain(text) for one in begun)), 0)

    def _is_complete(self, fact: Mapping[str, object]) -> bool:
        """Return whether the last line of a fact stands in the window."""
        sources = cast("list[str]", fact["message_ids"])
        return any(line.id in sources and line.sent_at == fact["happened_at"] for line in self._lines)

    def _numbers(self, question: Question) -> Iterator[tuple[str, int]]:
        """Yield the ids of the lines with their numbers in the prompt, in which some lines may be missing."""
        is_whole = len(question.lines) == len(self._lines)
        shown = iter(question.lines)
        number, text = next(shown, (0, ""))
        for line in self._lines:
            if is_whole or (number and _plain(line.text)[:20] in _plain(text)):
                yield line.id, number
                number, text = next(shown, (0, ""))

    @property
    def _lines(self) -> Sequence[core.Message]:
        return self.window.lines if self.window else ()


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text))
