"""What happens to one claimed job, also when it happens more than once."""

from __future__ import annotations

from typing import Any

import pytest

from cognitive_memory_core.adapters.inmemory.ledger import InMemoryLedger
from cognitive_memory_core.adapters.offline.rules import RuleHistorian
from cognitive_memory_core.consent import Consent
from cognitive_memory_core.domain.hit import Reading
from cognitive_memory_core.domain.job import Job
from cognitive_memory_core.domain.turn import Dialogue
from cognitive_memory_core.errors import StorageRefused
from cognitive_memory_core.historian.pipeline import Pipeline
from tests.support.builders import GROUP, OPERATOR, PRIVATE, a_job, a_message
from tests.support.clock import NOON, SHANGHAI
from tests.support.mirrors import NoMirror

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
    """Stands round a ledger's port and dies at one of its calls, before or after it took effect."""

    def __init__(self, port: Any, fuse: Fuse) -> None:
        """Share a fuse with the other ports."""
        self._port = port
        self._fuse = fuse

    def __getattr__(self, name: str) -> Any:
        """Give the port's own method, with the fuse in it."""
        method = getattr(self._port, name)

        async def call(*arguments: Any, **options: Any) -> Any:
            self._fuse.burn(after=False)
            answer = await method(*arguments, **options)
            self._fuse.burn(after=True)
            return answer

        return call


class Fuse:
    """Dies at the n-th point, once."""

    def __init__(self, points: int) -> None:
        """Let so many points pass."""
        self.left = points
        self.passed = 0

    def burn(self, *, after: bool) -> None:
        """Pass a point, or die there."""
        self.passed += 1
        self.left -= 1
        if self.left == 0:
            raise StorageRefused("after" if after else "before")


def pipeline_over(ledger: InMemoryLedger, fuse: Fuse) -> Pipeline:
    """Put a pipeline over a ledger that may die."""
    return Pipeline(
        RuleHistorian(SHANGHAI),
        Crashing(ledger.events, fuse),
        Crashing(ledger.notes, fuse),
        Crashing(ledger.names, fuse),
        NoMirror(),
        Consent(ledger.consent, ledger.names),
        SHANGHAI,
    )


async def state_of(ledger: InMemoryLedger) -> list[str]:
    """Give everything that a ledger holds, in an order of its own."""
    return sorted([repr(row) async for row in ledger.archive.rows()])


@pytest.mark.parametrize("job", JOBS, ids=["turn", "private", "dialogue"])
async def test_a_crash_anywhere_replays_to_the_same_state(job: Job) -> None:
    """Wherever a job is interrupted, running it again ends in exactly the state of a run that was not."""
    whole, counting = InMemoryLedger(), Fuse(0)
    await pipeline_over(whole, counting).process(job)
    expected = await state_of(whole)
    assert expected
    for point in range(1, counting.passed + 1):
        ledger = InMemoryLedger()
        with pytest.raises(StorageRefused):
            await pipeline_over(ledger, Fuse(point)).process(job)
        await pipeline_over(ledger, Fuse(0)).process(job)
        await pipeline_over(ledger, Fuse(0)).process(job)
        assert await state_of(ledger) == expected, point


async def test_the_memo_is_stored_before_anything_is_thought() -> None:
    """A historian that fails costs no memo: it is in the ledger before the first thought."""

    class Thoughtless(RuleHistorian):
        """Fails to think."""

        async def rewrite(self, *_: Any) -> Any:
            """Fail."""
            raise StorageRefused("x")

    ledger = InMemoryLedger()
    pipeline = pipeline_over(ledger, Fuse(0))
    with pytest.raises(StorageRefused):
        await Pipeline(
            Thoughtless(SHANGHAI),
            pipeline.events,
            pipeline.notes,
            pipeline.names,
            pipeline.mirror,
            pipeline.consent,
            SHANGHAI,
        ).process(JOBS[0])
    assert [memo.text for memo in await ledger.notes.memos(GROUP.scope, 5)] == ["记下了"]


async def test_speakers_keep_what_they_said() -> None:
    """Each statement of a dialogue belongs to the one who made it."""
    ledger = InMemoryLedger()
    await pipeline_over(ledger, Fuse(0)).process(JOBS[2])
    events = await ledger.events.recent(Reading(OPERATOR), 10)
    assert {event.sender_id for event in events} == {"2000001", "2000009"}
