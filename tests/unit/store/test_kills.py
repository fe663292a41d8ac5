"""Tests of killing the ledger's process during writes."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.store.database.connections import REFUSED_IF_READ_ONLY
from cognitive_memory_core.store.ledger import Ledger
from tests.support.ledgers import shown
from tests.support.sizes import sized

KILLS = sized(3, 20)
WRITER = """
import asyncio, os, sys
from pathlib import Path
sys.path.insert(0, os.environ["PROJECT"])
from cognitive_memory_core.store.ledger import Ledger
from tests.support.builders import a_draft, a_message, an_event

async def main(number):
    ledger = await Ledger.open(Path(sys.argv[1]))
    while True:
        events = [an_event(f"{number}-{part}", id=f"event-{number}-{part}") for part in range(3)]
        await ledger.events.commit(a_draft(*events, job_id=f"job-{number}"))
        await ledger.log.append([a_message(f"{number}", id=f"m-{number}")])
        print(number, flush=True)
        number += 1

asyncio.run(main(int(sys.argv[2])))
"""


def killed(path: Path, first: int, seconds: float) -> list[int]:
    """Run a process that writes from a number on, kill it, and return the confirmed numbers."""
    environment = {**os.environ, "PROJECT": str(Path(__file__).resolve().parents[3])}
    command = [sys.executable, "-c", WRITER, str(path), str(first)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = [process.stdout.readline()]
        time.sleep(seconds)
        process.kill()
        said += process.stdout.readlines()
    return [int(line) for line in said if line.endswith("\n")]


async def test_what_was_written_outlives_the_process_and_nothing_is_there_in_part(tmp_path: Path):
    """After kills at random moments, confirmed data is there once, and other data completely or not at all."""
    dice, acked, path = random.Random(7), list[int](), tmp_path / "ledger.db"
    for _ in range(KILLS):
        acked += killed(path, len(acked) and max(acked), dice.random() * 0.2)
    ledger = await Ledger.open(path)
    texts = await shown(ledger, Scene.operator(), 10_000)
    messages = (await ledger.archive.totals()).messages
    await ledger.close()
    numbers = {int(text.partition("-")[0]) for text in texts}
    assert len(acked) >= KILLS
    assert set(acked) <= numbers
    assert sorted(texts) == sorted(f"{number}-{part}" for number in numbers for part in range(3))
    assert len(set(acked)) <= messages <= len(numbers)


def test_a_ledger_that_opens_for_reading_alone_is_refused_at_once(tmp_path: Path):
    """A ledger that can only be opened for reading is refused at once."""
    path = tmp_path / "ledger.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE meta (key, value)")
        connection.execute(REFUSED_IF_READ_ONLY)
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection, pytest.raises(
        sqlite3.OperationalError, match="readonly"
    ):  # fmt: skip
        connection.execute(REFUSED_IF_READ_ONLY)
