"""Tests of correcting an event, which the person who said it may do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cognitive_memory_core.consent import Consent
from cognitive_memory_core.domain.event import Event, Fact
from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.errors import UnknownEvent
from cognitive_memory_core.memory.forgetting import corrected_event
from cognitive_memory_core.settings.schema import Settings
from cognitive_memory_core.text.speakers import spoken
from tests.support.builders import GROUP, a_draft, an_event
from tests.support.clock import NOON
from tests.support.ledgers import Ledger, a_ledger, committed


async def correct(ledger: Ledger, scene: Scene, event: Event, text: str) -> Event:
    """Correct an event of a ledger."""
    return await corrected_event(ledger.events, Consent(ledger), Settings(), scene, event, text)


async def told(ledger: Ledger, **fields: object) -> Event:
    """Store a statement of 阿棠 about herself."""
    event = an_event("阿棠(2000001)对花生过敏", subjects=("2000001",), sender_name="阿棠", **fields)
    await committed(ledger, event)
    return event


async def test_words_that_lean_on_the_speaker_stand_behind_the_name_and_in_no_quotation_marks() -> None:
    """A correction with words like 我 is stored behind its speaker, but is no quotation of what was said that day."""
    ledger = a_ledger()
    corrected = await correct(ledger, GROUP, await told(ledger), "我只是对芒果过敏")
    assert corrected.text == spoken(corrected) == "阿棠(2000001) 说：我只是对芒果过敏"
    assert [(one.sender_id, one.text) for one in corrected.quotes] == [("2000001", "我只是对芒果过敏")]


async def test_equal_words_change_nothing_and_a_retired_event_is_unknown() -> None:
    """A change of punctuation only changes nothing, and a withdrawn event cannot be corrected."""
    ledger = a_ledger()
    event = await told(ledger)
    assert await correct(ledger, GROUP, event, "阿棠(2000001) 对花生过敏！") == event
    await ledger.eraser.forget(event.id, NOON)
    retired = await ledger.events.find(event.id)
    assert retired is not None
    with pytest.raises(UnknownEvent):
        await correct(ledger, GROUP, retired, "阿棠(2000001)对芒果过敏")


async def a_rule(ledger: Ledger) -> Event:
    """Store a statement of 阿棠 about the group, which feeds the group's profile."""
    event = an_event("读书会(10001)周五晚上聚会", subjects=("10001",), sender_name="阿棠")
    fact = Fact(ProfileKey.group("10001"), event.id, event.text, event.kind, NOON)
    await ledger.events.commit(replace(a_draft(event), facts=(fact,)))
    return event


async def test_a_corrected_statement_about_the_group_feeds_its_profile() -> None:
    """The group's profile that the old statement fed takes the corrected one, with who says it."""
    ledger = a_ledger()
    await correct(ledger, GROUP, await a_rule(ledger), "读书会(10001)在湖边聚会")
    [fact] = await ledger.facts.facts(ProfileKey.group("10001"), 9)
    assert fact.text == "阿棠(2000001) 说：读书会(10001)在湖边聚会"
