"""Tests of suggestions: what is suggested, from whose experiences, and what becomes of a decision."""

from __future__ import annotations

import pytest

from cognitive_memory_core.errors import UnknownSuggestion
from tests.support.builders import GROUP
from tests.support.clock import NOON
from tests.support.experiences import LIN, MO, TANG, SuggestingGroup, an_experience
from tests.support.ledgers import committed, later

JAM = an_experience("打印机卡纸", "先关机，再打开后盖取出纸，最后重启", TANG)
JAM_AGAIN = an_experience("打印机又卡纸了", "关机，打开后盖取出纸，然后重启", LIN, 3)
WIFI = an_experience("宿舍 WiFi 老是断线", "把路由器换到 5G 频段", TANG)
WIFI_AGAIN = an_experience("宿舍的 WiFi 又断线了", "换到 5G 频段", TANG, 5)


async def test_a_problem_of_several_people_becomes_a_suggestion() -> None:
    """A problem that two people met is suggested with both experiences as evidence and a draft in their words."""
    group = await SuggestingGroup.over(JAM, JAM_AGAIN, WIFI)
    (found,) = await group.suggestions()
    assert (found.event_ids, found.people, found.days) == ((JAM.id, JAM_AGAIN.id), (TANG, LIN), 2)
    assert (found.kind, found.problem) == ("workflow", "打印机又卡纸了")
    assert found.draft == "“打印机又卡纸了”的流程：1. 关机，打开后盖取出纸；2. 重启（好了）"
    assert (found.first_at, found.last_at) == (NOON, later(days=3))


async def test_a_problem_of_several_days_becomes_a_suggestion() -> None:
    """A problem that one person met on two days is suggested; one that was told twice on one day is not."""
    assert [one.people for one in await (await SuggestingGroup.over(WIFI, WIFI_AGAIN)).suggestions()] == [(TANG,)]
    same_day = an_experience("宿舍的 WiFi 又断线了", "换到 5G 频段", TANG)
    assert await (await SuggestingGroup.over(WIFI, same_day)).suggestions() == []


async def test_kinds_follow_the_solutions() -> None:
    """Steps make a workflow, a command a skill, an answer to a question an FAQ line; the most frequent comes first."""
    group = await SuggestingGroup.over(
        an_experience("报销单不知道交给谁", "交给财务小王", TANG),
        an_experience("报销单该交给谁", "财务小王", LIN),
        an_experience("报销单到底交给谁", "给财务的小王", MO),
        an_experience("npm 安装依赖报错 ECONNRESET", "npm config set registry 换源", TANG),
        an_experience("装依赖 npm 报错 ECONNRESET", "npm config set registry", LIN),
        *(JAM, JAM_AGAIN),
    )
    assert [one.kind for one in await group.suggestions()] == ["faq", "workflow", "skill"]


async def test_other_problems_are_kept_apart() -> None:
    """Problems that share words but not their subject, or that have different codes, are not one pattern."""
    group = await SuggestingGroup.over(
        an_experience("服务器连不上", "重启服务", TANG),
        an_experience("打印机连不上", "换根线", LIN),
        an_experience("报错 E101", "重装", TANG),
        an_experience("报错 E205", "升级", LIN),
    )
    assert await group.suggestions() == []


async def test_what_was_dismissed_never_comes_back() -> None:
    """A dismissed problem is not suggested again, whoever meets it later and in whichever words."""
    group = await SuggestingGroup.over(JAM, JAM_AGAIN)
    await group.decide(accept=False)
    assert await group.suggestions() == []
    await committed(
        group.ledger, an_experience("打印机一直卡纸", "重启", MO, 9), an_experience("打印机总卡纸", "重启", LIN, 10)
    )
    assert await group.suggestions() == []
    assert (await group.ledger.beliefs.page(GROUP.scope, "all", 10)).total == 0


async def test_an_accept_that_was_interrupted_is_repeated_harmlessly() -> None:
    """If the belief was stored but the decision was not, accepting again stores no second belief."""
    group = await SuggestingGroup.over(JAM, JAM_AGAIN)
    await group.decide(accept=True)
    await group.ledger.database.write(lambda connection: connection.execute("DELETE FROM decisions").rowcount)
    await group.decide(accept=True)
    assert (await group.ledger.beliefs.page(GROUP.scope, "all", 10)).total == 1


async def test_a_decision_is_bound_to_what_was_shown() -> None:
    """With new evidence a suggestion has another id: nobody accepts words that they did not see."""
    group = await SuggestingGroup.over(JAM, JAM_AGAIN)
    (shown,) = await group.suggestions()
    await committed(group.ledger, an_experience("打印机卡纸", "用镊子夹出来", MO, 6))
    with pytest.raises(UnknownSuggestion):
        await group.suggesting.decide(GROUP, shown.id, accept=True)
