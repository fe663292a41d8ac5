"""No scene is shown what the design's table withholds from it, after any history and by any read path.

The table is implemented again in tests/support/reading_rule.py, independent of the code's own rule. Every stored text
has a unique token, so that a leak is visible in any field of anything returned.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.support.clock import FrozenClock
from tests.support.histories import History
from tests.support.opened import Witness, opened
from tests.support.questions import PATHS, answered
from tests.support.sizes import IS_NIGHTLY, sized
from tests.support.sowing import Extent, Sower

SMALL = Extent().over(3)
CHAPTERS, DEEDS, QUESTIONS = 3, 10, 40
LONG, LONG_LIFE = 10, 8  # chapters; a seed for which a profile is written more often than revisions are kept
SELDOM = ("search_events narrowed", "profile_revisions")  # one example in three is shown nothing by these
TAKEN_OUT = "a store gave what only the last check took out"
Sharing = Literal["isolated", "shared"]


async def at_once(history: History, witness: Witness, shown: Counter[str]) -> None:
    """Ask before background work has run: withdrawn text must not be shown even then."""
    for _ in range(QUESTIONS // DEEDS):
        asked, verdict = await answered(history)
        assert not verdict.leaked, (verdict, asked.scene)
        shown[verdict.path] += verdict.shown
    assert not witness.foreign(history.standing), TAKEN_OUT


async def told(seed: int, sharing: Sharing, chapters: int = CHAPTERS) -> Counter[str]:
    """Play a history with questions in between; return how much each read path showed; fail at a wrong answer."""
    shown, clock, witness = Counter[str](), FrozenClock(), Witness()
    with tempfile.TemporaryDirectory() as folder:
        async with opened("exact", Path(folder) / "data", clock, witness, sharing=sharing) as memory:
            sower = Sower(random.Random(seed))
            sower.standing.is_shared_by_all = sharing == "shared"
            history = History(memory, sower, Path(folder), clock)
            await history.begin(SMALL)
            for _ in range(chapters):
                await history.go_on(DEEDS, partial(at_once, witness=witness, shown=shown))
                for _ in range(QUESTIONS):
                    asked, verdict = await answered(history)
                    assert not verdict.leaked, (verdict, asked.scene)
                    assert not verdict.missing, (verdict, asked.scene)
                    shown[verdict.path] += verdict.shown
                assert not witness.foreign(history.standing), TAKEN_OUT
    return shown


@pytest.mark.parametrize("sharing", ["isolated", "shared"])
def test_nobody_is_shown_what_is_not_theirs(sharing: Sharing) -> None:
    """Every read path finds all that a scene may read, by its token, and nothing else."""
    shown = Counter[str]()

    # the same two histories in each run, because not every one shows something by each path; nightly runs draw others;
    # no shrinking, because a smaller seed does not give a simpler history
    @settings(max_examples=sized(2, 20), phases=[Phase.generate], derandomize=not IS_NIGHTLY)
    @given(st.integers(0, 2**32))
    def every_way(seed: int) -> None:
        shown.update(asyncio.run(told(seed, sharing)))

    every_way()
    assert [path for path in PATHS if not shown[path] and path not in SELDOM] == []


def test_a_past_profile_is_shown_for_as_long_as_it_is_kept() -> None:
    """Every kept revision is shown, also after older ones were pruned in a long history."""
    shown = asyncio.run(told(LONG_LIFE, "shared", LONG))
    assert shown["profile_revisions"]
    assert shown["export"]
