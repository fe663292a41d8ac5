"""Tests of merging if the model refuses single facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import pytest

from cognitive_memory_core.adapters.offline.merging import RuleMerger
from cognitive_memory_core.domain.fact import Fact
from cognitive_memory_core.domain.people import Person
from cognitive_memory_core.domain.profile import Profile
from cognitive_memory_core.errors import BadAnswer, PermanentError, UnavailableError
from cognitive_memory_core.historian.profiles.refused_facts import MOST_REFUSALS, MergerWithoutRefused
from cognitive_memory_core.ports.models import ProfileContent
from cognitive_memory_core.settings import Live, ProfileSettings, Settings
from tests.support.clock import NOON
from tests.support.merging import World
from tests.support.profiles import TANG, a_profile

ROOMY = Settings(profile=ProfileSettings(max_chars=4000))
WHO = Person("2000001", "阿棠")


class Model:
    """A model that appends facts as lines and refuses questions with a word."""

    def __init__(self, word: str = "违禁", error: Exception | None = None) -> None:
        """Refuse this word."""
        self.word = word
        self.error = error or PermanentError("400")
        self.asked: list[list[str]] = []

    async def merge(
        self, person: Person, profile: Profile | None, facts: Sequence[Fact], now: datetime
    ) -> ProfileContent:
        """Merge or refuse."""
        self.asked.append([fact.text for fact in facts])
        old = profile.summary if profile else ""
        if self.word in "\n".join((old, *self.asked[-1])):
            raise self.error
        new = [fact.text for fact in facts if not fact.is_withdrawn]
        return ProfileContent(("画过",), "\n".join(filter(None, (old, *new))))


def facts_of(*texts: str) -> list[Fact]:
    """Return facts."""
    return [Fact(TANG, f"e{number}", text, "preference", NOON) for number, text in enumerate(texts)]


async def sifted(model: Model, facts: Sequence[Fact], profile: Profile | None = None) -> ProfileContent:
    """Merge facts."""
    return await MergerWithoutRefused(model, RuleMerger(Live(ROOMY))).merge(WHO, profile, facts, NOON)


@pytest.mark.parametrize("at", [0, 23, 47])
async def test_one_refused_fact_is_found_and_left_out(at: int, caplog: pytest.LogCaptureFixture) -> None:
    """Of 48 facts with a refused one, 47 are merged in order with a dozen calls, and the other is logged by id."""
    texts = [f"第 {number:02} 件事" for number in range(48)]
    texts[at] = "爱研究违禁词"
    model = Model()
    content = await sifted(model, facts_of(*texts))
    assert content == ProfileContent(("画过",), "\n".join(text for text in texts if "违禁" not in text))
    assert len(model.asked) <= 13
    assert f"historian_profile_merge user：模型不肯写这一条，跳过：e{at}" in caplog.text
    assert "违禁" not in caplog.text


async def test_what_nobody_refuses_is_asked_once() -> None:
    """Without a refusal there is one call."""
    model = Model()
    await sifted(model, facts_of("甲", "乙"))
    assert model.asked == [["甲", "乙"]]


async def test_a_refused_fact_alone_changes_nothing() -> None:
    """A refused single fact is left out, so that it does not make later merges fail."""
    model, standing = Model(), a_profile("喜欢乌龙茶。", TANG)
    assert await sifted(model, facts_of("爱研究违禁词"), standing) == ProfileContent(standing.tags, standing.summary)
    assert await sifted(model, facts_of("爱研究违禁词")) == ProfileContent((), "")
    assert len(model.asked) == 2


async def test_where_the_profile_is_what_is_refused_the_rules_go_on() -> None:
    """If the model refuses the existing profile, the facts are merged by rules."""
    content = await sifted(Model(), facts_of("喜欢咖啡", "喜欢爬山"), a_profile("管理员写了违禁词。", TANG))
    assert [word for word in ("违禁词", "喜欢咖啡", "喜欢爬山") if word not in content.summary] == []


async def test_refusals_are_bounded_and_lose_nothing() -> None:
    """The number of calls is limited, and unsorted facts are merged by rules."""
    model = Model()
    texts = [f"违禁 {number}" if number % 2 else f"好事 {number}" for number in range(48)]
    content = await sifted(model, facts_of(*texts))
    assert len(model.asked) <= 2 * MOST_REFUSALS
    assert [text for text in texts if "好事" in text and text not in content.summary] == []


async def test_what_is_withdrawn_is_taken_out_at_any_price() -> None:
    """A withdrawn fact that the model refuses is removed by rules, and the model merges the rest."""
    gone = replace(facts_of("阿棠(2000001) 爱研究违禁词")[0], is_withdrawn=True)
    standing = a_profile("喜欢乌龙茶。爱研究违禁词。", TANG)
    model = Model()
    content = await sifted(model, [gone, *facts_of("喜欢爬山")], standing)
    assert content.summary.split("\n") == ["喜欢乌龙茶。", "喜欢爬山"]
    assert (await sifted(model, [gone], standing)).summary == "喜欢乌龙茶。"


@pytest.mark.parametrize("error", [UnavailableError("away"), BadAnswer("坏")])
async def test_what_is_no_refusal_is_not_sifted(error: Exception) -> None:
    """Other errors than a refusal are raised after one call."""
    model = Model(error=error)
    with pytest.raises(type(error)):
        await sifted(model, facts_of("甲", "违禁", "乙"))
    assert len(model.asked) == 1


async def test_a_refused_fact_freezes_no_profile() -> None:
    """A refused fact is settled together with the others."""
    world = World()
    await world.tell(TANG, "喜欢乌龙茶", "爱研究违禁词", "喜欢爬山")
    await replace(world.entity, merger=MergerWithoutRefused(Model(), RuleMerger(world.settings))).merge(TANG)
    assert await world.summary(TANG) == "喜欢乌龙茶\n喜欢爬山"
    assert await world.waiting() == 0
