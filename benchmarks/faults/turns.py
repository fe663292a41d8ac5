"""Numbered turns, each of another group, and the oracle that counts what became of them."""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

import cognitive_memory_core as core
from cognitive_memory_core.domain.scope import checked_id

from ..fault_row import Counts

NUMBER = re.compile(r"第 ?(\d+) ?号茶")
PAGE = 200
PAUSE = 0.02  # seconds between two checks


def scene(number: int, name: str = "小雨") -> core.Scene:
    """Return the scene of a number: its group and speaker."""
    place, person = str(100_001 + number), str(2_000_001 + number)
    return core.Scene.group(checked_id(place, "group_id"), person, user_name=name, group_name="茶会")


def sentence(number: int) -> str:
    """Return the text said in the turn of a number."""
    return f"小雨({2_000_001 + number}) 喜欢第 {number} 号茶"


def turn(number: int, **fields: Any) -> core.Turn:
    """Return the turn of a number."""
    return core.Turn(scene(number), observations=[sentence(number)], request_id=f"t{number}", **fields)


def number_in(text: str) -> int:
    """Return the number of the turn that a text belongs to; -1 for none."""
    found = NUMBER.search(text)
    return int(found[1]) if found else -1


def settings(url: str = "", model: Mapping[str, Any] | None = None, **groups: Any) -> core.Settings:
    """Return settings for rows about models: no vector store, fast polling, one chat model at ``url``."""
    historian = {"api_url": url, "model_name": "m", "timeout_seconds": 1.0, **(model or {})} if url else {}
    wanted: dict[str, Any] = {
        "models": {"historian": historian},
        "vector_store": {"backend": "exact"},
        "daily_calls": 0,
        **groups,
    }
    wanted["historian"] = {"poll_interval_seconds": 0.05, **groups.get("historian", {})}
    return core.Settings.from_mapping(wanted)


async def hand_in(memory: core.CognitiveMemory, numbers: Iterable[int]) -> None:
    """Hand in the turns of some numbers."""
    for number in numbers:
        await memory.remember(turn(number))


async def drained(memory: core.CognitiveMemory, seconds: float) -> bool:
    """Wait until nothing waits, also while a model is unavailable."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if await memory.drain(min(5.0, seconds)):
            return True
    return False


async def listed(memory: core.CognitiveMemory, where: core.Scene | None = None) -> list[core.Event]:
    """Return every event that is not retired."""
    found: list[core.Event] = []
    while page := await memory.events(where or core.Scene.operator(), limit=PAGE, offset=len(found)):
        found += page
    return found


async def counted(memory: core.CognitiveMemory, numbers: Iterable[int]) -> Counts:
    """Count what became of some turns: lost, stored twice, or still waiting or buried."""
    found: Counter[int] = Counter()
    for event in await listed(memory):
        found[number_in(event.text)] += event.count
    jobs = (await memory.status()).jobs
    wanted = list(numbers)
    lost = sum(1 for number in wanted if not found[number])
    twice = sum(1 for number in wanted if found[number] > 1)
    return Counts(lost, twice, jobs.pending + jobs.processing + jobs.failed)


async def wait_idle(memory: core.CognitiveMemory, seconds: float) -> bool:
    """Wait until no job waits or runs, without hurrying other work."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        jobs = (await memory.status()).jobs
        if not jobs.pending and not jobs.processing:
            return True
        await asyncio.sleep(PAUSE)
    return False


class LeapingClock:
    """The machine's time plus an offset that can be advanced, so that pauses after failures are over."""

    def __init__(self) -> None:
        """Start without an offset."""
        self.ahead = timedelta()

    def now(self) -> datetime:
        """Return the current instant."""
        return now() + self.ahead

    def leap(self) -> None:
        """Advance by more than any pause."""
        self.ahead += timedelta(hours=2)


def now() -> datetime:
    """Return the current instant."""
    return datetime.now(timezone.utc)
