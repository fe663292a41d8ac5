"""Tests of forgetting a person or a place permanently, and of the purge afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from cognitive_memory_core.consent import Consent
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.domain.turn import Dialogue, Turn
from cognitive_memory_core.errors import StorageRefused, UnavailableError
from cognitive_memory_core.historian.admission import Admission
from cognitive_memory_core.historian.clock_watch import ClockWatch
from cognitive_memory_core.historian.intake import Intake
from cognitive_memory_core.historian.message_buffer import MessageBuffer
from cognitive_memory_core.historian.name_observer import NameObserver
from cognitive_memory_core.memory.forgetting import Forgetting
from cognitive_memory_core.memory.opened import Opened
from cognitive_memory_core.queue.job_queue import FileQueue
from cognitive_memory_core.settings.schema import Live, Settings
from tests.support.builders import GROUP, OTHER_GROUP, PRIVATE, a_draft, a_job, a_message, an_event
from tests.support.clock import NOON, FrozenClock
from tests.support.ledgers import a_ledger, a_memo, a_pin, archived, name_person
from tests.support.mirrors import ListedMirror
from tests.support.ports import Away
from tests.support.profiles import GROUP_KEY, MILI_THERE, TANG, TANG_THERE, TemporaryProfiles, a_profile
from tests.support.queues import a_queue, jobs_of

MILI = Scene.group("10001", "2000002", user_name="米粒", group_name="读书会")
WORDS = ("2000001", "阿棠", "队列里的名片", "还没写下的名片", "记录里的名片", "悄悄话")
SAID = timedelta(minutes=-5)


class Step:
    """A port that records its calls, of which a chosen one fails."""

    def __init__(self, port: object, world: World, name: str) -> None:
        """Wrap a port."""
        self._port, self._world, self._name = port, world, name

    def __getattr__(self, method: str) -> Any:
        """Record a call and forward it, unless it is the one that fails."""
        call = getattr(self._port, method)

        async def step(*arguments: Any, **named: Any) -> Any:
            self._world.take_step(f"{self._name}.{method}")
            answer = await call(*arguments, **named)
            if self._name == "ledger":
                await self._world.journal.flush()
            return answer

        return call if method in ("rows", "read") else step


class World:
    """All stores that forgetting reaches."""

    def __init__(self, queue: FileQueue, clock: FrozenClock) -> None:
        """Start empty and without a failing call."""
        self.clock = clock
        self.ledger = a_ledger(clock=self.clock)
        self.queue = queue
        self.profiles = TemporaryProfiles(5, self.clock)
        self.sightings = NameObserver(self.ledger.names, self.profiles, self.ledger.profiles, self.clock)
        self.journal = MessageBuffer(self.ledger.log, self.sightings)
        self.consent = Consent(self.ledger)
        self.mirror = ListedMirror(self.ledger.notes)
        self.steps: list[str] = []
        self.rebuilt = 0
        self.fails_at = 0
        self.is_away = False
        ledger = copy(self.ledger)
        ledger.eraser = Step(self.ledger.eraser, self, "ledger")  # type: ignore[assignment]
        ledger.profiles = Step(self.ledger.profiles, self, "profile index")  # type: ignore[assignment]
        self.reconciler = SimpleNamespace(rebuild=self.rebuild)
        opened = SimpleNamespace(
            ledger=ledger,
            buffer=self.journal,
            queue=Step(self.queue, self, "queue"),
            memos=Step(self.mirror, self, "mirror"),
            profiles=Step(self.profiles, self, "profiles"),
            consent=self.consent,
            clock=self.clock,
            watch=ClockWatch(self.clock, ledger.housekeeping),
            reconciler=self.reconciler,
        )
        self.forgetting = Forgetting(cast("Opened", opened), suspended=self.suspended)

    @property
    def intake(self) -> Intake:
        """Return the intake."""
        ledger, settings = self.ledger, Live(Settings())
        return Intake(
            queue=self.queue,
            events=ledger.events,
            memos=self.mirror,
            buffer=self.journal,
            consent=self.consent,
            settings=settings,
            clock=self.clock,
            admission=Admission(settings),
        )

    def take_step(self, step: str) -> None:
        """Record a step and fail if it is the chosen one."""
        self.steps.append(step)
        if len(self.steps) == self.fails_at:
            raise StorageRefused("满了")

    @asynccontextmanager
    async def suspended(self) -> AsyncIterator[None]:
        """Record when the worker is paused."""
        self.take_step("suspended")
        yield
        self.take_step("let go")

    async def rebuild(self) -> None:
        """Count the rebuilt indexes."""
        self.rebuilt += 1
        if self.is_away:
            raise UnavailableError("away")

    async def fill(self) -> None:
        """Store data about the person everywhere."""
        ledger, at = self.ledger, NOON + SAID
        await name_person(ledger, GROUP.scope, "2000001", "阿棠", at)
        theirs = an_event("阿棠(2000001) 的悄悄话", happened_at=at, id="e1", sender_name="阿棠")
        about = an_event("米粒(2000002) 说阿棠(2000001) 怕狗", MILI, happened_at=at, id="e2")
        await ledger.events.commit(a_draft(theirs, about))
        log = [a_message("悄悄话", replace(GROUP, user_name="记录里的名片"), at), a_message("记录里的名片呢", MILI, at)]
        await ledger.log.append(log)
        for memo in (a_memo("悄悄话", id="memo1", user_id="2000001", at=at), a_memo("问起阿棠", id="memo2", at=at)):
            await self.mirror.keep(memo)
        await ledger.notes.write_pin(a_pin("悄悄话", owner_id="2000001"))
        await ledger.notes.write_pin(a_pin("队列里的名片管水果"))
        await self.queue.enqueue(a_job("悄悄话", scene=replace(OTHER_GROUP, user_name="队列里的名片"), at=at))
        await self.queue.enqueue(a_job("阿棠就是还没写下的名片", scene=MILI, at=at))
        for key in (TANG, TANG_THERE):
            await self.profiles.write(a_profile("悄悄话", key, at))
        for words in ("阿棠和米粒的群", "安静的群"):
            standing = await self.profiles.find(GROUP_KEY)
            profile = a_profile(words, GROUP_KEY, at, name="群", tags=("阿棠",))
            await self.profiles.write(replace(profile, version=standing.version if standing else ""))
        await self.profiles.write(a_profile("爱茶", MILI_THERE, at, name="米粒"))
        self.journal.take(a_message("悄悄话", replace(PRIVATE, user_name="还没写下的名片"), at))
        self.journal.take(a_message("阿棠来吗", MILI, at))

    async def told(self) -> set[str]:
        """Return the words about the person that are still stored anywhere."""
        rows = await archived(self.ledger)
        jobs = jobs_of(self.queue)
        profiles = [path.read_text("utf-8") for path in self.profiles.root.rglob("*.md")]
        text = repr([rows, jobs, self.mirror.memos, list(self.journal._unwritten), profiles])
        return {word for word in WORDS if word in text}


@pytest.fixture
async def world() -> AsyncIterator[World]:
    """Return stores with data about the person; end background work afterwards."""
    clock = FrozenClock()
    queue = await a_queue(FileQueue, clock=clock)
    world = World(queue, clock)
    await world.fill()
    yield world
    await queue.close()


async def test_names_that_only_the_caller_knows_are_hidden(world: World) -> None:
    """A name that no store has, told by the caller, is hidden in what others said."""
    await world.ledger.log.append([a_message("豆沙包明天来", id="mention", scene=MILI)])
    await world.forgetting.forget_person(PRIVATE, "2000001", ["豆沙包"])
    assert [line.text for line in await world.ledger.log.find(MILI.scope, {"mention"})] == ["某位成员明天来"]


@pytest.mark.parametrize("at", range(1, 26))
async def test_forgetting_that_broke_off_can_be_repeated(world: World, at: int) -> None:
    """If any step fails, repeating the request forgets the person completely, and others lose nothing."""
    world.fails_at = at
    try:
        await world.forgetting.forget_person(GROUP, "2000001")
    except StorageRefused:
        await world.forgetting.forget_person(GROUP, "2000001")
    assert await world.told() == set()
    assert [memo.text for memo in world.mirror.memos.values()] == ["问起某位成员"]
    assert world.queue.counts().pending == 1
    world.fails_at = 0
    await world.forgetting.purge_if_due()
    assert (await world.ledger.eraser.purge_due()).purged_at


async def test_lines_gathered_before_do_not_come_in_afterwards(world: World) -> None:
    """Of messages submitted after the erasure, older ones are dropped and new ones accepted."""
    await world.forgetting.forget_person(GROUP, "2000001")
    world.clock.advance(minutes=5)
    old, new = a_message("悄悄话", sent_at=NOON + SAID), a_message("我又来了", sent_at=world.clock.now())
    kept = a_message("欢迎", MILI, NOON + SAID)
    assert await world.intake.consider(GROUP, [old]) is None
    job_id = await world.intake.consider(GROUP, [old, new, kept])
    [job] = [job for job in jobs_of(world.queue) if job.id == job_id]
    assert isinstance(job.work, Dialogue)
    assert list(job.work.messages) == [new, kept]
    world.intake.observe(old)
    assert await world.intake.remember(Turn(GROUP, memo="悄悄话", happened_at=NOON + SAID)) is None
    assert await world.told() == {"2000001", "阿棠"}
    assert await world.intake.remember(Turn(MILI, memo="聊了茶", recent_messages=[old, new])) is not None
    assert await world.intake.remember(Turn(GROUP, memo="又聊了茶")) is not None


async def test_what_waited_while_the_log_refused_is_written_clean(world: World) -> None:
    """Older messages of others that reach the log after the erasure do not name the person."""
    world.journal.log, log = Away(), world.journal.log  # type: ignore[assignment]
    world.journal.take(a_message("阿棠还没来", MILI, NOON + SAID))
    forget = world.ledger.eraser.forget_person

    async def and_mend(*arguments: Any) -> Any:
        world.journal.log = log
        return await forget(*arguments)

    world.ledger.eraser.forget_person = and_mend  # type: ignore[method-assign]
    await world.forgetting.forget_person(GROUP, "2000001")
    said = [row.text for row in await archived(world.ledger) if isinstance(row, Message)]
    assert "某位成员还没来" in said
    assert await world.told() == set()


async def test_a_purge_runs_at_most_once_an_hour(world: World) -> None:
    """A second purge waits for an hour, and none runs without an erasure."""
    assert await world.forgetting.erase_due() == 3600
    assert world.rebuilt == 0
    await world.forgetting.forget_person(GROUP, "2000001")
    assert await world.forgetting.erase_due() == 3600
    assert world.rebuilt == 1
    world.clock.advance(minutes=59)
    await world.forgetting.forget_person(MILI, "2000002")
    assert await world.forgetting.erase_due() == 60
    assert (await world.ledger.eraser.purge_due()).erased_at == world.clock.now()
    world.clock.advance(minutes=1)
    assert await world.forgetting.erase_due() == 3600
    assert world.rebuilt == 2


async def test_a_purge_is_due_until_the_index_is_built_too(world: World) -> None:
    """A purge is complete only after the index is rebuilt; while that is unavailable, it is tried once an hour."""
    world.is_away = True
    await world.forgetting.forget_person(GROUP, "2000001")
    await world.forgetting.erase_due()
    assert (await world.ledger.eraser.purge_due()).erased_at is not None
    world.is_away = False
    await world.forgetting.erase_due()
    assert (await world.ledger.eraser.purge_due()).erased_at is not None
    world.clock.advance(hours=1)
    await world.forgetting.erase_due()
    assert (await world.ledger.eraser.purge_due()).erased_at is None


async def test_who_is_forgotten_during_a_purge_is_purged_too(world: World) -> None:
    """An erasure during a purge makes another purge due, which rebuilds the index again."""
    await world.forgetting.forget_person(GROUP, "2000001")
    building, may_end = asyncio.Event(), asyncio.Event()
    rebuild = world.rebuild

    async def slowly() -> None:
        building.set()
        await may_end.wait()
        await rebuild()

    world.reconciler.rebuild = slowly
    purging = asyncio.create_task(world.forgetting.purge_if_due())
    await building.wait()
    await world.forgetting.forget_person(MILI, "2000002")
    may_end.set()
    await purging
    assert (await world.ledger.eraser.purge_due()).erased_at is not None
    world.clock.advance(hours=1)
    await world.forgetting.purge_if_due()
    assert (await world.ledger.eraser.purge_due()).erased_at is None
    assert world.rebuilt == 2


async def test_a_profile_written_during_an_erasure_is_cleaned_too(world: World) -> None:
    """A profile that was written during the erasure is cleaned as well."""
    forget = world.ledger.eraser.forget_person

    async def and_write(*arguments: Any) -> Any:
        await world.profiles.write(a_profile("阿棠又来了", ProfileKey.group("10002"), name="群"))
        return await forget(*arguments)

    world.ledger.eraser.forget_person = and_write  # type: ignore[method-assign]
    assert (await world.forgetting.forget_person(GROUP, "2000001")).reworded == 7
    assert await world.told() == set()
