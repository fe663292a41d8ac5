"""The historian with a model: one call for a turn, the gate behind it, and feedback for what did not pass."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace

from .. import sentences
from ..domain.event import Statement, duplicate_key
from ..domain.message import Message
from ..domain.people import Anchors
from ..domain.turn import Dialogue, Turn
from ..errors import BadAnswer, PermanentError
from ..ports.models import Chat
from ..prompts.answers import Said
from ..prompts.library import PromptLibrary
from ..settings import Live, Settings
from ..text.names import one_line
from .attempts import Attempt, Sheet
from .attribution import Matter, called, unworded
from .budget import NoModel
from .neighbours import is_timeless
from .progress import Progress
from .retry import described
from .triage import sheet_of

log = logging.getLogger(__name__)


class ModelHistorian:
    """Rewrites and judges with chat models. What a model answered for a job that failed later is not asked again."""

    def __init__(self, rewriting: Chat, judging: Chat, prompts: PromptLibrary, settings: Live[Settings]) -> None:
        """Ask one model to rewrite and one, perhaps the same, what is worth remembering."""
        self._rewriting = rewriting
        self._judging = judging
        self._prompts = prompts
        self._settings = settings
        self._progress: Progress[Sheet] = Progress()

    async def rewrite(self, turn: Turn, anchors: Anchors) -> list[Statement]:
        """Turn each observation into a statement, equal ones into equal ones.

        What cannot be made absolute within ``rewrite_max_retry`` is kept as it is and marked.
        """
        sheet = self._progress.find(turn, anchors) or _sheet(turn, anchors)
        try:
            await self._insist(sheet, turn, turn.source_message, turn.recent_messages)
        except PermanentError as refusal:
            log.warning("historian_rewrite job=%s: %s", anchors.job_id, described(refusal))
        self._progress.settle(anchors.job_id)
        return self._written(turn, sheet)

    async def triage(self, dialogue: Dialogue, anchors: Anchors) -> list[Statement]:
        """Find what is worth remembering; each statement is the word of those whose lines it rests on."""
        if not any(line.sender_id and line.text.strip() for line in dialogue.messages):
            return []
        sheet = self._progress.find(dialogue, anchors)
        if sheet is None:
            question = await asyncio.to_thread(self._prompts.triage, dialogue.messages, anchors)
            triaged = await self._judging.ask(question)
            sheet, answers = sheet_of(triaged, dialogue, anchors)
            await _note(sheet, answers)
            sheet.calls += 1
        await self._insist(sheet, dialogue, "", dialogue.messages)
        self._progress.settle(anchors.job_id)
        return self._found(sheet)

    async def _insist(self, sheet: Sheet, work: Turn | Dialogue, source: str, lines: Sequence[Message | str]) -> None:
        """Ask until everything is accepted or has been tried often enough.

        The first answer must come; what goes wrong in a later one is a failed try, unless the model is away.
        """
        tries = self._settings.current.historian.rewrite_max_retry + 1
        while sheet.open and sheet.calls < tries:
            self._progress.keep(work, sheet.anchors, sheet)
            question = await asyncio.to_thread(
                self._prompts.rewrite, sheet.tasks(), sheet.anchors, source=source, lines=lines
            )
            try:
                await _note(sheet, await self._rewriting.ask(question))
            except BadAnswer:
                if not sheet.calls:
                    raise
            except (NoModel, PermanentError):
                if not sheet.calls:
                    raise
                break
            sheet.calls += 1

    def _written(self, turn: Turn, sheet: Sheet) -> list[Statement]:
        said = {duplicate_key(matter.text): self._stored(matter, best, sheet) for matter, best in sheet.outcomes()}
        degraded = sum(best is None or not best.verdict.is_absolute for _, best in sheet.outcomes())
        if degraded:
            _warn(sheet, sentences.gate_gave_up(degraded))
        return [said[duplicate_key(observation)] for observation in turn.observations]

    def _found(self, sheet: Sheet) -> list[Statement]:
        outcomes = list(sheet.outcomes())
        found = [(matter, best) for matter, best in outcomes if best is not None]
        degraded = sum(not best.verdict.is_absolute for _, best in found)
        if degraded:
            _warn(sheet, sentences.gate_gave_up(degraded))
        if len(found) < len(outcomes):
            _warn(sheet, sentences.gate_dropped(len(outcomes) - len(found)))
        return [self._stored(matter, best, sheet) for matter, best in found]

    def _stored(self, matter: Matter, best: Attempt | None, sheet: Sheet) -> Statement:
        if best is None:
            text = matter.text if one_line(matter.text) else sentences.nothing_shown()
            return unworded(matter, text, sheet.anchors)
        is_sure = best.statement.confidence >= self._settings.current.historian.min_confidence
        return best.statement if is_sure else replace(best.statement, is_absolute=False, repeats="")


async def _note(sheet: Sheet, answers: Sequence[Said]) -> None:
    """Take an answer in; it is judged in a thread, which changes nothing, so that a job may be cancelled meanwhile."""
    sheet.note(await asyncio.to_thread(sheet.tried, answers))


def _sheet(turn: Turn, anchors: Anchors) -> Sheet:
    """Lay out what is to be rewritten: each observation once, in the words of the scene's person."""
    lines = [line for line in turn.recent_messages if isinstance(line, Message) and line.sender_id]
    speakers = tuple(dict.fromkeys((turn.scene.user_id, *(line.sender_id for line in lines))))
    texts = _once(turn.observations)
    matters = [
        Matter(
            number,
            text,
            text,
            speakers,
            own=turn.scene.user_id,
            heard_as=text if is_timeless(text, called(anchors)) else "",
            message_ids=tuple(turn.message_ids),
        )
        for number, text in enumerate(texts, 1)
    ]
    said = (line if isinstance(line, str) else line.text for line in turn.recent_messages)
    return Sheet(matters, (turn.source_message, *said, *texts), anchors, force=turn.force)


def _once(texts: Sequence[str]) -> list[str]:
    first: dict[str, str] = {}
    for text in texts:
        first.setdefault(duplicate_key(text), text)
    return list(first.values())


def _warn(sheet: Sheet, said: str) -> None:
    log.warning("historian_rewrite job=%s: %s", sheet.anchors.job_id, said)
