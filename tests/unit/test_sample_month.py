"""Tests of the sample month from which the pictures of the console are made."""

from __future__ import annotations

from pathlib import Path

import cognitive_memory_core as core
from tests.support import sample_month
from tests.support.clock import FrozenClock


async def test_the_sample_month_is_always_the_same(tmp_path: Path) -> None:
    """Two runs write the same lines and memories, of twelve people in two groups and two private chats."""
    written: list[object] = []
    settings = core.Settings.from_mapping({"vector_store": {"backend": "exact"}})
    for run in ("one", "two"):
        month = await sample_month.made(tmp_path / run)
        clock = FrozenClock(sample_month.NOW)
        async with core.CognitiveMemory.open(settings, tmp_path / run, background=False, clock=clock) as memory:
            operator, listings = core.Scene.operator(), memory.listings
            events = await listings.events(operator, core.EventListing(), 200, 0)
            lines = await listings.lines(operator, core.LineListing(), 2_000, 0)
            assert len(await listings.people(operator, "", 50, 0)) == len(month.people) == 12
            assert len(await listings.places(operator, core.PlaceListing(), 50)) == 4
            written.append(({one.id for one in events}, [(one.id, one.text) for one in lines]))
    assert written[0] == written[1]
