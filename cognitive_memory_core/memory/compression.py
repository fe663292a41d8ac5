"""Fits a long dialogue into a token budget: summarises the oldest lines and keeps the newest unchanged."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from .. import sentences
from ..domain.job import JobContext
from ..domain.message import Message
from ..domain.people import Person
from ..domain.scope import Scope
from ..domain.turn import Dialogue, Turn
from ..errors import BadAnswer, BadArgument
from ..ports import Chat
from ..prompts.library import PromptLibrary
from ..settings.schema import Live, Settings
from ..tasks import AWAY, with_timeout
from ..text.cleaning import described, plain
from ..text.fences import defused
from ..text.ids import foreign_ids, ids_by_name
from ..text.names import clean_name
from ..text.tokens import sentences_of, token_count

log = logging.getLogger(__name__)
PATIENCE = 60.0  # seconds for all model calls of one compression
MOST_LINES = 2_000  # the newest ones are kept
LINE = 4_000  # characters read of each line
SUMMARY_SHARE = 0.4
SHORTEST_SUMMARY, LONGEST_SUMMARY = 60, 1_200  # tokens; bounds of the length that a model is asked for
_CLAUSE_ENDS = re.compile("(?<=[；;])|(?<=[.] )")
_INNER = str.maketrans("「」", "『』")
Admit = Callable[[Turn | Dialogue], Turn | Dialogue]


async def compressed(
    lines: Sequence[Message], budget: int, summariser: ModelSummariser | None = None, hide: Callable[[str], str] = str
) -> str:
    """Return a summary of older lines and the newest lines as ``name(id)：text``, in at most ``budget`` tokens.

    Without a summariser, or if it fails, only the newest lines that fit are returned. ``hide`` redacts the summary. A
    short summary leaves room for more lines, some of which it may cover, too.
    """
    cut = [replace(line, text=line.text[:LINE]) for line in lines]
    said = await asyncio.to_thread(lambda: [(line, shown) for line in cut if (shown := _shown(line))])
    costs = [token_count(f"{shown}\n") for _, shown in said]
    kept, room = _newest(costs, budget), min(int(budget * SUMMARY_SHARE), LONGEST_SUMMARY)
    summary = ""
    if summariser and kept and room >= SHORTEST_SUMMARY:
        last = _newest(costs, budget - room)
        before, spare = [line for line, _ in said[:last]], min(budget - sum(costs[last:]), LONGEST_SUMMARY)
        if summary := await _summary(summariser, hide, before, spare):
            kept = _newest(costs, budget - token_count(f"{summary}\n"))
    if said and kept == len(said) and not summary:
        return _first(sentences_of(said[-1][1]), budget)
    return "\n".join((*filter(None, (summary,)), *(shown for _, shown in said[kept:])))


async def _summary(summariser: ModelSummariser, hide: Callable[[str], str], lines: Sequence[Message], room: int) -> str:
    """Return the summary to show, in whole sentences of at most ``room`` tokens in all; "" if there is none.

    It is put inside quotation marks that it cannot close, so that a command in the chat is not read as a command.
    """
    inside = room - token_count(sentences.context.SUMMED_UP.format(summary="\n"))
    try:
        written = await with_timeout(PATIENCE, summariser.summary(lines, inside))
        fitting = whole = hide(defused(written)).translate(_INNER)
        if not any(map(str.isalnum, whole)):
            raise BadAnswer(sentences.models.ANSWER_WITHOUT.format(member="summary"))
        if token_count(whole) > inside:  # cut at a full stop or a semicolon
            clauses = (part for one in sentences_of(whole) for part in _CLAUSE_ENDS.split(one))
            fitting = _first(clauses, inside)
            fitting = f"{fitting[:-1]}。" if fitting.endswith("；") else fitting.rstrip()
        if len(fitting) * 2 < len(whole):
            raise BadAnswer(sentences.models.SUMMARY_TOO_LONG.format(tokens=inside))
    except AWAY as failure:
        log.warning("%s", sentences.log.NOT_COMPRESSED.format(reason=described(failure)))
        return ""
    return sentences.context.SUMMED_UP.format(summary=fitting)


def checked_dialogue(messages: Iterable[object]) -> tuple[Message, ...]:
    """Return the distinct messages, oldest first; raises BadArgument if one of them is no Message."""
    once: dict[tuple[Scope, str], Message] = {}
    for message in messages:
        if not isinstance(message, Message):
            raise BadArgument(sentences.caller.bad_value("messages", message, "一列 Message"))
        once.setdefault((message.scene.scope, message.id), message)
    return tuple(sorted(once.values(), key=lambda message: message.sent_at)[-MOST_LINES:])


def admitted(lines: Sequence[Message], admit: Admit) -> tuple[Message, ...]:
    """Return the lines that ``admit`` keeps, oldest first; it is called once for the lines of each place."""
    scopes = dict.fromkeys(line.scene.scope for line in lines)
    left: list[Message] = []
    for scope in scopes:
        here = [line for line in lines if line.scene.scope == scope]
        work = admit(Dialogue(here[0].scene, here))
        left += work.messages if isinstance(work, Dialogue) else ()
    return tuple(sorted(left, key=lambda line: line.sent_at))


def _shown(line: Message) -> str:
    """Render a line with its speaker; "" for one without words."""
    if not (text := defused(line.text)):
        return ""
    speaker = sentences.context.THE_BOT if line.is_bot else sentences.context.SOMEBODY
    if line.sender_id:
        speaker = defused(Person(line.sender_id, clean_name(line.scene.user_name)).label)
    return sentences.context.SPOKEN.format(speaker=speaker, text=text)


def _newest(costs: Sequence[int], room: int) -> int:
    """Return the index of the first of the newest lines that fit in ``room`` tokens together, each whole."""
    at = len(costs)
    while at and (room := room - costs[at - 1]) >= 0:
        at -= 1
    return at


def _first(parts: Iterable[str], room: int) -> str:
    """Join the leading parts that fit in ``room`` tokens."""
    fitting = ""
    for part in parts:
        room -= token_count(part)
        if room < 0:
            break
        fitting += part
    return fitting


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
        summary, pieces = "", list(_pieces(lines))[-MOST_PIECES:]
        for piece in pieces:
            room = tokens if piece is pieces[-1] else max(tokens, PASSED_ON)
            last, speakers = piece[-1], [line.scene for line in piece if line.sender_id]
            speaker, when = (speakers or [last.scene])[0], last.sent_at.astimezone(self.settings.current.zone)
            asker = Person(speaker.user_id, speaker.user_name)
            anchors = JobContext(when, last.scene.scope, last.scene.group_name, asker)
            most = max(int(room * CHARACTERS), 1)
            ask = await asyncio.to_thread(self.prompts.compress, piece, anchors, max_chars=most, earlier=summary)
            written = await self.chat.ask(ask)
            await asyncio.to_thread(_check_ids, written, piece, ask.prompt)
            summary = written
        return summary


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
    speakers = [Person(line.sender_id, clean_name(line.scene.user_name)) for line in lines if line.sender_id]
    written, ids = plain(summary), {person.id for person in speakers}
    if foreign := foreign_ids(written, [plain(prompt)], ids_by_name(speakers, written), ids):
        raise BadAnswer(sentences.models.SUMMARY_REFUSED.format(ids="、".join(map(sentences.settings.shown, foreign))))
