"""Tests of the text that is indexed for word search in a message."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from cognitive_memory_core.text.terms import index_terms, indexed_text, query_terms
from tests.support.clock import SHANGHAI

LATE = datetime(2026, 2, 17, 23, 30, tzinfo=SHANGHAI)


@pytest.mark.parametrize("question", ["阿棠", "2026-02-17", "2月17日", "17日", "2026-02-17谁去陶艺课"])
def test_speaker_day_and_words_are_looked_for(question: str) -> None:
    """The speaker's name, the date in two formats and the message itself are indexed."""
    terms = set(index_terms(indexed_text("阿棠", LATE, "谁去陶艺课")))
    assert set(query_terms(question, characters=True)) <= terms


def test_the_day_is_that_of_whoever_said_it() -> None:
    """The date is that of the message in its own UTC offset."""
    assert "2月18日" in indexed_text("", LATE.astimezone(timezone(timedelta(hours=10))), "")
    assert "2026-02-17" in indexed_text("", LATE, "")


def test_parts_do_not_run_into_each_other() -> None:
    """The end of a name and the beginning of a message do not form a term."""
    assert "bob" in index_terms(indexed_text("Bob", LATE, "花开了"))
    assert "棠花" not in index_terms(indexed_text("海棠", LATE, "花开了"))
