"""A scripted chat model that records what it was asked."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from cognitive_memory_core.ports import Ask

from .puppet import statement

T = TypeVar("T")


class ScriptedChat:
    """Returns the given answers in order, parsed as each prompt requires; an exception is raised.

    A string is the model's literal answer; anything else is encoded as JSON. One question too many fails the test.
    """

    def __init__(self, *answers: object) -> None:
        """Take the answers, in order."""
        self._answers = list(answers)
        self.asks: list[Ask[Any]] = []

    async def ask(self, ask: Ask[T]) -> T:
        """Return the next answer."""
        self.asks.append(ask)
        if not self._answers:
            raise AssertionError(f"asked {len(self.asks)} times: {ask.purpose}")
        answer = self._answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return ask.parse(answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False))

    @property
    def calls(self) -> int:
        """Return the number of questions."""
        return len(self.asks)


def said(text: str, number: int = 1, **fields: Any) -> dict[str, Any]:
    """Return one row of a model's answer to a rewrite."""
    return {**statement(number, text), "kind": "event", **fields}


def statements(*rows: dict[str, Any] | str) -> dict[str, Any]:
    """Return a model's answer to a rewrite; plain texts answer the tasks from 1 on."""
    return {"statements": [said(row, at) if isinstance(row, str) else row for at, row in enumerate(rows, 1)]}


def triaged(*rows: dict[str, Any], remember: bool = True) -> dict[str, Any]:
    """Return a model's answer to a triage."""
    return {"should_remember": remember, "reason": "测试", "observations": list(rows)}
