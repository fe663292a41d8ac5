"""The durable queue against a model, through crashes; tests/unit/queue/test_faults.py has those within a step."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from cognitive_memory_core.domain.scope import Scope
from cognitive_memory_core.queue.codec import parsed
from cognitive_memory_core.queue.job_queue import SUSPECT_AFTER, Claim, FileQueue
from cognitive_memory_core.settings.schema import QueueSettings
from tests.support.builders import GROUP, OTHER_GROUP, PRIVATE, a_job
from tests.support.clock import FrozenClock
from tests.support.disk import FaultyDisk
from tests.support.sizes import sized

SCENES = (GROUP, OTHER_GROUP, PRIVATE)
FOLDERS = {"pending": "pending", "processing": "held", "failed": "failed"}
PATIENT = QueueSettings(job_max_retries=10_000, failed_cleanup_interval=0)


@dataclass
class Known:
    """The model's knowledge of a job that was accepted and is not done."""

    scope: Scope
    arrival: int
    state: Literal["pending", "held", "failed"] = "pending"
    attempts: int = 0
    is_suspect: bool = False

    def recover(self) -> None:
        """Requeue the job as a new process does after a crash."""
        if self.state == "held":
            self.state, self.is_suspect = "pending", self.attempts >= SUSPECT_AFTER
        else:
            self.is_suspect = False


class QueueMachine(RuleBasedStateMachine):
    """Every accepted job is exactly one of pending, processing, failed or done, and scopes keep their order."""

    def __init__(self) -> None:
        """Start with an empty folder."""
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.root = Path(tempfile.mkdtemp(prefix="queue-machine-"))
        self.clock = FrozenClock()
        self.jobs: dict[str, Known] = {}
        self.claims: dict[str, Claim] = {}
        self.rests: dict[Scope, float] = {}
        self.arrivals = 0

    @initialize()
    def start(self) -> None:
        """Open the queue as a new process does; claimed jobs are requeued."""
        self.claims.clear()
        self.rests.clear()
        self.queue = self.run(
            FileQueue(self.root, PATIENT, self.clock, disk=FaultyDisk(), elapsed=self.clock.elapsed).opened()
        )
        assert self.run(self.queue.recover()) == len(self.of("held"))
        for known in self.jobs.values():
            known.recover()

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine to its end."""
        return self.loop.run_until_complete(coroutine)

    @rule(scene=st.sampled_from(SCENES))
    def enqueue(self, scene: Any) -> None:
        """Enqueue a job."""
        job = a_job(scene=scene)
        self.run(self.queue.enqueue(job))
        self.accept(job.id, job.scope)

    @rule()
    def claim(self) -> None:
        """Claim a job: it must be the oldest of a scope that is free and not paused."""
        claim = self.run(self.queue.claim())
        candidates = self.candidates()
        in_hand = self.of("held")
        if claim is None:
            assert not candidates or any(self.jobs[job_id].is_suspect for job_id in (*in_hand, *candidates))
            assert not candidates or in_hand
            return
        assert claim.job.id in candidates
        known = self.jobs[claim.job.id]
        assert not any(self.jobs[job_id].is_suspect for job_id in in_hand)
        assert not (known.is_suspect and in_hand)
        known.state, known.attempts = "held", known.attempts + 1
        assert claim.attempts == known.attempts
        self.claims[claim.job.id] = claim

    @precondition(lambda self: self.claims)
    @rule(data=st.data())
    def complete(self, data: st.DataObject) -> None:
        """Complete a claimed job."""
        claim = self.put_down(data)
        self.run(self.queue.complete(claim))
        del self.jobs[claim.job.id]

    @precondition(lambda self: self.claims)
    @rule(data=st.data(), delay=st.sampled_from([0, 0, 60]), counted=st.booleans())
    def requeue(self, data: st.DataObject, delay: int, counted: bool) -> None:
        """Requeue a claimed job."""
        claim = self.put_down(data)
        self.run(self.queue.requeue(claim, delay=delay, counted=counted))
        known = self.jobs[claim.job.id]
        known.state, known.attempts, known.is_suspect = "pending", known.attempts - (not counted), False
        if delay:
            self.rests[known.scope] = self.clock.elapsed() + delay

    @precondition(lambda self: self.claims)
    @rule(data=st.data())
    def bury(self, data: st.DataObject) -> None:
        """Bury a claimed job."""
        claim = self.put_down(data)
        self.run(self.queue.bury(claim, "坏了"))
        self.jobs[claim.job.id].state, self.jobs[claim.job.id].is_suspect = "failed", False

    @rule(which=st.integers(0, 3))
    def revive(self, which: int) -> None:
        """Revive one buried job or all, as the newest."""
        buried = sorted(self.of("failed"), key=lambda job_id: self.jobs[job_id].arrival)
        chosen = buried if which == 0 else buried[which - 1 : which]
        assert self.run(self.queue.revive(None if which == 0 else (chosen or ["nobody"])[0])) == len(chosen)
        for job_id in chosen:
            self.accept(job_id, self.jobs[job_id].scope)
        if which == 0:  # "try now" ends every pause
            self.rests.clear()

    @rule(seconds=st.sampled_from([1, 61, 3600]))
    def wait(self, seconds: int) -> None:
        """Advance the clock."""
        self.clock.advance(seconds=seconds)

    @rule()
    def turn_the_clock_back(self) -> None:
        """Set the clock back: instants still increase, and pauses keep their length."""
        self.clock.advance(days=-1)

    @rule()
    def crash(self) -> None:
        """Kill the process and start the next one."""
        self.start()

    @invariant()
    def every_job_is_in_one_place(self) -> None:
        """Disk, index and model agree on the place of each job, and no other files exist."""
        on_disk = Counter((name.job_id, FOLDERS[folder]) for folder, name in self.on_disk())
        assert on_disk == Counter((job_id, known.state) for job_id, known in self.jobs.items())
        counts = self.queue.counts() if self.jobs else None
        if counts is not None:
            numbers = Counter(known.state for known in self.jobs.values())
            assert (counts.pending, counts.processing, counts.failed) == (
                numbers["pending"],
                numbers["held"],
                numbers["failed"],
            )

    def teardown(self) -> None:
        """Close the queue and remove its folder."""
        self.run(self.queue.close())
        self.loop.close()
        shutil.rmtree(self.root)

    def accept(self, job_id: str, scope: Scope) -> None:
        """Record a job as the newest arrival."""
        self.arrivals += 1
        self.jobs[job_id] = Known(scope, self.arrivals)

    def of(self, state: str) -> list[str]:
        """Return the ids of the jobs in a state."""
        return [job_id for job_id, known in self.jobs.items() if known.state == state]

    def candidates(self) -> set[str]:
        """Return the oldest waiting job of each scope that may be claimed now."""
        busy = {self.jobs[job_id].scope for job_id in self.of("held")}
        resting = {scope for scope, until in self.rests.items() if self.clock.elapsed() < until}
        heads: dict[Scope, str] = {}
        for job_id in sorted(self.of("pending"), key=lambda job_id: self.jobs[job_id].arrival):
            heads.setdefault(self.jobs[job_id].scope, job_id)
        return {job_id for scope, job_id in heads.items() if scope not in busy | resting}

    def put_down(self, data: st.DataObject) -> Claim:
        """Remove and return a random claim; drawn by arrival, since ids differ from run to run."""
        in_order = sorted(self.claims, key=lambda job_id: self.jobs[job_id].arrival)
        return self.claims.pop(in_order[data.draw(st.integers(0, len(in_order) - 1))])

    def on_disk(self) -> list[tuple[str, Any]]:
        """Return folder and name of every file; fail for a foreign name."""
        found = [(folder, parsed(path.name)) for folder in FOLDERS for path in (self.root / folder).glob("*")]
        assert all(name is not None for _, name in found)
        return found


class TestQueueMachine(QueueMachine.TestCase):
    """Every accepted job stays in exactly one place, whatever crashes."""

    settings = settings(
        max_examples=sized(25, 300),
        stateful_step_count=40,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        database=None,
    )
