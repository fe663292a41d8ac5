"""Tests of opting out, switches, sharing and incognito."""

from __future__ import annotations

import asyncio
from copy import copy
from datetime import timedelta
from typing import Any

import pytest

from cognitive_memory_core.consent import Consent
from cognitive_memory_core.domain.consent import PlaceSwitch
from cognitive_memory_core.domain.turn import Dialogue, Turn
from cognitive_memory_core.errors import StorageRefused, UnavailableError
from tests.support.builders import GROUP, OTHER_GROUP, a_message, an_event
from tests.support.clock import NOON, FrozenClock
from tests.support.ledgers import a_ledger, name_person
from tests.support.ports import Away


async def test_a_wish_that_is_written_down_is_in_force() -> None:
    """An opt-out takes effect at once, even if the person's names cannot be looked up."""
    ledger = a_ledger()
    ledger.names = Away()  # type: ignore[assignment]
    consent = Consent(ledger)
    with pytest.raises(UnavailableError):
        await consent.opt_out("2000001", NOON)
    assert not consent.may_record(GROUP)
    assert consent.hidden("阿棠(2000001)来了") == "阿棠(某位成员)来了"


async def test_names_borne_in_the_lines_at_hand_are_hidden_too() -> None:
    """A name that is not stored yet is hidden if its owner's own message is part of the input."""
    ledger = a_ledger()
    consent = Consent(ledger)
    await consent.opt_out("2000001", NOON)
    other = type(GROUP).group("10001", "2000009")
    turn = consent.admitted(Turn(other, observations=["阿棠怕狗"], recent_messages=[a_message("我怕狗")]))
    assert isinstance(turn, Turn)
    assert turn.observations == ("某位成员怕狗",)
    assert turn.recent_messages == ()


async def test_every_text_of_an_experience_is_redacted() -> None:
    """Problem, solution and outcome of an experience name nobody who opted out."""
    ledger = a_ledger()
    await name_person(ledger, GROUP.scope, "2000001", "海棠未眠", NOON)
    consent = Consent(ledger)
    await consent.opt_out("2000001", NOON)
    told = an_event(
        "海棠未眠修好了灯",
        kind="experience",
        pain="海棠未眠的灯坏了",
        solution="海棠未眠换了灯泡",
        outcome="海棠未眠满意",
    )
    shown = consent.redacted(told)
    assert "海棠未眠" not in f"{shown.text}{shown.pain}{shown.solution}{shown.outcome}"


async def test_sharing_that_is_not_written_down_is_not_in_force() -> None:
    """A profile is shared only after the choice was stored."""
    ledger = a_ledger()
    ledger.consent = Away(StorageRefused("full"))  # type: ignore[assignment]
    consent = Consent(ledger)
    with pytest.raises(StorageRefused):
        await consent.set_sharing("2000001", True, NOON)
    assert consent.shared == frozenset()


class SlowBook:
    """A consent store whose answers arrive some time after they were read."""

    def __init__(self, book: object) -> None:
        """Wrap a consent store."""
        self._book = book

    def __getattr__(self, name: str) -> Any:
        reading = getattr(self._book, name)

        async def slowly(*arguments: Any, **named: Any) -> Any:
            answer = await reading(*arguments, **named)
            for _ in range(10):
                await asyncio.sleep(0)
            return answer

        return slowly if name in ("opted_out", "switches", "shared") else reading


@pytest.mark.parametrize("wish", ["opt_out", "opt_in", "set_switch", "set_sharing"])
async def test_what_changes_while_the_book_is_read_stays_in_force(wish: str) -> None:
    """Reloading the consents during an import or an erasure never undoes a choice made meanwhile."""
    ledger = a_ledger()
    for waited in range(50):
        slow = copy(ledger)
        slow.consent = SlowBook(ledger.consent)  # type: ignore[assignment]
        consent = Consent(slow)
        await ledger.consent.opt_in("2000001")
        await ledger.consent.opt_out("2000009", NOON)
        await ledger.consent.set_switch(PlaceSwitch(GROUP.scope))
        await ledger.consent.set_sharing("2000001", shared=False, at=NOON)
        await consent.load()
        changes = {
            "opt_out": lambda consent=consent: consent.opt_out("2000001", NOON),
            "opt_in": lambda consent=consent: consent.opt_in("2000009"),
            "set_switch": lambda consent=consent: consent.set_switch(PlaceSwitch(GROUP.scope, "off")),
            "set_sharing": lambda consent=consent: consent.set_sharing("2000001", True, NOON),
        }
        loading = asyncio.create_task(consent.load())
        for _ in range(waited):
            await asyncio.sleep(0)
        await changes[wish]()
        await loading
        assert consent.opted_out == await ledger.consent.opted_out()
        assert consent.shared == await ledger.consent.shared()
        assert [consent.place_switch(GROUP.scope)] == (await ledger.consent.switches() or [PlaceSwitch(GROUP.scope)])


async def test_a_switch_ends_by_itself() -> None:
    """A switch with an end holds up to it and no longer, without a write; a clock that is set back is no error."""
    ledger, clock = a_ledger(), FrozenClock()
    consent = Consent(ledger, now=clock.now)
    until = clock.now() + timedelta(hours=2)
    stored = PlaceSwitch(GROUP.scope, "off", until)
    await consent.set_switch(stored)
    later = Consent(ledger, now=clock.now)
    await later.load()
    for each in (consent, later):
        assert each.place_switch(GROUP.scope) == stored
        assert not each.may_record(GROUP)
        assert not each.may_recall(GROUP)
    clock.advance(hours=2)
    for each in (consent, later):
        assert each.place_switch(GROUP.scope) == PlaceSwitch(GROUP.scope)
        assert each.may_record(GROUP)
        assert each.may_recall(GROUP)
    assert await ledger.consent.switches() == [stored]
    clock.advance(hours=-1)
    assert not consent.may_record(GROUP)


async def test_lines_said_incognito_are_left_out_for_good() -> None:
    """Incognito covers its person, scope and time, even for a dialogue that is submitted much later."""
    ledger = a_ledger()
    consent = Consent(ledger)
    await consent.go_incognito(GROUP, NOON, NOON + timedelta(minutes=30))
    assert consent.is_incognito(GROUP, NOON)
    assert not consent.is_incognito(GROUP, NOON + timedelta(minutes=30))
    assert not consent.is_incognito(OTHER_GROUP, NOON)
    assert not consent.is_incognito(type(GROUP).group("10001", "2000009"), NOON)
    reopened = Consent(ledger)
    await reopened.load()
    lines = [a_message("悄悄话", sent_at=NOON + timedelta(minutes=1)), a_message("大声话", sent_at=NOON - timedelta(1))]
    kept = reopened.admitted(Dialogue(GROUP, lines))
    assert isinstance(kept, Dialogue)
    assert [line.text for line in kept.messages] == ["大声话"]


async def test_incognito_ends_when_asked() -> None:
    """Ending incognito ends it now, and what was said during it stays unrecorded."""
    ledger = a_ledger()
    consent = Consent(ledger)
    await consent.go_incognito(GROUP, NOON, NOON + timedelta(hours=8))
    await consent.go_incognito(GROUP, NOON + timedelta(minutes=5), NOON)
    assert consent.is_incognito(GROUP, NOON + timedelta(minutes=4))
    assert not consent.is_incognito(GROUP, NOON + timedelta(minutes=5))


async def test_a_stretch_of_somebody_forgotten_ends_before_it_is_erased() -> None:
    """Whoever is forgotten while incognito stays unrecorded until the end; then nothing of the period is left."""
    ledger = a_ledger()
    consent = Consent(ledger)
    other = type(GROUP).group("10001", "2000009")
    for scene in (GROUP, other):
        await consent.go_incognito(scene, NOON, NOON + timedelta(minutes=30))
    await ledger.eraser.forget_person("2000001", NOON + timedelta(minutes=1), str)
    await ledger.eraser.end_purge()
    await consent.load()
    await consent.erase_ended(NOON + timedelta(minutes=29))
    assert consent.is_incognito(GROUP, NOON + timedelta(minutes=29))
    await consent.erase_ended(NOON + timedelta(minutes=30))
    assert (await ledger.eraser.purge_due()).erased_at == NOON + timedelta(minutes=30)
    assert [period.user_id for period in await ledger.consent.incognito()] == ["2000009"]
    await consent.go_incognito(GROUP, NOON + timedelta(hours=2), NOON + timedelta(hours=3))
    await consent.erase_ended(NOON + timedelta(hours=4))
    assert len(await ledger.consent.incognito()) == 2
