"""The contracts of NameBook and Accounts."""

from __future__ import annotations

from datetime import date

from cognitive_memory_core.domain.people import Person
from cognitive_memory_core.ports.ledger import Spending
from tests.support.builders import GROUP, OTHER_GROUP
from tests.support.clock import NOON
from tests.support.ledgers import Ledger, later

TODAY, TOMORROW = date(2026, 3, 4), date(2026, 3, 5)


async def test_people_go_by_their_latest_name_in_a_place(ledger: Ledger) -> None:
    """Latest seen first; an old name that is used again is the latest; a blank one is nobody's."""
    scope = GROUP.scope
    await ledger.names.note(scope, "1", "阿棠", NOON)
    await ledger.names.note(scope, "1", "棠棠", later(hours=1))
    await ledger.names.note(scope, "2", "小林", later(hours=2))
    await ledger.names.note(scope, "2", "  ", later(hours=9))
    await ledger.names.note(OTHER_GROUP.scope, "1", "别名", later(hours=9))
    assert await ledger.names.people(scope) == [Person("2", "小林"), Person("1", "棠棠")]
    await ledger.names.note(scope, "1", "阿棠", later(hours=3))
    await ledger.names.note(scope, "1", "阿棠", later(hours=-3))
    assert await ledger.names.people(scope) == [Person("1", "阿棠"), Person("2", "小林")]


async def test_only_the_people_asked_for_are_given(ledger: Ledger) -> None:
    """Unknown people are left out."""
    for person in "123":
        await ledger.names.note(GROUP.scope, person, f"名{person}", NOON)
    assert await ledger.names.people(GROUP.scope, iter(("2", "9"))) == [Person("2", "名2")]


async def test_spending_adds_up_by_purpose_and_day(ledger: Ledger) -> None:
    """Each day has its own sums, in the order of purposes."""
    for spending in (Spending("rewrite", 1, 100), Spending("merge", 2), Spending("rewrite", 1, 50)):
        await ledger.accounts.spend(TODAY, spending)
    await ledger.accounts.spend(TOMORROW, Spending("merge", 1, 5))
    assert await ledger.accounts.spent(TODAY) == [Spending("merge", 2, 0), Spending("rewrite", 2, 150)]
    assert await ledger.accounts.spent(TOMORROW) == [Spending("merge", 1, 5)]
    assert await ledger.accounts.spent(date(2020, 1, 1)) == []
