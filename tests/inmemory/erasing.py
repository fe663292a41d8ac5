"""Removes a person from turns and dialogues that wait."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.domain.turn import Dialogue, Turn
from cognitive_memory_core.text.identity.speakers import is_said_by_hidden

Hide = Callable[[str], str]


def without_person(work: Turn | Dialogue, user_id: str, hide: Hide) -> Turn | Dialogue | None:
    """Return a turn or a dialogue without a person; None if nothing remains."""
    if isinstance(work, Dialogue):
        return _dialogue(work, user_id, hide)
    return None if work.scene.user_id == user_id else _turn(work, user_id, hide)


def names_of(work: Turn | Dialogue, user_id: str) -> set[str]:
    """Return the names that a person has in a turn or a dialogue."""
    return {scene.user_name for scene in _scenes(work) if scene.user_id == user_id and scene.user_name}


def _turn(turn: Turn, user_id: str, hide: Hide) -> Turn:
    return replace(
        turn,
        scene=_placed(turn.scene, hide),
        memo=hide(turn.memo),
        observations=tuple(hide(text) for text in turn.observations),
        perspective=None if turn.perspective is None else hide(turn.perspective),
        source_message=hide(turn.source_message),
        recent_messages=tuple(_lines(turn.recent_messages, user_id, hide)),
        request_id=None if turn.request_id is None else hide(turn.request_id),
    )


def _dialogue(dialogue: Dialogue, user_id: str, hide: Hide) -> Dialogue | None:
    left = [line for line in _lines(dialogue.messages, user_id, hide) if isinstance(line, Message)]
    people = [line.scene for line in left if not line.is_bot]
    is_theirs = dialogue.scene.user_id == user_id
    if (is_theirs or len(left) != len(dialogue.messages)) and not people:
        return None
    return Dialogue(people[-1] if is_theirs else _placed(dialogue.scene, hide), left)


def _lines(lines: Iterable[Message | str], user_id: str, hide: Hide) -> Iterator[Message | str]:
    for line in lines:
        if isinstance(line, str):
            if not is_said_by_hidden(line, hide):
                yield hide(line)
        elif line.scene.user_id != user_id:
            yield replace(line, text=hide(line.text), scene=_placed(line.scene, hide))


def _placed(scene: Scene, hide: Hide) -> Scene:
    """Hide the person in the name of the place; names of other people are kept."""
    return replace(scene, group_name=hide(scene.group_name))


def _scenes(work: Turn | Dialogue) -> Iterator[Scene]:
    lines = work.recent_messages if isinstance(work, Turn) else work.messages
    yield work.scene
    yield from (line.scene for line in lines if isinstance(line, Message))
