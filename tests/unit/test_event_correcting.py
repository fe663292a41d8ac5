"""Tests of correcting an event, which the person who said it may do."""

from __future__ import annotations

import pytest

from cognitive_memory_core.consent import Consent
from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.errors import NotPermitted, UnknownEvent
from cognitive_memory_core.event_correcting import EventCorrecting
from cognitive_memory_core.settings import Live, Settings
from tests.inmemory.ledger import InMemoryLedger
from tests.support.builders import GROUP, OPERATOR, PRIVATE, an_event
from tests.support.clock import NOON
from tests.support.ledgers import committed, shown

STRANGER = Scene.group("10001", "2000009")


def correcting(ledger: InMemoryLedger) -> EventCorrecting:
    """Return the correction service over a ledger."""
    return EventCorrecting(ledger.events, Consent(ledger.consent, ledger.names), Live(Settings()))


async def told(ledger: InMemoryLedger, **fields: object) -> Event:
    """Store a statement of 阿棠 about herself."""
    event = an_event("阿棠(2000001)对花生过敏", subjects=("2000001",), sender_name="阿棠", **fields)
    await committed(ledger, event)
    return event


async def test_a_person_corrects_what_they_said() -> None:
    """The corrected event replaces the old one and is passed to its speaker's profile."""
    ledger = InMemoryLedger()
    event = await told(ledger)
    corrected = await correcting(ledger).correct(GROUP, event, "阿棠(2000001)对芒果过敏")
    assert await shown(ledger, GROUP) == ["阿棠(2000001)对芒果过敏"]
    assert corrected.is_absolute
    (waiting,) = await ledger.facts.waiting()
    assert waiting.key == ProfileKey.member("10001", "2000001")


async def test_words_that_lean_on_the_speaker_are_quoted() -> None:
    """A correction with words like 我 is stored as a quotation with its speaker."""
    ledger = InMemoryLedger()
    corrected = await correcting(ledger).correct(GROUP, await told(ledger), "我只是对芒果过敏")
    assert corrected.text == "阿棠(2000001)：“我只是对芒果过敏”"
    assert corrected.is_absolute


async def test_a_group_event_is_corrected_from_the_private_chat() -> None:
    """A correction of a group statement, even from a private chat, goes to the profile of that group."""
    ledger = InMemoryLedger()
    await correcting(ledger).correct(PRIVATE, await told(ledger), "阿棠(2000001)对芒果过敏")
    (waiting,) = await ledger.facts.waiting()
    assert waiting.key == ProfileKey.member("10001", "2000001")


async def test_nobody_puts_words_into_the_mouth_of_others() -> None:
    """Other members cannot correct an event; an operator can, without effect on a profile."""
    ledger = InMemoryLedger()
    event = await told(ledger)
    with pytest.raises(NotPermitted):
        await correcting(ledger).correct(STRANGER, event, "阿棠(2000001)什么都吃")
    await correcting(ledger).correct(OPERATOR, event, "阿棠(2000001)对芒果过敏")
    assert await shown(ledger, GROUP) == ["阿棠(2000001)对芒果过敏"]
    assert await ledger.facts.waiting() == []


async def test_equal_words_change_nothing_and_a_retired_event_is_unknown() -> None:
    """A change of punctuation only changes nothing, and a withdrawn event cannot be corrected."""
    ledger = InMemoryLedger()
    event = await told(ledger)
    assert await correcting(ledger).correct(GROUP, event, "阿棠(2000001) 对花生过敏！") == event
    await ledger.events.retire(event.id, NOON)
    retired = await ledger.events.find(event.id)
    assert retired is not None
    with pytest.raises(UnknownEvent):
        await correcting(ledger).correct(GROUP, retired, "阿棠(2000001)对芒果过敏")
