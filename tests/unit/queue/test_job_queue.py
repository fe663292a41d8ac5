"""What the job queue guarantees."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from cognitive_memory_core.domain.job import Job, QueueCounts
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.domain.turn import Dialogue
from cognitive_memory_core.errors import QueueFull
from cognitive_memory_core.queue.job_queue import Claim, FileQueue
from cognitive_memory_core.text.redaction import Redaction
from tests.support.builders import GROUP, OTHER_GROUP, PRIVATE, a_job, a_message
from tests.support.clock import NOON, FrozenClock
from tests.support.queues import taken

from .conftest import Open


async def buried(queue: FileQueue, job: Job, error: str = "坏了") -> None:
    """Enqueue a job and bury it."""
    await queue.enqueue(job)
    await queue.bury(await taken(queue), error)


async def test_scopes_take_turns(queue: FileQueue):
    """Scopes are claimed in rotation, so that one with many jobs does not delay the others."""
    jobs = [a_job(), a_job(), a_job(scene=OTHER_GROUP), a_job(scene=PRIVATE)]
    for job in jobs:
        await queue.enqueue(job)
    order: list[str] = []
    for _ in jobs:
        claim = await taken(queue)
        order.append(claim.job.id)
        await queue.complete(claim)
    assert order == [jobs[index].id for index in (0, 2, 3, 1)]


async def test_a_claim_that_is_over_changes_nothing(queue: FileQueue):
    """A claim that is no longer held cannot complete, requeue or bury its job."""
    await queue.enqueue(a_job())
    stale = await taken(queue)
    await queue.requeue(stale, delay=0, counted=True)
    fresh = await taken(queue)
    await queue.complete(stale)
    await queue.requeue(stale, delay=0, counted=True)
    await queue.bury(stale, "迟到")
    assert queue.counts().processing == 1
    await queue.complete(fresh)
    await queue.complete(fresh)
    assert queue.counts() == QueueCounts()


@pytest.mark.parametrize(
    ("bounds", "scene"),
    [({"max_pending": 2}, OTHER_GROUP), ({"max_pending_per_group": 2}, GROUP), ({"max_pending_mb": 0.01}, OTHER_GROUP)],
)
async def test_a_full_queue_refuses_and_keeps_what_it_has(reopen: Open, bounds: dict[str, float], scene: Scene):
    """At each limit the newest job is refused with QueueFull and can be handed in later; waiting jobs stay."""
    queue = await reopen(**bounds)
    text = "茶" * 1500
    await queue.enqueue(a_job(text))
    await queue.enqueue(a_job(text))
    before = queue.counts()
    late = a_job(text, scene=scene)
    with pytest.raises(QueueFull, match="队列已满"):
        await queue.enqueue(late)
    assert queue.counts() == before
    assert not queue.knows(late.id)
    await queue.complete(await taken(queue))
    await queue.enqueue(late)
    assert queue.knows(late.id)


async def test_a_dialogue_loses_withdrawn_lines(queue: FileQueue):
    """Withdrawn messages are removed from a dialogue, and the job is removed with the last one."""
    lines = (a_message("一", id="m1"), a_message("二", id="m2"))
    await queue.enqueue(Job("d1", Dialogue(GROUP, lines), NOON))
    assert await queue.withdraw(GROUP.scope, "m1") == 1
    claim = await taken(queue)
    assert claim.job.work == Dialogue(GROUP, lines[1:])
    await queue.requeue(claim, delay=0, counted=False)
    assert await queue.withdraw(GROUP.scope, "m2") == 1
    assert await queue.claim() is None


@pytest.mark.parametrize("way", ["requeue", "bury", "recover"])
async def test_a_job_in_hand_comes_back_without_withdrawn_messages(reopen: Open, queue: FileQueue, way: str):
    """A message withdrawn while its job is claimed is gone when the job is requeued, buried or recovered."""
    job = a_job(recent_messages=[a_message("说错了", id="m2")], message_ids=["m1"])
    await queue.enqueue(job)
    claim = await taken(queue)
    assert await queue.withdraw(GROUP.scope, "m2") == 1
    assert await queue.withdraw(GROUP.scope, "m2") == 0
    queue = await put_down(reopen, queue, claim, way)
    assert (await taken(queue)).job == replace(job, work=replace(job.work, recent_messages=()))
    assert queue.counts() == QueueCounts(processing=1)


@pytest.mark.parametrize("way", ["requeue", "bury", "recover", "complete"])
async def test_a_job_in_hand_of_which_nothing_is_left_never_comes_back(reopen: Open, queue: FileQueue, way: str):
    """A claimed job of which nothing is left keeps its scope busy until it is released, and is then dropped."""
    job, later = a_job(memo="聊了茶", message_ids=["m1"]), a_job()
    await queue.enqueue(job)
    await queue.enqueue(later)
    claim = await taken(queue)
    assert await queue.withdraw(GROUP.scope, "m1") == 1
    assert await queue.withdraw(GROUP.scope, "m1") == 0
    assert queue.waiting_memos(GROUP.scope) == []
    assert await queue.claim() is None
    queue = await put_down(reopen, queue, claim, way)
    assert not queue.knows(job.id)
    assert queue.counts().failed == queue.counts().processing == 0
    assert (await taken(queue)).job == later


async def put_down(reopen: Open, queue: FileQueue, claim: Claim, way: str) -> FileQueue:
    """Release a claim in one of the ways, and revive it if it was buried."""
    if way == "recover":
        queue = await reopen()
        await queue.recover()
    elif way == "requeue":
        await queue.requeue(claim, delay=0, counted=True)
    elif way == "complete":
        await queue.complete(claim)
    else:
        await queue.bury(claim, "坏了")
        await queue.revive()
    return queue


async def test_a_job_on_its_way_loses_withdrawn_messages(queue: FileQueue):
    """A withdrawal during the write of a job still takes effect on it."""
    job = a_job(message_ids=["m1"])
    await asyncio.gather(queue.enqueue(job), queue.withdraw(GROUP.scope, "m1"))
    assert not queue.knows(job.id)


MILI = Scene.group("10001", "2000002", user_name="米粒", group_name="阿棠的读书会")
HIDE = Redaction.of({GROUP.user_id}, {"阿棠", "海棠未眠"})


def told_by_mili(**fields: Any) -> Job:
    """Return another person's job that mentions the person in every field."""
    return a_job(
        "米粒(2000002) 说阿棠(2000001) 怕狗",
        scene=MILI,
        memo="聊了海棠未眠",
        perspective="阿棠",
        source_message="阿棠呢",
        request_id="2000001 的第三轮",
        recent_messages=[
            a_message("我怕狗", id="m1"),
            a_message("阿棠别怕", id="b1", is_bot=True),
            a_message("阿棠怕狗", MILI, id="m2"),
            "阿棠(2000001): 真的怕",
            "[11:58] 海棠未眠：怕的",
            "豆沙: 阿棠真怕",
        ],
        **fields,
    )


def without_them(job: Job) -> Job:
    """Return what must be left of that job after an erasure."""
    turn = replace(
        job.work,
        memo="聊了某位成员",
        observations=("米粒(2000002) 说某位成员 怕狗",),
        perspective="某位成员",
        source_message="某位成员呢",
        request_id="某位成员 的第三轮",
        recent_messages=[a_message("某位成员怕狗", MILI, id="m2"), "豆沙: 某位成员真怕"],
    )
    return replace(job, work=turn)


async def test_an_erased_persons_turns_leave_the_queue_in_every_state(reopen: Open, queue: FileQueue):
    """An erased person's turns are removed in every state, place and agent, and do not come back."""
    failed, held = a_job(scene=OTHER_GROUP), a_job(memo="聊了茶")
    waiting = [a_job(memo="聊了书"), a_job(scene=PRIVATE), a_job(scene=replace(PRIVATE, agent="another"))]
    other = a_job("别人的事", scene=replace(MILI, group_name="读书会"))
    await buried(queue, failed)
    for job in (held, *waiting, other):
        await queue.enqueue(job)
    claim = await taken(queue)
    assert claim.job == held
    assert await queue.erase_person(GROUP.user_id, HIDE) == 5
    assert queue.waiting_memos(GROUP.scope) == []
    assert await queue.erase_person(GROUP.user_id, HIDE) == 0
    queue = await put_down(reopen, queue, claim, "requeue")
    queue = await reopen()
    assert await queue.revive() == 0
    assert (await taken(queue)).job == other
    assert queue.counts() == QueueCounts(processing=1)


@pytest.mark.parametrize("state", ["pending", "processing", "failed"])
async def test_others_jobs_lose_an_erased_person(reopen: Open, queue: FileQueue, state: str):
    """In others' jobs an erased person's lines and the bot's answers to them go, and their name is hidden elsewhere."""
    job = told_by_mili()
    await queue.enqueue(job)
    claim = await taken(queue) if state != "pending" else None
    if claim and state == "failed":
        await queue.bury(claim, "阿棠(2000001) 的名字解析不了")
    assert await queue.erase_person(GROUP.user_id, HIDE) == 1
    assert await queue.erase_person(GROUP.user_id, HIDE) == 0
    assert [failed.error for failed in await queue.failed()] == ["某位成员 的名字解析不了"] * (state == "failed")
    if state != "failed":
        assert [memo.text for memo in queue.waiting_memos(GROUP.scope)] == ["聊了某位成员"]
    queue = await put_down(reopen, queue, claim, "bury" if state == "failed" else "requeue") if claim else queue
    left = (await taken(queue)).job
    assert left == without_them(job)
    assert (left.work.scene.user_name, left.work.scene.group_name) == ("米粒", "某位成员的读书会")


async def test_a_dialogue_loses_an_erased_person(queue: FileQueue):
    """A dialogue without the erased person belongs to its last remaining speaker, or is removed if none is left."""
    theirs, kept = a_message("我怕狗"), a_message("阿棠怕狗", MILI, id="m2")
    answer = a_message("别怕，阿棠", is_bot=True)
    await queue.enqueue(Job("d1", Dialogue(GROUP, (theirs, answer, kept)), NOON))
    await queue.enqueue(Job("d2", Dialogue(GROUP, (theirs, answer)), NOON))
    await queue.enqueue(Job("d3", Dialogue(MILI, (theirs, a_message("大家好", MILI, id="b2", is_bot=True))), NOON))
    await queue.enqueue(Job("d4", Dialogue(PRIVATE, (a_message("在吗", PRIVATE),)), NOON))
    assert await queue.erase_person(GROUP.user_id, HIDE) == 4
    claim = await taken(queue)
    assert claim.job == Job("d1", Dialogue(MILI, (replace(kept, text="某位成员怕狗"),)), NOON)
    assert claim.job.work.scene.user_name == "米粒"
    assert queue.counts() == QueueCounts(processing=1)


async def test_a_namesake_keeps_job_and_name(queue: FileQueue):
    """A namesake of an erased person keeps their job and name; only texts with the name are changed."""
    namesake = Scene.group("10001", "2000009", user_name="阿棠")
    job = a_job("阿棠怕猫", scene=namesake, recent_messages=[a_message("我怕猫", namesake)], message_ids=["2000001"])
    await queue.enqueue(job)
    assert await queue.erase_person(GROUP.user_id, HIDE) == 1
    left = (await taken(queue)).job
    assert left == replace(job, work=replace(job.work, observations=("某位成员怕猫",)))
    assert [line.scene.user_name for line in left.work.recent_messages] == ["阿棠"]


async def test_a_job_on_its_way_is_erased_too(queue: FileQueue):
    """An erasure during the write of a job still takes effect on it."""
    job = a_job()
    await asyncio.gather(queue.enqueue(job), queue.erase_person(GROUP.user_id, HIDE))
    assert not queue.knows(job.id)


@pytest.mark.parametrize("state", ["pending", "processing", "failed"])
async def test_an_erased_place_loses_its_jobs(reopen: Open, queue: FileQueue, state: str):
    """Erasing a place removes its jobs in every state; other places and agents keep theirs."""
    others = [a_job(scene=OTHER_GROUP), a_job(scene=replace(GROUP, agent="another"))]
    job = a_job(memo="聊了茶")
    await queue.enqueue(job)
    claim = await taken(queue) if state != "pending" else None
    if claim and state == "failed":
        await queue.bury(claim, "坏了")
    for other in others:
        await queue.enqueue(other)
    assert await queue.erase_place(GROUP.scope) == 1
    assert await queue.erase_place(GROUP.scope) == 0
    if claim and state == "processing":
        await queue.complete(claim)
    assert not queue.knows(job.id)
    queue = await reopen()
    assert [(await taken(queue)).job for _ in others] == others


@pytest.mark.parametrize("way", ["requeue", "bury", "complete"])
async def test_a_job_may_be_put_down_while_a_message_is_withdrawn(reopen: Open, queue: FileQueue, way: str):
    """If a claim is released during a withdrawal, the job ends in one state, without the message."""
    for awaits in range(8):
        job = a_job(recent_messages=[a_message("说错了", id="m2")])
        await queue.enqueue(job)
        claim = await taken(queue)
        withdrawal = asyncio.create_task(queue.withdraw(GROUP.scope, "m2"))
        for _ in range(awaits):
            await asyncio.sleep(0)
        await put_down(reopen, queue, claim, way)
        await withdrawal
        assert queue.knows(job.id) is (way != "complete")
        if way != "complete":
            again = await taken(queue)
            assert again.job == replace(job, work=replace(job.work, recent_messages=()))
            await queue.complete(again)


async def test_buried_jobs_are_bounded_in_number(reopen: Open, clock: FrozenClock):
    """At each clean-up the oldest buried jobs above the limit are removed, and counted."""
    queue = await reopen(failed_max_files=2, failed_cleanup_interval=4, failed_max_age_days=0)
    jobs = [a_job() for _ in range(4)]
    for job in jobs[:3]:
        await buried(queue, job)
        clock.advance(minutes=1)
    assert queue.counts().failed == 3
    await queue.enqueue(jobs[3])
    await taken(queue)  # the fourth claim triggers the clean-up
    assert [failed.id for failed in await queue.failed()] == [job.id for job in jobs[1:3]]
    assert queue.counts().removed == 1


async def test_the_messages_that_jobs_learn_from_are_known(queue: FileQueue):
    """The messages that jobs learn from are reported in every state, without recent lines and other places."""
    recent = a_message("早", id="recent")
    await buried(queue, a_job("甲", message_ids=("failed",), recent_messages=(recent,)))
    await queue.enqueue(a_job("乙", message_ids=("held",)))
    await taken(queue)
    lines = (a_message("丙", id="said"), a_message("丁", id="also"))
    await queue.enqueue(Job("d" * 32, Dialogue(GROUP, lines), NOON))
    await queue.enqueue(a_job("戊", scene=OTHER_GROUP, message_ids=("elsewhere",)))
    asked = ["failed", "held", "said", "recent", "elsewhere", "unknown"]
    assert await queue.holding(GROUP.scope, asked) == {"failed", "held", "said"}
