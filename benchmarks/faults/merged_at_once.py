"""F23: two merges of one profile at once, while somebody edits its file by hand."""

from __future__ import annotations

import asyncio
import random
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from cognitive_memory_core.domain.profile import Profile, ProfileKey
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.historian.merging import EntityMerge, ProfileMerging
from cognitive_memory_core.ports import MergedLines, MergeInput
from cognitive_memory_core.profiles.files import FileProfiles, Overtaken
from cognitive_memory_core.settings.schema import HistorianSettings, Live, ProfileSettings, Settings
from cognitive_memory_core.store.ledger import Ledger
from tests.support.builders import a_draft, an_event
from tests.support.clock import SHANGHAI, FrozenClock
from tests.support.disk import FaultyDisk
from tests.support.ledgers import a_fact
from tests.support.merging import ScriptedMerger
from tests.support.profiles import (
    KEEP,
    opened,
)

from ..fault_row import Extent, Row, Seen

KEY = ProfileKey.member("10001", "2000001")
SCENE = Scene.group(KEY.group_id, KEY.user_id, user_name="阿棠")
FACTS = 30  # told in one round, while both mergers work
EDITED = 0.02  # share of the disk's operations before which the admin edits
SLOWEST = 0.004  # seconds that a model takes in these rounds
ENOUGH = 60.0  # seconds per round


def f23(extent: Extent) -> Row:
    """Let two mergers and an admin write one profile at once."""
    rounds, seen = extent.of(60, 4), Seen()
    for number in range(rounds):
        asyncio.run(_merged_at_once(extent.seed + number, seen))
    is_idle = not (seen["overtaken"] and seen["edits by hand"])
    return seen.row(seen["merges"] + seen["edits by hand"], f"{rounds} rounds, {rounds * FACTS} facts", failed=is_idle)


class AdminsDisk(FaultyDisk):
    """A disk before whose operations somebody adds a line to a profile by hand.

    No edit happens between the last read of the file and its rename, where no program could detect it.
    """

    def __init__(self, file: Path, dice: random.Random) -> None:
        """Edit one file."""
        super().__init__()
        self.words: list[str] = []
        self._file = file
        self._draft = file.with_name(file.name + ".tmp")
        self._dice = dice
        self._hand = threading.RLock()
        self._looks = threading.local()

    def read(self, path: Path) -> bytes:
        """Block the admin from the last read of the file on."""
        if path == self._file and getattr(self._looks, "has_draft", False):
            self._edit_perhaps()
            self._hand.acquire()
            self._looks.has_draft, self._looks.is_last = False, True
        return super().read(path)

    def discard(self, path: Path) -> None:
        """Unlink a draft and unblock the admin."""
        super().discard(path)
        self._let_in()

    def act(self, operation: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Let the admin edit at random, then do the operation."""
        if not self._is_last_look:
            self._edit_perhaps()
        if operation == "open" and args[0] == self._draft:
            self._looks.has_draft = True
        try:
            return super().act(operation, call, *args, **kwargs)
        finally:
            if operation == "replace" and args[0] == self._draft:
                self._let_in()

    @property
    def _is_last_look(self) -> bool:
        return getattr(self._looks, "is_last", False)

    def _let_in(self) -> None:
        self._looks.has_draft = False
        if self._is_last_look:
            self._looks.is_last = False
            self._hand.release()

    def _edit_perhaps(self) -> None:
        with self._hand:
            if self._dice.random() < EDITED and self._file.exists():
                word = f"手改{len(self.words)}。"
                self._lay(f"{word}\n".encode(), in_place=self._dice.random() < 0.5)
                self.words.append(word)

    def _lay(self, line: bytes, *, in_place: bool) -> None:
        """Add a line atomically: to the file itself, or to a copy that then replaces it."""
        other = self._file if in_place else self._file.with_name("by-hand.swp")
        if not in_place:
            other.write_bytes(self._file.read_bytes())
        with other.open("ab", buffering=0) as file:
            file.write(line)
        if not in_place:
            other.replace(self._file)


class _Watched(FileProfiles):
    """A store that counts writes rejected because of a newer version."""

    overtaken = 0

    def put(self, profile: Profile) -> Profile:
        """Write, or count the rejection."""
        try:
            return super().put(profile)
        except Overtaken:
            self.overtaken += 1
            raise


class _SlowMerger(ScriptedMerger):
    """Appends facts to a profile after a random pause."""

    async def merge(self, given: MergeInput, now: datetime) -> MergedLines:
        """Return the facts as lines."""
        self.seconds = random.random() * SLOWEST
        return await super().merge(given, now)


async def _merged_at_once(seed: int, seen: Seen) -> None:
    """Run two loops that merge the same facts into one profile while facts arrive and the file is edited.

    An edit may come before any operation of the disk, but not between the last look at the file and its rename.
    """
    dice, clock, hurried = random.Random(seed), FrozenClock(), ProfileSettings(merge_delay_seconds=0)
    live = Live(Settings(profile=hurried, historian=HistorianSettings(concurrency=2)))
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        disk = AdminsDisk(data / "profiles" / "members" / KEY.group_id / f"{KEY.user_id}.md", dice)
        store = _Watched(data, KEEP, clock, SHANGHAI, disk=disk)
        ledger = await Ledger.open(data / "ledger.db", clock=clock)
        mergers = [_SlowMerger(), _SlowMerger()]
        tables = (ledger, live, clock)
        idle: Any = {"group_names": {}, "is_left_out": lambda _: False, "on_written": lambda: None}
        mergings = [ProfileMerging(EntityMerge(merger, store, *tables, **idle)) for merger in mergers]
        for merging in mergings:
            merging.loop.start()
        facts = await _told(ledger, mergings, clock, dice)
        seen["stuck"] += await _settled(mergings, clock)
        await ledger.close()
        found = await opened(data, days=2).find(KEY)
    summary = [line.removeprefix("- ") for line in found.summary.split("\n")] if found else []
    for one in (*facts, *disk.words):
        if one not in summary:
            seen.wrong("lost", f"seed {seed}: {one}")
    merges = sum(len(merger.merged) for merger in mergers)
    seen.update({"merges": merges, "edits by hand": len(disk.words), "overtaken": store.overtaken})


async def _told(
    ledger: Ledger, mergings: Sequence[ProfileMerging], clock: FrozenClock, dice: random.Random
) -> list[str]:
    facts = [f"第{number}件事。" for number in range(FACTS)]
    for text in facts:
        event = an_event(text, SCENE, happened_at=clock.now())
        await ledger.events.commit(replace(a_draft(event), facts=(a_fact(event, KEY),)))
        clock.advance(seconds=30)
        for merging in mergings:
            merging.nudge()
            merging.wake_now()
        await asyncio.sleep(dice.random() * 0.03)
    return facts


async def _settled(mergings: Sequence[ProfileMerging], clock: FrozenClock) -> int:
    """Hurry until nothing waits; return how many facts are left."""
    until = time.monotonic() + ENOUGH
    while (waiting := await mergings[0].waiting()) and time.monotonic() < until:
        clock.advance(seconds=600)
        for merging in mergings:
            merging.wake_now()
        await asyncio.sleep(0.02)
    for merging in mergings:
        await merging.loop.stop()
    return sum(one.facts for one in waiting)
