"""A34: lines that were said before come in, and nothing that would not have been recorded when it was said."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import cognitive_memory_core as core
from tests.support.chat_files import FORMATS, chat
from tests.support.clock import FrozenClock

from ..fault_row import Extent, Row, Seen
from . import world
from .bots import rows_of

PEOPLE, GROUP = [f"200000{number}" for number in range(6)], "10001"
SETTINGS = core.Settings.from_mapping(world.EXACT)
LIVES, LINES, KILLED = 20, 300, 3_000
RUN = "import sys; from cognitive_memory_core.cli import main; sys.exit(main(sys.argv[1:]))"


async def a34(extent: Extent) -> Row:
    """Live through changes of consent, then take in the whole history; import files, killed in the middle."""
    seen, injected = Seen(), 0
    for seed in range(extent.of(LIVES, 2)):
        life = _Life(random.Random(f"{extent.seed}-{seed}"))
        with tempfile.TemporaryDirectory() as folder:
            await life.lived(Path(folder), extent.of(LINES, 120))
            life.judge(_texts(Path(folder)), seen)
            injected += life.changes
    for name in FORMATS:
        with tempfile.TemporaryDirectory() as folder:
            _kill(name, Path(folder), extent.of(KILLED, 300), seen)
            injected += 1
    return seen.row(injected, f"{extent.of(LIVES, 2)} lives, {len(FORMATS)} formats of files")


@dataclass
class _Life:
    """What is said in a group while people and admins change what may be recorded; the bot hears half of it."""

    rng: random.Random
    said: list[core.Message] = field(default_factory=list[core.Message])
    barred: set[str] = field(default_factory=set[str])  # texts that must not be recorded
    changed: dict[str, datetime] = field(default_factory=dict[str, datetime])  # of a person, or of the place ("")
    out: set[str] = field(default_factory=set[str])  # people whose opt-out stands
    changes: int = 0

    async def lived(self, folder: Path, lines: int) -> None:
        """Say the lines, then take in all of them again, page by page, twice, the second time under other ids."""
        clock = FrozenClock(datetime.now(timezone.utc) - timedelta(days=30))
        async with core.CognitiveMemory.open(SETTINGS, folder, background=False, clock=clock) as memory:
            for number in range(lines):
                clock.advance(seconds=self.rng.randint(30, 1_200))
                scene = core.Scene.group(GROUP, self.rng.choice(PEOPLE))
                if self.rng.random() < 0.15:
                    await self._changed(memory, scene, clock)
                line = core.Message(f"m{number}", scene, f"第 {number} 句", clock.instant, number=str(5_000 + number))
                self.said.append(line)
                if not await memory.may_record(scene, clock.instant):
                    self.barred.add(line.text)
                if self.rng.random() < 0.5:
                    await memory.observe(line)
            clock.advance(minutes=5)
            for prefix in ("", "x"):
                said = [replace(line, id=f"{prefix}{line.id}") for line in self.said]
                for last in range(len(said), 0, -50):
                    await memory.backfill(said[max(last - 50, 0) : last])

    async def _changed(self, memory: core.CognitiveMemory, scene: core.Scene, clock: FrozenClock) -> None:
        """Change something about a person or the place, at random."""
        self.changes += 1
        match self.rng.randrange(7):
            case 0:
                await memory.opt_out(scene.user_id)
                self.out.add(scene.user_id)
            case 1 | 2:
                await memory.opt_in(scene.user_id)
                self.out.discard(scene.user_id)
                self.changed[scene.user_id] = clock.instant
            case 3:
                until = clock.instant + timedelta(minutes=self.rng.randint(5, 120))
                await memory.set_switch(scene, self.rng.choice(("off", "recall_only")), until=until)
                self.changed[""] = until
            case 4:
                await memory.set_switch(scene, "on")
                self.changed[""] = max(clock.instant, self.changed.get("", clock.instant))
            case 5:
                await memory.incognito(scene, self.rng.randint(5, 120))
            case _:
                for line in self.said[-2:]:
                    await memory.recall_message(line.scene, line.id)
                    self.barred.add(line.text)

    def judge(self, logged: Counter[str], seen: Seen) -> None:
        """Count what is in the log and must not be as lost, what is there twice, and what is missing as stuck."""
        wanted = {
            line.text
            for line in self.said
            if line.text not in self.barred
            and line.scene.user_id not in self.out
            and all(line.sent_at > self.changed[one] for one in (line.scene.user_id, "") if one in self.changed)
        }
        twice = logged.total() - len(logged)
        seen.update(lost=len(self.barred & set(logged)), twice=twice, stuck=len(wanted - set(logged)))


def _texts(data_dir: Path) -> Counter[str]:
    return Counter(text for (text,) in rows_of(data_dir, "SELECT text FROM messages")[0])


def _kill(name: str, folder: Path, lines: int, seen: Seen) -> None:
    """Import a file, killed at a random moment, then again; every line of people must be there once."""
    (folder / "chat").mkdir()
    (folder / ".env").write_text("LOCALSTORE_USE_CWD=true\n", "utf-8")
    start = datetime.now(timezone.utc).replace(microsecond=0) - timedelta(days=5)
    said = [line for line in chat(lines, start) if line.sender != "2000000"]
    file = FORMATS[name](folder / "chat", chat(lines, start))
    words = ("import-chat", str(file), "--env", str(folder / ".env"), "--group", GROUP, "--bot", "2000000")
    data_dir = folder / "data" / "nonebot_plugin_cognitive_memory"
    first = subprocess.Popen([sys.executable, "-c", RUN, *words], cwd=folder, stdout=subprocess.DEVNULL)
    while first.poll() is None:
        with suppress(sqlite3.Error):
            if _texts(data_dir):
                break
        time.sleep(0.02)
    first.send_signal(signal.SIGKILL)
    first.wait()
    done = subprocess.run([sys.executable, "-c", RUN, *words], cwd=folder, capture_output=True, check=False)
    logged = _texts(data_dir)
    twice = logged.total() - len(logged)
    seen.update(twice=twice, stuck=sum(not logged[line.text] for line in said) + done.returncode)
