"""The contract of ConsentBook for incognito periods."""

from __future__ import annotations

from cognitive_memory_core.domain.scope import Incognito
from tests.support.builders import GROUP, OTHER_GROUP
from tests.support.clock import NOON
from tests.support.ledgers import Ledger, later

PERSON, OTHER = "2000001", "2000009"


async def test_stretches_are_kept_until_they_are_dropped(ledger: Ledger) -> None:
    """A period is returned as stored, with its new end if it was ended early, and old ones can be deleted."""
    first = Incognito(GROUP.scope, PERSON, NOON, later(minutes=30))
    second = Incognito(OTHER_GROUP.scope, PERSON, NOON, later(hours=5))
    for period in (first, second):
        await ledger.consent.keep_incognito(period)
    assert await ledger.consent.incognito() == [first, second]
    ended = Incognito(GROUP.scope, PERSON, NOON, later(minutes=5))
    await ledger.consent.keep_incognito(ended)
    assert await ledger.consent.incognito() == [ended, second]
    await ledger.consent.drop_incognito(later(hours=1))
    assert await ledger.consent.incognito() == [second]


async def test_stretches_that_are_over_go_with_their_person_and_their_place(ledger: Ledger) -> None:
    """Erasing a person or a place leaves nothing of past periods; one that runs goes on, as promised."""
    past = Incognito(GROUP.scope, PERSON, later(hours=-2), later(hours=-1))
    running = Incognito(GROUP.scope, PERSON, NOON, later(hours=1))
    others = Incognito(GROUP.scope, OTHER, later(hours=-2), later(hours=-1))
    elsewhere = Incognito(OTHER_GROUP.scope, OTHER, later(hours=-2), later(hours=-1))
    for period in (past, running, others, elsewhere):
        await ledger.consent.keep_incognito(period)
    await ledger.eraser.forget_person(PERSON, NOON, str)
    assert await ledger.consent.incognito() == [running, others, elsewhere]
    await ledger.eraser.forget_place(GROUP.scope, NOON)
    assert await ledger.consent.incognito() == [running, elsewhere]


async def test_a_running_stretch_of_an_erased_person_is_erased_when_it_is_over(ledger: Ledger) -> None:
    """Erasing periods removes them alone, and makes a purge due."""
    theirs, others = (Incognito(GROUP.scope, one, NOON, later(hours=1)) for one in (PERSON, OTHER))
    for period in (theirs, others):
        await ledger.consent.keep_incognito(period)
    await ledger.consent.erase_incognito([], later(hours=2))
    assert (await ledger.eraser.purge_due()).erased_at is None
    await ledger.consent.erase_incognito([theirs], later(hours=2))
    assert await ledger.consent.incognito() == [others]
    assert (await ledger.eraser.purge_due()).erased_at == later(hours=2)
