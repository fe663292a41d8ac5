"""Summarises long dialogues with a chat model, piece by piece, oldest first."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .. import sentences
from ..domain.message import Message
from ..domain.people import JobContext, Person
from ..errors import BadAnswer
from ..ports.models import Chat
from ..prompts.library import PromptLibrary
from ..settings import Live, Settings
from ..text.identity.name_cleaning import clean_name
from ..text.identity.written_ids import mislabelled, plain, short_form, strange_numbers, unnamed

PIECE_LINES, PIECE_LENGTH = 150, 12_000  # of one question; PIECE_LENGTH in characters
MOST_PIECES = 8  # the newest ones; older lines are left out
CHARACTERS = 0.85  # characters per token: rare characters cost more than one token, and models count imprecisely
PASSED_ON = 600  # least tokens of an intermediate summary


@dataclass(frozen=True)
class ModelSummariser:
    """Asks a chat model for the summary; each piece is summarised together with the summary of the pieces before it."""

    chat: Chat
    prompts: PromptLibrary
    settings: Live[Settings]

    async def summary(self, lines: Sequence[Message], tokens: int) -> str:
        """Summarise a dialogue in about ``tokens`` tokens; raises as :meth:`Chat.ask`, or BadAnswer for unknown ids."""
        summary = ""
        pieces = list(_pieces(lines))[-MOST_PIECES:]
        for piece in pieces:
            room = tokens if piece is pieces[-1] else max(tokens, PASSED_ON)
            ask = await asyncio.to_thread(
                self.prompts.compress,
                piece,
                self._anchors(piece),
                max_chars=max(int(room * CHARACTERS), 1),
                earlier=summary,
            )
            written = await self.chat.ask(ask)
            await asyncio.to_thread(_check_ids, written, piece, ask.prompt)
            summary = written
        return summary

    def _anchors(self, lines: Sequence[Message]) -> JobContext:
        scene = lines[-1].scene
        speaker = next((line.scene for line in lines if line.sender_id), scene)
        when = lines[-1].sent_at.astimezone(self.settings.current.zone)
        return JobContext(when, scene.scope, scene.group_name, Person(speaker.user_id, speaker.user_name))


def _pieces(lines: Sequence[Message]) -> Iterator[list[Message]]:
    """Split a dialogue into pieces that a prompt shows in full, unless a single line is too long for one."""
    piece: list[Message] = []
    length = 0
    for line in lines:
        if piece and (len(piece) == PIECE_LINES or length + len(line.text) > PIECE_LENGTH):
            yield piece
            piece, length = [], 0
        piece.append(line)
        length += len(line.text)
    if piece:
        yield piece


def _check_ids(summary: str, lines: Sequence[Message], prompt: str) -> None:
    """Raise BadAnswer for a summary with unknown ids, or with one person's id behind another person's name."""
    ids_by_name: dict[str, set[str]] = {}
    for line in lines:
        if line.sender_id and (name := clean_name(line.scene.user_name)):
            for form in (name, short_form(name)):
                ids_by_name.setdefault(form, set()).add(line.sender_id)
    ids = {line.sender_id for line in lines if line.sender_id}
    written = plain(summary)
    strange = strange_numbers(unnamed(written, ids_by_name), plain(prompt), ids)
    foreign = (*strange, *mislabelled(written, ids_by_name, ids))
    if foreign:
        raise BadAnswer(sentences.models.summary_refused(foreign))
