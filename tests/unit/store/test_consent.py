"""The contract of ConsentBook."""

from __future__ import annotations

from cognitive_memory_core.domain.scope import PlaceSwitch
from tests.support.builders import GROUP, OTHER_GROUP, PRIVATE
from tests.support.clock import NOON
from tests.support.ledgers import Ledger, later


async def test_a_wish_to_be_left_out_stands_until_it_is_taken_back(ledger: Ledger) -> None:
    """A person is opted out until they opt in; repeating either has no effect."""
    assert await ledger.consent.opted_out() == frozenset()
    for person in ("2000001", "2000001", "2000002"):
        await ledger.consent.opt_out(person, NOON)
    assert await ledger.consent.opted_out() == {"2000001", "2000002"}
    await ledger.consent.opt_in("2000001")
    await ledger.consent.opt_in("2000003")
    assert await ledger.consent.opted_out() == {"2000002"}


async def test_only_places_that_are_not_simply_on_are_remembered(ledger: Ledger) -> None:
    """Only switches other than "on" are stored, and the last one of a place counts."""
    ends = PlaceSwitch(PRIVATE.scope, "recall_only", later(hours=2))
    for switch in (
        PlaceSwitch(GROUP.scope, "off", later(hours=1)),
        PlaceSwitch(GROUP.scope, "record_only"),
        ends,
        PlaceSwitch(OTHER_GROUP.scope, "off"),
        PlaceSwitch(OTHER_GROUP.scope),
    ):
        await ledger.consent.set_switch(switch)
    switches = sorted(await ledger.consent.switches(), key=lambda one: one.scope.kind)
    assert switches == [PlaceSwitch(GROUP.scope, "record_only"), ends]


async def test_whoever_opens_their_profile_can_close_it_again(ledger: Ledger) -> None:
    """A person shares their profile until they stop; repeating either has no effect, nor has opting out."""
    assert await ledger.consent.shared() == frozenset()
    for person in ("2000001", "2000001", "2000002"):
        await ledger.consent.set_sharing(person, shared=True, at=NOON)
    await ledger.consent.opt_out("2000003", NOON)
    assert await ledger.consent.shared() == {"2000001", "2000002"}
    for person in ("2000001", "2000003"):
        await ledger.consent.set_sharing(person, shared=False, at=NOON)
    assert await ledger.consent.shared() == {"2000002"}
    assert await ledger.consent.opted_out() == {"2000003"}
