"""What lay before the model for an answer of the bot, in memory only."""

from __future__ import annotations

import time
from collections.abc import Callable

import cognitive_memory_core as core

from .limits import Lasting, Newest

HOUR = 3_600.0
ANSWERED_WITHIN = 300.0  # seconds after a context in which its answer is sent
Sources = tuple[str, ...]


class AnswerSources:
    """Binds the sources of contexts to the messages that the bot sent then, each in its place."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start empty; ``clock`` returns seconds of a monotonic clock."""
        self._clock = clock
        self._built: Newest[tuple[core.Scope, str], tuple[Sources, float]] = Newest(1_000)
        self._answers: Lasting[tuple[core.Scope, str], Sources] = Lasting(HOUR, 10_000, clock)

    def note_context(self, scene: core.Scene, asked_id: str, context: core.Context) -> None:
        """Note the context that was built for a message."""
        self._built[scene.scope, asked_id] = context.sources, self._clock()

    def note_answer(self, scene: core.Scene, asked_id: str, answer_id: str) -> None:
        """Bind a message that the bot sent, while it handled the message ``asked_id``, to that message's context.

        A chat plugin may answer in a task of its own: if the message had no context, the only one of this place in the
        last five minutes is taken; of several it cannot be told which one it was.
        """
        since, scope = self._clock() - ANSWERED_WITHIN, scene.scope
        recent = {key: sources for key, (sources, at) in self._built.items() if key[0] == scope and at >= since}
        if (scope, asked_id) in recent:
            self._answers.put((scope, answer_id), recent[scope, asked_id])
        elif len(recent) == 1:
            self._answers.put((scope, answer_id), *recent.values())

    def find(self, scene: core.Scene, answer_id: str) -> Sources | None:
        """Return the ids of what lay before the model for a message of the bot; None if it is not known."""
        return self._answers.find((scene.scope, answer_id))


answer_sources = AnswerSources()
