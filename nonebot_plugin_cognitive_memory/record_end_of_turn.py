"""The end of a turn: gives the memory what a chat plugin noted of it, with the lines before it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import cognitive_memory_core as core

from . import replies
from .auto_consider import considerer, unlearned
from .config import setup
from .lifecycle import lifetime
from .message_text import unrecalled, writable
from .throttled_log import complain


@dataclass(frozen=True)
class TurnEnd:
    """Records finished turns of one scene.

    A turn answers ``message``; without one, the asker's newest line with this ``text``, or the newest if there is none.
    With the text "" it answers no line.
    """

    scene: core.Scene
    message: core.Message | None = None
    text: str | None = None

    async def __call__(
        self,
        memo: str = "",
        observations: Iterable[str] = (),
        *,
        perspective: str | None = None,
        force: bool = False,
    ) -> str | None:
        """Record a turn; return the id of its job, or None if the turn was refused or the memory failed.

        Errors of the memory are logged, not raised. ``perspective`` and ``force`` are those of ``Turn``.
        """
        early = self._answered(lifetime.waiting_lines(self.scene))
        async with lifetime.in_order() as memory:
            lines: list[core.Message] = []  # enough of the log to find the answered line and those before it
            with suppress(core.CognitiveMemoryError):
                lines = await memory.recent_messages(self.scene, 2 * setup.settings.historian.recent_messages_inject_k)
            answered = early or self._answered(lines)  # later lines may have arrived meanwhile
            ids = (answered.id,) if answered else ()
            try:
                turn = core.Turn(
                    self.scene,
                    memo=_text(memo),
                    observations=_texts(observations),
                    perspective=perspective or None,
                    force=bool(force),
                    source_message=answered.text if answered else self.text or "",
                    recent_messages=_lines_before(lines, answered),
                    message_ids=ids,
                    happened_at=answered.sent_at if answered else None,
                )
                job_id = await memory.remember(turn)
            except core.CognitiveMemoryError as refused:
                complain(replies.log.NOT_RECORDED.format(reason=replies.log.reason_of(refused)))
                return None
        if job_id is not None and turn.observations:  # a memo states what was done, not what was learned
            considerer.learned(self.scene, ids)
        return job_id

    def _answered(self, lines: list[core.Message]) -> core.Message | None:
        """Return the answered line, whose id tells the memory that the recorded turn covers it; None if unknown."""
        if self.message is not None or self.text == "":
            return self.message
        own = (line for line in reversed(lines) if not line.is_bot and line.scene.user_id == self.scene.user_id)
        return next((line for line in own if self.text is None or line.text == self.text.strip()), None)


async def record_end(  # the public signature is part of the contract
    scene: core.Scene,
    memo: str = "",
    observations: Iterable[str] = (),
    *,
    perspective: str | None = None,
    force: bool = False,
    source_message: str | None = None,
) -> str | None:
    """Record a finished turn of a scene; without ``source_message`` it answers the asker's newest line there.

    Return the job's id, None if nothing was queued. Errors of the memory are logged, not raised.
    """
    text = None if source_message is None else _text(source_message)
    return await TurnEnd(scene, text=text)(memo, observations, perspective=perspective, force=force)


async def consider(scene: core.Scene) -> str | None:
    """Hand in the recent lines of a scene that are in no turn, dialogue or event yet.

    Return the job's id, None if no line is new or the memory refused.
    """
    try:
        return await submit_dialogue(scene)
    except core.CognitiveMemoryError:
        return None


async def submit_dialogue(scene: core.Scene) -> str | None:
    """Hand in the same lines as :func:`consider`; return None if none is new; log a refusal and raise it."""
    async with lifetime.in_order() as memory:
        try:
            lines = await memory.recent_messages(scene, setup.settings.capture.consider_every)
            new = await unlearned(memory, scene, considerer.fresh(scene, lines))
            new = new if any(not line.is_bot for line in new) else []
            job_id = await memory.consider(scene, new) if new else None
        except core.CognitiveMemoryError as refused:
            complain(replies.log.NOT_CONSIDERED.format(reason=replies.log.reason_of(refused)))
            raise
    considerer.learned(scene, [line.id for line in new])
    return job_id


def _lines_before(lines: list[core.Message], answered: core.Message | None) -> tuple[core.Message, ...]:
    """Return the lines before the answered line, which is found by its id; all lines if it is not among them.

    If the answered line is a reply, it comes last, and the line to which it replies is included, however old.
    """
    at = next((index for index, line in enumerate(lines) if answered and line.id == answered.id), len(lines))
    before = lines[:at]
    if at == len(lines) or not lines[at].reply_to:
        return tuple(before)
    room = max(setup.settings.historian.recent_messages_inject_k - 2, 0)
    cut, kept = before[: max(at - room, 0)], before[max(at - room, 0) :]
    return (*(line for line in cut if line.id == lines[at].reply_to), *kept, lines[at])


def _text(value: Any) -> Any:
    """Clean a text; any other value is left for the core to reject."""
    return unrecalled(writable(value)) if isinstance(value, str) else value or ""


def _texts(values: Any) -> tuple[Any, ...]:
    is_many = isinstance(values, Iterable) and not isinstance(values, str | dict)
    return tuple(map(_text, values)) if is_many else (_text(values),)
