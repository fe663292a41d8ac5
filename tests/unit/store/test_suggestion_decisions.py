"""The contract of BeliefBook: decisions on suggestions, and how erasure, export and import reach them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cognitive_memory_core.domain.belief import SuggestionDecision
from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.ports import EmbeddedEvent
from tests.support.builders import GROUP, OTHER_GROUP, an_event
from tests.support.clock import NOON
from tests.support.ledgers import Ledger, committed, later

ADMIN = "2000009"
MINE = an_event("打印机卡纸，关机重启", id="e1", kind="experience")
THEIRS = an_event("打印机又卡纸", id="e2", kind="experience", sender_id="2000002", user_id="2000002")
DECISION = SuggestionDecision("d1", GROUP.scope, "faq", is_accepted=False, decided_at=NOON, decided_by=ADMIN)


def decided(*events: Event, **fields: Any) -> SuggestionDecision:
    """Return a decision that rests on events."""
    return replace(DECISION, event_ids=tuple(event.id for event in events), **fields)


async def test_a_decision_is_kept_once_with_its_evidence(ledger: Ledger) -> None:
    """A decision is stored once, for its place, with those of its events that are stored there; without any not."""
    await committed(ledger, MINE, THEIRS)
    await ledger.beliefs.decide(decided(MINE, THEIRS))
    await ledger.beliefs.decide(decided(MINE, is_accepted=True))
    await ledger.beliefs.decide(replace(decided(MINE), id="d2", scope=OTHER_GROUP.scope))
    await ledger.beliefs.decide(replace(DECISION, id="d3", event_ids=("gone",)))
    assert await ledger.beliefs.decisions(GROUP.scope) == [decided(MINE, THEIRS)]
    assert await ledger.beliefs.decisions(OTHER_GROUP.scope) == []


async def test_a_decision_goes_with_the_last_of_its_events(ledger: Ledger) -> None:
    """A forgotten person's experiences leave a decision; it goes with the last one, and the admin's id with them."""
    await committed(ledger, MINE, THEIRS)
    await ledger.beliefs.decide(decided(MINE, THEIRS))
    await ledger.eraser.forget_person("2000002", later(hours=1), str)
    await ledger.eraser.forget_person(ADMIN, later(hours=1), str)
    assert await ledger.beliefs.decisions(GROUP.scope) == [decided(MINE, decided_by="")]
    await ledger.eraser.forget_person(GROUP.user_id, later(hours=1), str)
    assert await ledger.beliefs.decisions(GROUP.scope) == []


async def test_a_decision_without_its_events_is_not_imported(ledger: Ledger) -> None:
    """A decision on events that are not here, or of an erased place, is not imported."""
    assert await ledger.archive.import_rows([decided(MINE)]) == 0
    await ledger.eraser.forget_place(GROUP.scope, later(hours=1))
    await ledger.archive.import_rows([EmbeddedEvent(MINE), decided(MINE)])
    assert await ledger.beliefs.decisions(GROUP.scope) == []
