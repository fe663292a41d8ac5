"""Messages of events, each line once however many accounts of this bot hear it, and what was heard lately.

In memory only: names, for mentions without them; who said which line; what lay before the model for an answer of the
bot. Copies: a platform gives a line another id for each account, and a slow connection delivers it later. But each
account hears each line once: if another account heard a line that this one has not heard, with the same place, speaker
and text and nearly the same time, the two are copies. So if a person says the same thing twice, both lines are
recorded, whichever account hears them first. They are recorded as one only if they come within a minute and each of two
accounts missed one of them. With ``isolate_bots`` each account has places of its own, so what two accounts hear is
recorded twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone

from nonebot.adapters import Bot, Event

import cognitive_memory_core as core

from .erasure import on_erased
from .limits import Lasting, Newest
from .onebot import v11, v12, worded
from .scene import fields_of, find_scene, line_id

HOUR = 3_600.0
ANSWERED_WITHIN = 300.0  # seconds after a context in which its answer is sent
Sources = tuple[str, ...]
_names: Newest[tuple[core.Scope, str], core.Scene] = Newest(10_000)
_lines: Newest[tuple[core.Scope, str], tuple[str, datetime]] = Newest(2_000)  # person, time


def note_name(scene: core.Scene) -> None:
    """Store the name of a scene's person in this place."""
    if scene.user_name:
        _names[scene.scope, scene.user_id] = scene


def name_of(scene: core.Scene, user_id: str) -> str:
    """Return the name of a person in the scene's place; "" if the person was not heard there lately."""
    known = _names.get((scene.scope, user_id))
    return known.user_name if known else ""


def note_line(message: core.Message) -> None:
    """Store the sender and time of a message, recorded or not, while the bot may still answer it."""
    _lines[message.scene.scope, message.id] = message.scene.user_id, message.sent_at


def find_line(scene: core.Scene, message_id: str) -> tuple[core.Scene, datetime] | None:
    """Return the scene (place and sender) and the time of a message; None if it is not among the last lines."""
    said_by, sent_at = _lines.get((scene.scope, message_id), ("", None))
    nameless = replace(scene, user_id=said_by, user_name="", nickname="", is_admin=False) if said_by else None
    return (nameless, sent_at) if nameless and sent_at else None


async def forget(is_erased: Callable[[core.Scene], bool]) -> None:
    """Drop the names heard in a scene for which ``is_erased`` is true."""
    for key in [key for key, scene in _names.items() if is_erased(scene)]:
        del _names[key]


on_erased(forget)


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


LINES, REPEATED = 2_000, 50  # sayings, and lines in which a person says the same in a place
APART = timedelta(seconds=60)  # between the times that two accounts report for one line
_Key = tuple[Hashable, str, int]  # place, speaker, hash of the text


@dataclass
class _RecordedLine:
    """A line, the id under which it is recorded, and for each account that heard it the id that this account has."""

    id: str
    sent_at: datetime
    number: str = ""  # of the line in its group, the same for every account; few platforms tell it
    heard: dict[str, str] = field(default_factory=dict[str, str])


class LineCopies:
    """The last lines heard, by place, speaker and text, with their ids; in memory only, texts as hashes."""

    def __init__(self, limit: int = LINES) -> None:
        """Keep at most ``limit`` sayings, and as many other ids."""
        self._sayings: Newest[_Key, list[_RecordedLine]] = Newest(limit)
        self._first: Newest[tuple[core.Scope, str], str] = Newest(limit)

    def first_id(self, message: core.Message, account: str, words: str, *, number: str = "") -> str:
        """Return the id under which a line is recorded: its own, or that of the copy that another account heard first.

        ``words`` is the text as every account sees it; ``number`` is the line's number in its group if the platform
        tells it. Call this for each line that an account hears; a line that is delivered again gets the same id.
        """
        key = message.scene.scope, message.scene.user_id, hash(words)
        known, near = self._sayings.get(key, [])[-REPEATED:], list[tuple[timedelta, _RecordedLine]]()
        saying = next((one for one in known if message.id in (one.heard.get(account), one.id)), None)
        for one in known if saying is None else ():
            apart = abs(one.sent_at - message.sent_at)
            is_copy = one.number == number if one.number and number else apart <= APART
            near += [(apart, one)] if is_copy and account not in one.heard else []
        if saying is None and near:
            saying = min(near, key=lambda pair: pair[0])[1]
        elif saying is None:
            saying = _RecordedLine(message.id, message.sent_at, number)
            self._sayings[key] = [*known, saying]
        saying.heard.setdefault(account, message.id)
        if saying.id != message.id:
            self._first[message.scene.scope, message.id] = saying.id
        return saying.id

    def known_id(self, scene: core.Scene, message_id: str) -> str:
        """Return the id under which a line was recorded, given the id that one of the accounts has for it."""
        return self._first.get((scene.scope, message_id), message_id)


line_copies = LineCopies()


NUMBER_LENGTH = 20  # digits


def find_message(bot: Bot, event: Event) -> core.Message | None:
    """Return the message of an event; None if it has no message or no sender."""
    scene = find_scene(bot, event)
    if scene is None or (not isinstance(event, v11.MessageEvent) and not isinstance(event, v12.MessageEvent)):
        return None
    note_name(scene)
    own_id = str(event.self_id) if isinstance(event, v11.MessageEvent) else event.self.user_id
    wording = worded(event.original_message, own_id, lambda user_id: name_of(scene, user_id))
    return core.Message(
        line_copies.known_id(scene, line_id(event.message_id)),
        scene,
        wording.text,
        sent_at(event),
        reply_to=line_copies.known_id(scene, line_id(wording.reply_to)) if wording.reply_to else None,
        addressed_to_bot=event.is_tome(),
        number=line_number(fields_of(event)) if scene.group_id else "",
    )


def line_number(fields: Mapping[str, object]) -> str:
    """Return the number of a line in its group, which is the same for every account; "" if the platform tells none.

    Some ends fill ``message_seq`` with the id that one account has for the line.
    """
    for number in (fields.get("real_seq"), fields.get("message_seq")):
        text = str(number) if isinstance(number, int | str) else ""
        if text.isdigit() and text.strip("0") and text != str(fields.get("message_id")):
            return text[:NUMBER_LENGTH]
    return ""


def sent_at(event: v11.Event | v12.Event) -> datetime:
    """Return when an event took place, with a zone; a time outside the calendar becomes now."""
    if isinstance(event.time, datetime):
        return event.time if event.time.tzinfo else event.time.replace(tzinfo=timezone.utc)
    try:
        return datetime.fromtimestamp(event.time, tz=timezone.utc)
    except (OverflowError, OSError, ValueError):
        return datetime.now(timezone.utc)


def plain_text(event: Event) -> str:
    """Return the text of an event's message in the form that chat plugins get; "" if there is none."""
    return event.get_plaintext() if event.get_type() == "message" else ""
