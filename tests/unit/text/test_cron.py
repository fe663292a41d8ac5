"""Tests of cron expressions: which are accepted, and that the scheduler accepts each of them."""

from __future__ import annotations

from datetime import datetime, timezone
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognitive_memory_core.text.time.cron import is_cron

NUMBERS = st.integers(0, 70).map(str)
WORDS = st.sampled_from(["*", "mon", "FRI", "sun", "jan", "Feb", "last", "*/5", "mon-wed", "x", ""])
PARTS = st.one_of(WORDS, NUMBERS, st.tuples(NUMBERS, NUMBERS).map("-".join), st.tuples(NUMBERS, NUMBERS).map("/".join))
FIELDS = st.lists(PARTS, min_size=1, max_size=3).map(",".join)


@pytest.mark.parametrize(
    "expression",
    ["0 4 * * *", " 30  3-5 */2 1,7 mon-fri ", "*/15 0 1 JAN Sun", "0 0 29 2 *", "5/10 0 last * 0", "0 0 31 1,2 *"],
)
def test_cron_expressions_are_accepted(expression: str) -> None:
    """Five fields of numbers, names, ranges and steps are a cron expression."""
    assert is_cron(expression)


@pytest.mark.parametrize(
    "expression",
    [
        *("", "每天四点", "@daily", "0 4 * *", "0 4 * * * *", "60 4 * * *", "0 24 * * *", "0 4 0 * *", "0 4 * 13 *"),
        *("0 4 * * 7", "0 4 * * monday", "0 4 * mon *", "0 5-4 * * *", "*/0 4 * * *", "*/90 4 * * *", "0, 4 * * *"),
        *("0 0 30 2 *", "0 0 31 4,6 *", "٠ 4 * * *", "-1 4 * * *", "0 4 * * *;", "0 4 mon * *", "1-1/1 4 * * *"),
    ],
)
def test_other_texts_are_refused(expression: str) -> None:
    """Words, wrong numbers of fields, values out of range and days that no month has are refused."""
    assert not is_cron(expression)


@given(st.lists(FIELDS, min_size=5, max_size=5).map(" ".join))
def test_the_scheduler_accepts_what_is_accepted(expression: str) -> None:
    """APScheduler reads each accepted expression and finds an instant at which it is due."""
    if not is_cron(expression):
        return
    pytest.importorskip("apscheduler")
    trigger: Any = import_module("apscheduler.triggers.cron").CronTrigger
    now = datetime(2026, 3, 4, tzinfo=timezone.utc)
    assert trigger.from_crontab(expression.lower(), timezone.utc).get_next_fire_time(now, now) is not None
