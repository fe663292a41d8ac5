"""Finds which people's lines support a statement: they say it, or agree to a cited line that says it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...domain.message import Message
from ...text.statements.assent import assents
from ...text.statements.authority import dictates, speaks_for_all

NEAR = 8  # lines before an agreement among which the line that it answers is looked for
_BARE = 8  # characters; an agreement of more says something itself
_THIN = 4  # characters; shorter lines (哈哈, 🎉) are no proposal that somebody answers


@dataclass(frozen=True)
class Support:
    """What one person's cited lines may support: what they say, and the lines that they agree to."""

    said: tuple[str, ...] = ()
    agreed: tuple[str, ...] = ()


@dataclass
class _Growing:
    said: list[str] = field(default_factory=list[str])
    agreed: list[str] = field(default_factory=list[str])


def supports(cited: Sequence[Message], messages: Sequence[Message]) -> Mapping[str, Support]:
    """Return the support of each sender of the cited lines.

    Lines that dictate what the memory should write support nothing. A line that agrees supports only the line that it
    answers, and only if that is cited too: 同意 before a proposal, or to something else, is no consent to it. If a
    cited line speaks for everybody, other people's lines support only by agreeing.
    """
    grown: dict[str, _Growing] = {}
    spokesmen = {line.sender_id for line in cited if speaks_for_all(line.text)}
    ids = {line.id for line in cited}
    for line in (one for one in cited if not dictates(one.text)):
        one = grown.setdefault(line.sender_id, _Growing())
        if assents(line.text):
            answered = _answered_line(line, messages)
            one.agreed += [answered.text] if answered and answered.id in ids and not dictates(answered.text) else []
        may_speak = not spokesmen or line.sender_id in spokesmen
        if may_speak and not _is_bare_agreement(line.text):
            one.said.append(line.text)
    return {sender: Support(tuple(one.said), tuple(one.agreed)) for sender, one in grown.items()}


def _is_bare_agreement(text: str) -> bool:
    return len(text.strip()) <= _BARE and assents(text)


def _answered_line(line: Message, messages: Sequence[Message]) -> Message | None:
    """Return the line that another one replies to, else the nearest proposal before it by somebody else, else None.

    Agreements and very short lines are no proposals.
    """
    if line.reply_to:
        return next((one for one in messages if one.id == line.reply_to), None)
    return next(_proposals_before(line, messages), None)


def _proposals_before(line: Message, messages: Sequence[Message]) -> Iterator[Message]:
    at = next((at for at, one in enumerate(messages) if one.id == line.id), 0)
    for one in reversed(messages[max(at - NEAR, 0) : at]):
        is_of_other = one.sender_id != line.sender_id and bool(one.sender_id)
        if is_of_other and len(one.text.strip()) > _THIN and not assents(one.text):
            yield one
