"""The contract of IncognitoBook."""

from __future__ import annotations

from cognitive_memory_core.domain.incognito import Incognito
from tests.support.builders import GROUP, OTHER_GROUP, PRIVATE
from tests.support.clock import NOON
from tests.support.ledgers import Ledger, later

PERSON, OTHER = "2000001", "2000009"


async def test_stretches_are_kept_until_they_are_dropped(ledger: Ledger) -> None:
    """A period is returned as stored, with its new end if it was ended early, and old ones can be deleted."""
    first = Incognito(GROUP.scope, PERSON, NOON, later(minutes=30))
    second = Incognito(OTHER_GROUP.scope, PERSON, NOON, later(hours=5))
    for stretch in (first, second):
        await ledger.incognito.keep(stretch)
    assert await ledger.incognito.stretches() == [first, second]
    ended = Incognito(GROUP.scope, PERSON, NOON, later(minutes=5))
    await ledger.incognito.keep(ended)
    assert await ledger.incognito.stretches() == [ended, second]
    await ledger.incognito.drop(later(hours=1))
    assert await ledger.incognito.stretches() == [second]


async def test_stretches_go_with_their_person_and_their_place(ledger: Ledger) -> None:
    """Erasing a person or a place also erases their incognito periods."""
    theirs = Incognito(GROUP.scope, PERSON, NOON, later(hours=1))
    private = Incognito(PRIVATE.scope, PERSON, NOON, later(hours=1))
    others = Incognito(OTHER_GROUP.scope, OTHER, NOON, later(hours=1))
    last = Incognito(GROUP.scope, OTHER, NOON, later(hours=1))
    for stretch in (theirs, private, others, last):
        await ledger.incognito.keep(stretch)
    await ledger.eraser.forget_person(PERSON, NOON, str)
    assert await ledger.incognito.stretches() == [others, last]
    await ledger.eraser.forget_place(GROUP.scope, NOON)
    assert await ledger.incognito.stretches() == [others]
