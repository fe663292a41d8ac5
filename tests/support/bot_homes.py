"""A bot's directory as the command line meets it: .env, and a data directory that a bot has filled."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

import pytest

import cognitive_memory_core as core
from cognitive_memory_core.cli import main

ENV = ("LOCALSTORE_USE_CWD=true", "COGNITIVE_MEMORY__VECTOR_STORE__BACKEND=exact", 'SUPERUSERS=["10001"]')
GROUP, PERSON = "20001", "30001"
SETTINGS = core.Settings.from_mapping({"vector_store": {"backend": "exact"}})
HOLDER = """
import asyncio, sys
import cognitive_memory_core as core
async def main():
    settings = core.Settings.from_mapping({"vector_store": {"backend": "exact"}})
    async with core.CognitiveMemory.open(settings, sys.argv[1]):
        print("open", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
asyncio.run(main())
"""


@dataclass
class BotHome:
    """A bot's directory in which the command line is run."""

    path: Path
    capsys: pytest.CaptureFixture[str]

    @property
    def data_dir(self) -> Path:
        """Return the data directory."""
        return self.path / "data" / "nonebot_plugin_cognitive_memory"

    def write_env(self, *lines: str) -> None:
        """Replace .env."""
        (self.path / ".env").write_text("\n".join(lines) + "\n", "utf-8")

    def run(self, *words: str) -> tuple[int, str, str]:
        """Run the command on this directory; return status, standard output and standard error."""
        self.capsys.readouterr()
        try:
            status = main([words[0], "--env", str(self.path / ".env"), *words[1:]])
        except SystemExit as left:
            status = int(left.code or 0)
        shown = self.capsys.readouterr()
        return status, shown.out, shown.err

    def told(self, *words: str) -> object:
        """Run the command with --json; return what it prints, which must be one line."""
        status, out, err = self.run(*words, "--json")
        assert (status, err, out.count("\n")) == (0, "", 1), (status, out, err)
        return json.loads(out)

    def fill(self) -> None:
        """Let a bot remember, log and pin something."""
        asyncio.run(_filled(self.data_dir))

    def listed(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return the names of the people, and those of the places, that the operator's lists show, by id."""
        return asyncio.run(_listed(self.data_dir))

    def fail_jobs(self, count: int) -> list[str]:
        """Put jobs into failed as a bot leaves them; return their ids, oldest first."""
        return asyncio.run(_failed(self.data_dir, count))

    def start_owner(self) -> subprocess.Popen[str]:
        """Start a process that owns the data directory until its standard input ends."""
        owner = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(self.data_dir)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert owner.stdout
        assert owner.stdout.readline() == "open\n"
        return owner

    def change_ledger(self, statement: str) -> None:
        """Change the ledger with SQL; at least one row must change."""
        with closing(sqlite3.connect(self.data_dir / "ledger.db", isolation_level=None)) as connection:
            assert connection.execute(statement).rowcount

    def spoil_ledger(self) -> None:
        """Overwrite the ledger with what is no database."""
        for path in self.data_dir.glob("ledger.db*"):
            path.write_bytes(b"no database" * 1_000)


def end(owner: subprocess.Popen[str]) -> None:
    """Let an owner close the directory."""
    owner.communicate("\n", timeout=60)


def integrity(data_dir: Path) -> str:
    """Return what SQLite says of the ledger."""
    with closing(sqlite3.connect(data_dir / "ledger.db")) as connection:
        return connection.execute("PRAGMA integrity_check").fetchone()[0]


async def _filled(data_dir: Path) -> None:
    scene = core.Scene.group(GROUP, PERSON, user_name="米粒")
    async with core.CognitiveMemory.open(SETTINGS, data_dir, background=False) as memory:
        await memory.remember(core.Turn(scene, memo="记下了"))
        await memory.consider(scene, [core.Message("m1", scene, "我对花生过敏", datetime.now(timezone.utc))])
        await memory.pin(scene, "周五聚餐")
        assert await memory.drain(60)


async def _listed(data_dir: Path) -> tuple[dict[str, str], dict[str, str]]:
    operator = core.Scene.operator()
    async with core.CognitiveMemory.open(SETTINGS, data_dir, background=False) as memory:
        people = await memory.listings.people(operator, "", 100, 0)
        places = await memory.listings.places(operator, core.PlaceListing(), 100)
    return {one.user_id: one.name for one in people}, {one.scope.place_id: one.name for one in places}


async def _failed(data_dir: Path, count: int) -> list[str]:
    async with core.CognitiveMemory.open(SETTINGS, data_dir, background=False) as memory:
        for number in range(count):
            scene = core.Scene.group(str(20001 + number), PERSON)
            await memory.remember(core.Turn(scene, observations=(f"第 {number} 件事",)))
        queue = memory._opened.queue
        ids: list[str] = []
        while claim := await queue.claim():
            await queue.bury(claim, "模型服务不接受密钥或余额不足（HTTP 401），请检查 API_KEY")
            ids.append(claim.job.id)
        return ids
