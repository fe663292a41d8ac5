"""Tests of reading what is stored: replaced statements, and flaws."""

from __future__ import annotations

from datetime import timedelta
from itertools import count
from typing import Any

from cognitive_memory_core.domain.erasure import reworded
from cognitive_memory_core.domain.event import Event, Quote
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.quality.reporting import examined
from tests.support.builders import GROUP, OTHER_GROUP, an_event
from tests.support.clock import NOON

_numbers = count(1)


def an_examined(text: str, by: str = "1", scene: Scene = GROUP, **fields: Any) -> Event:
    """Return an event; later ones happened later."""
    seq = next(_numbers)
    return an_event(text, scene, id=f"e{seq}", sender_id=by, happened_at=NOON + timedelta(minutes=seq), **fields)


def compared(*events: Event) -> Any:
    """Return the examination of events."""
    return examined(events, lambda event: event, 0.3)


def test_only_what_an_event_replaces_is_contradicted() -> None:
    """A pair is one that its newer event says to replace, in whatever words; numbers and denials alone make none."""
    older = an_examined("木鱼(76620318)把主旋律暂定为 92bpm")
    newer = an_examined("那首歌放慢了，84", replaces=older.id)
    rest = [an_examined(f"米粒对花生{said}，聚餐别点", "2", subjects=("2",)) for said in ("过敏", "不过敏")]
    found = compared(newer, older, *rest, an_examined("换了", scene=OTHER_GROUP, replaces=older.id))
    (pair,) = found.contradicting_pairs
    assert (found.contradictions, pair.older.id, pair.newer.id) == (1, older.id, newer.id)


def test_flaws_tell_why_a_statement_does_not_stand() -> None:
    """Pronouns, relative times and places, low confidence and missing words are told apart, with examples."""
    found = compared(
        an_examined("他昨天去了", is_absolute=False),
        an_examined("他说这里好", is_absolute=False),
        an_examined("米粒喜欢猫", is_absolute=False, confidence=0.1),
        an_examined("米粒：“喜欢猫”", is_absolute=False),
        an_examined("米粒：“我们下周去”（2026-03-09 至 2026-03-15）", is_absolute=False),
        an_examined("他去了"),
    )
    flaws = {one.flaw: one.count for one in found.flaws}
    assert flaws == {"pronoun": 3, "time": 2, "place": 1, "unsure": 1, "unworded": 1}
    assert found.flaws[0].examples[0].text == "他昨天去了"


def test_quotations_are_redacted_and_short() -> None:
    """What is quoted passes the redaction and is cut, the text and the words that a model made it of."""
    quote = Quote("m1", "1", "豆沙" * 100)
    found = examined(
        [an_examined("他" + "豆沙" * 100, is_absolute=False, quotes=(quote,) * 9)],
        lambda event: reworded(event, lambda text: text.replace("豆沙", "某人")),
        0.3,
    )
    (example,) = found.flaws[0].examples
    assert "豆沙" not in str(example)
    assert {len(text) for text in (example.text, *(one.text for one in example.quotes))} == {80}
    assert len(example.quotes) == 3
