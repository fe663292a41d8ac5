"""Changes hot settings of a running bot: by command, and when .env or overrides.json changes.

The files are polled: that also works on network drives and in containers, where notifications of changes do not arrive.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from nonebot import logger

import cognitive_memory_core as core

from . import replies
from .auto_consider import considerer
from .config import ENV_FILES, FIELD, Setup, settings_again, setup
from .lifecycle import get_memory, run_with_bot

POLL = 2.0  # seconds between two looks at the files
LONGEST_POLL = 60.0  # seconds between two looks while they fail
_OUR_LINE = re.compile(rf"^\s*(?:export\s+)?{FIELD}", re.IGNORECASE | re.MULTILINE)


class HotSettings:
    """Applies changed settings to the bot: to what this plugin reads, and to the memory."""

    def __init__(self, setup: Setup, files: Sequence[Path], read: Callable[[], Mapping[str, object]]) -> None:
        """Watch files; ``read`` returns the settings that .env gives now, and raises ValueError or OSError."""
        self._setup = setup
        self._files = files
        self._read = read
        self._one_at_a_time = asyncio.Lock()
        self._known = self._seen = self._used = tuple(map(_text, files))
        self.loop = core.BackgroundLoop("settings", self.look, longest_pause=LONGEST_POLL)

    async def change(self, name: str, text: str) -> core.SettingsMoved:
        """Set one setting and store it; raises BadArgument, StorageRefused."""
        return await self._moved(lambda: self.configuration.change(name, text))

    async def reset(self, name: str) -> core.SettingsMoved:
        """Remove a setting from overrides.json, or all if ``name`` is ""; raises BadArgument, StorageRefused."""
        return await self._moved(lambda: self.configuration.reset(name))

    async def reload(self) -> core.SettingsMoved:
        """Read .env and overrides.json again."""
        return await self._moved(self._reloaded)

    def told(self, result: core.SettingsMoved) -> str:
        """Return what a change did, with the values now; "" if nothing."""
        moved = (*result.changed, *result.shadowed)
        return replies.commands.moved(result, {key: self.configuration.state(key).value for key in moved})

    async def look(self) -> float:
        """Reload if a file has changed and is unchanged since the last poll, so that no half-written file is read.

        Return the seconds until the next look.
        """
        seen = await asyncio.to_thread(lambda: tuple(map(_text, self._files)))
        is_steady, self._seen = seen == self._seen, seen
        if seen == self._known or not is_steady:
            return POLL
        self._known = seen
        result = await self.reload()
        if said := self.told(result):
            logger.log("WARNING" if result.problems else "INFO", replies.log.logged(said))
        return POLL

    @property
    def configuration(self) -> core.Configuration:
        """The settings with their origins; raises BadArgument if they could not be read at the start."""
        if self._setup.configuration is None:
            raise core.BadArgument(replies.commands.NO_CONFIGURATION)
        return self._setup.configuration

    def _reloaded(self) -> core.SettingsMoved:
        texts = tuple(map(_text, self._files))
        try:
            given = self._read()
        except (ValueError, OSError) as unreadable:  # its text may quote a key
            problem = replies.commands.ENV_UNREADABLE.format(reason=type(unreadable).__name__)
            return core.SettingsMoved(problems=(problem,))
        for text, before in zip(texts, self._used, strict=True):  # lost all settings of ours, or ends within a line
            last = text.rpartition("\n")[2]
            is_broken_off = last and any(line.startswith(last) and line != last for line in before.splitlines())
            if is_broken_off or (_OUR_LINE.search(before) and not _OUR_LINE.search(text)):
                return core.SettingsMoved(problems=(replies.commands.ENV_CUT,))
        self._used = texts
        return self.configuration.reload(given)

    async def _moved(self, move: Callable[[], core.SettingsMoved]) -> core.SettingsMoved:
        async with self._one_at_a_time:
            result = await asyncio.to_thread(move)
            self._setup.settings = settings = self.configuration.settings
            considerer.follow(settings.capture)
            await get_memory().configure(settings)
            return result


def _text(file: Path) -> str:
    """Return the content of a file, "" if it is missing or cannot be read."""
    with suppress(OSError):
        return file.read_text("utf-8", "replace")
    return ""


_overrides = setup.configuration.path if setup.configuration else None
_watched = (*ENV_FILES, _overrides) if _overrides else ENV_FILES
hot_settings = HotSettings(setup, _watched, lambda: settings_again(os.environ))
if setup.configuration is not None:
    run_with_bot(hot_settings.loop)
