"""Tests of processing one job, also repeatedly."""

from __future__ import annotations

from typing import Any

import pytest

from cognitive_memory_core.domain.job import Job
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.domain.turn import Dialogue
from cognitive_memory_core.errors import StorageRefused
from cognitive_memory_core.historian.pipeline import Pipeline
from cognitive_memory_core.historian.rewriter import ModelHistorian
from cognitive_memory_core.historian.rules import RuleHistorian
from cognitive_memory_core.ports import Historian
from cognitive_memory_core.prompts.library import PromptLibrary
from cognitive_memory_core.settings.schema import Live, Settings
from tests.support.builders import GROUP, OPERATOR, PRIVATE, a_job, a_message
from tests.support.chats import ScriptedChat, said, statements
from tests.support.clock import NOON
from tests.support.ledgers import Ledger, a_ledger
from tests.support.mirrors import NoMirror
from tests.support.pipelines import a_pipeline
from tests.support.sightings import sightings_of

STRANGER = type(GROUP).group("10001", "2000009", user_name="路人")
JOBS = [
    a_job("阿棠对花生过敏", "阿棠养了一只猫", memo="记下了", message_ids=["m1"]),
    a_job("阿棠打算七月辞职", scene=PRIVATE),
    Job(
        "d" * 32,
        Dialogue(GROUP, (a_message("我对花生过敏", id="d1"), a_message("我从小就怕狗，见了就绕路", STRANGER, id="d2"))),
        NOON,
    ),
]


class Crashing:
    """A wrapper of a ledger port that crashes before or after one of its calls."""

    def __init__(self, port: Any, fuse: Fuse) -> None:
        """Wrap a port and share a fuse."""
        self._port = port
        self._fuse = fuse

    def __getattr__(self, name: str) -> Any:
        """Return the port's method with the fuse around it."""
        method = getattr(self._port, name)

        async def call(*arguments: Any, **options: Any) -> Any:
            self._fuse.burn(after=False)
            answer = await method(*arguments, **options)
            self._fuse.burn(after=True)
            return answer

        return call


class Fuse:
    """A counter that crashes once at the n-th point."""

    def __init__(self, points: int) -> None:
        """Let so many points pass."""
        self.left = points
        self.passed = 0

    def burn(self, *, after: bool) -> None:
        """Pass a point or crash."""
        self.passed += 1
        self.left -= 1
        if self.left == 0:
            raise StorageRefused("after" if after else "before")


def pipeline_over(ledger: Ledger, fuse: Fuse, historian: Historian | None = None) -> Pipeline:
    """Return a pipeline over a ledger that may crash."""
    return a_pipeline(
        ledger,
        historian or RuleHistorian(),
        events=Crashing(ledger.events, fuse),
        memos=NoMirror(Crashing(ledger.notes, fuse)),
        name_observer=sightings_of(ledger, Crashing(ledger.names, fuse)),
        asks_model=historian is not None,
    )


async def state_of(ledger: Ledger) -> list[str]:
    """Return the contents of a ledger in a fixed order."""
    return sorted([repr(row) async for page in ledger.archive.pages() for row in page])


@pytest.mark.parametrize("job", JOBS, ids=["turn", "private", "dialogue"])
async def test_a_crash_anywhere_replays_to_the_same_state(job: Job) -> None:
    """A job interrupted anywhere and repeated leaves the same state as an uninterrupted one."""
    whole, counting = a_ledger(), Fuse(0)
    await pipeline_over(whole, counting).process(job)
    expected = await state_of(whole)
    assert expected
    for point in range(1, counting.passed + 1):
        ledger = a_ledger()
        with pytest.raises(StorageRefused):
            await pipeline_over(ledger, Fuse(point)).process(job)
        await pipeline_over(ledger, Fuse(0)).process(job)
        await pipeline_over(ledger, Fuse(0)).process(job)
        assert await state_of(ledger) == expected, point


# Before and after a model.

TEA = said("阿棠(2000001)喜欢乌龙茶", kind="preference", subjects=["2000001"])


def with_model(ledger: Ledger, *answers: object, judging: tuple[object, ...] = ()) -> tuple[Pipeline, ScriptedChat]:
    """Return a pipeline with a scripted model over a ledger."""
    chat = ScriptedChat(*answers)
    historian = ModelHistorian(chat, ScriptedChat(*judging), PromptLibrary(), Live(Settings()), RuleHistorian())
    return pipeline_over(ledger, Fuse(0), historian), chat


async def texts_of(ledger: Ledger) -> list[tuple[str, int]]:
    """Return the stored texts with their counts."""
    return [(event.text, event.count) for event in await ledger.events.recent(ReadFilter(OPERATOR), 50)]


async def test_the_same_in_other_words_raises_the_count() -> None:
    """If the model says that a statement repeats an event, its count rises."""
    ledger = a_ledger()
    again = said("阿棠(2000001)特别喜欢乌龙茶", subjects=["2000001"], same_as=1)
    pipeline, _ = with_model(ledger, statements(TEA), statements(again))
    await pipeline.process(a_job("阿棠喜欢乌龙茶"))
    await pipeline.process(a_job("阿棠特别喜欢乌龙茶"))
    assert await texts_of(ledger) == [("阿棠(2000001)喜欢乌龙茶", 2)]
