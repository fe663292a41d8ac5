"""A file that lists the lines to be handed to the memory, so that a bot that was killed finds them in its log.

The file holds message ids only: texts that were withdrawn, erased or opted out of meanwhile are no longer in the log.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cognitive_memory_core as core

from .json_file import replace_json
from .scene import scene_at

FILE = "considering.json"
MOST_BYTES = 16 * 1024 * 1024
_NOBODY = "0"  # user id used where only the group matters


@dataclass(frozen=True)
class WaitingPlace:
    """The collected lines of one place; ``user_id`` is "" for a group."""

    agent: str
    group_id: str
    user_id: str
    line_ids: tuple[str, ...]

    @classmethod
    def of(cls, scene: core.Scene, line_ids: Sequence[str]) -> WaitingPlace:
        """Build from a scene and the ids of lines there."""
        return cls(scene.agent, scene.group_id, "" if scene.group_id else scene.user_id, tuple(line_ids))

    def is_of(self, is_erased: Callable[[core.Scene], bool]) -> bool:
        """Return whether the lines of this place were erased, that is, ``is_erased`` is true for its scene."""
        scene = scene_at(self.agent, self.group_id, self.user_id or _NOBODY)
        return scene is not None and is_erased(scene)

    async def lines(self, memory: core.CognitiveMemory) -> list[core.Message]:
        """Return the lines that are still to be handed to the memory, oldest first.

        Left out are lines that the log no longer has, and lines that a turn, dialogue or event covers by now.
        """
        scene = scene_at(self.agent, self.group_id, self.user_id or _NOBODY)
        wanted = [line_id for line_id in self.line_ids if line_id]
        return await unlearned(memory, scene, await memory.find_messages(scene, wanted)) if scene else []


class WaitingLinesFile:
    """Reads and writes the list of waiting lines in its file.

    A power cut may lose the last half second or the whole file, which then counts as empty.
    """

    def __init__(self, path: Path) -> None:
        """Keep the list in the file at ``path``."""
        self._path = path
        self._turn = threading.Lock()  # a write whose task was cancelled continues in its thread

    async def read(self) -> list[WaitingPlace]:
        """Return the places of the last write; empty if the file is missing or invalid."""
        return await asyncio.to_thread(self._read)

    async def write(self, waiting: Sequence[WaitingPlace]) -> None:
        """Replace the content of the file, or remove the file if nothing waits; raises OSError."""
        await asyncio.to_thread(self._write, [vars(place) for place in waiting])

    def _read(self) -> list[WaitingPlace]:
        try:
            if self._path.stat().st_size > MOST_BYTES:
                return []
            written: Any = json.loads(self._path.read_text("utf-8"))
            return [_waiting(**place) for place in written]
        except (OSError, ValueError, TypeError, RecursionError):
            return []

    def _write(self, waiting: Sequence[object]) -> None:
        with self._turn:
            if waiting:
                replace_json(self._path, waiting)
            else:
                self._path.unlink(missing_ok=True)


async def unlearned(
    memory: core.CognitiveMemory, scene: core.Scene, lines: Sequence[core.Message]
) -> list[core.Message]:
    """Drop people's lines that a turn, dialogue or event already covers; keep the bot's lines, which are context."""
    known = await memory.learned_messages(scene, [line.id for line in lines if not line.is_bot])
    return [line for line in lines if line.is_bot or line.id not in known]


def _waiting(*, agent: object, group_id: object, user_id: object, line_ids: object) -> WaitingPlace:
    """Parse one place; raises TypeError for an invalid one."""
    if not isinstance(line_ids, list):
        raise TypeError
    return WaitingPlace(str(agent), str(group_id), str(user_id), tuple(map(str, line_ids)))
