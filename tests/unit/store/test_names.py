"""The contract of NameBook."""

from __future__ import annotations

import pytest

from cognitive_memory_core.domain.people import Alias
from cognitive_memory_core.domain.scope import Scene
from tests.support.builders import GROUP, OTHER_GROUP, a_message
from tests.support.clock import NOON
from tests.support.ledgers import Ledger, later, name_person


async def test_a_card_worn_for_a_day_is_not_the_usual_name(ledger: Ledger) -> None:
    """The usual name is the one worn longest in the last month, so a lasting rename counts after two weeks."""
    scope = GROUP.scope

    async def called() -> list[tuple[str, str]]:
        return [(person.name, person.usual) for person in await ledger.names.people(scope)]

    await name_person(ledger, scope, "1", "老齐", later(days=-90))
    assert await called() == [("老齐", "老齐")]
    await name_person(ledger, scope, "1", "老齐", NOON)
    await name_person(ledger, scope, "1", "饿死了", later(hours=1))
    await name_person(ledger, scope, "1", "饿死了", later(hours=20))
    assert await called() == [("饿死了", "老齐")]
    await name_person(ledger, scope, "1", "齐师傅", later(days=1))
    await name_person(ledger, scope, "1", "齐师傅", later(days=10))
    assert await called() == [("齐师傅", "老齐")]
    await name_person(ledger, scope, "1", "齐师傅", later(days=17))
    assert await called() == [("齐师傅", "齐师傅")]


def seen(person: str, name: str, minute: int) -> Alias:
    """Return an alias in the group, seen at a minute."""
    at = later(minutes=minute)
    return Alias(GROUP.scope, person, name, at, at)


async def test_people_are_given_with_their_other_names_in_that_place(ledger: Ledger) -> None:
    """A person's other names in that place are returned, latest first, at most eight, without the current name."""
    scope = GROUP.scope
    for number in range(12):
        await name_person(ledger, scope, "1", f"名{number}", later(minutes=number))
    await name_person(ledger, scope, "1", "名3", later(minutes=20))
    await name_person(ledger, scope, "2", "小林", NOON)
    await name_person(ledger, OTHER_GROUP.scope, "2", "林老师", NOON)
    for asked in ((), ("1", "2")):
        first, second = await ledger.names.people(scope, asked)
        assert (first.name, first.aliases) == ("名3", tuple(f"名{number}" for number in (11, 10, 9, 8, 7, 6, 5, 4)))
        assert (second.name, second.aliases) == ("小林", ())
    assert [person.aliases for person in await ledger.names.people(OTHER_GROUP.scope)] == [()]


async def test_names_that_several_people_bear_in_one_place_are_told(ledger: Ledger) -> None:
    """Names shared by several people of one place are returned; namesakes elsewhere or among those asked are not."""
    for scope, person, name in (
        (GROUP.scope, "1", "阿棠"),
        (GROUP.scope, "2", "阿棠"),
        (GROUP.scope, "1", "棠棠"),
        (OTHER_GROUP.scope, "2", "棠棠"),
    ):
        await name_person(ledger, scope, person, name, NOON)
    assert await ledger.names.shared(["1"]) == ["阿棠"]
    assert await ledger.names.shared(["1", "2"]) == []


async def test_words_that_others_used_before_are_no_names(ledger: Ledger) -> None:
    """A name that somebody else said in the place before it was first seen is told with words, unless beside the id."""
    other = Scene.group("10001", "2")
    await ledger.log.append([a_message("问小明(1)", other), a_message("棠棠来", other, later(hours=2))])
    for name in ("花生过敏", "小明", "棠棠"):
        await name_person(ledger, GROUP.scope, "1", name, later(hours=1))
    assert await ledger.names.shared(["1"]) == []
    assert await ledger.names.shared(["1"], with_words=True) == []
    await ledger.log.append([a_message("花生过敏怎么办", other, later(minutes=1))])
    assert await ledger.names.shared(["1"], with_words=True) == ["花生过敏"]
    assert await ledger.names.shared(["1", "2"], with_words=True) == []


@pytest.mark.parametrize(("lines", "days", "words"), [(9, 6, ["小明", "花生"]), (10, 6, ["花生"]), (0, 7, ["花生"])])
async def test_a_name_that_somebody_came_with_is_a_name(
    ledger: Ledger, lines: int, days: int, words: list[str]
) -> None:
    """Others may have named a person before their first line; a week or ten lines tell that from a word taken later."""
    own, other = Scene.group("10001", "1"), Scene.group("10001", "2")
    await ledger.log.append([a_message("等小明买花生", other), *(a_message("嗯", own, later()) for _ in range(lines))])
    await name_person(ledger, GROUP.scope, "1", "小明", later(hours=1))
    await name_person(ledger, GROUP.scope, "1", "花生", later(hours=2))
    await name_person(ledger, GROUP.scope, "1", "花生", later(days=days, hours=1))
    assert await ledger.names.shared(["1"], with_words=True) == words
