"""Every kind of durable write: the state before, the step itself, and its promise afterwards."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path

from cognitive_memory_core.disk import Disk
from cognitive_memory_core.domain.event import Draft
from cognitive_memory_core.end_summaries import EndSummaries
from cognitive_memory_core.memory import CognitiveMemory
from cognitive_memory_core.profiles.files import FileProfiles
from cognitive_memory_core.queue.job_queue import Claim, FileQueue
from cognitive_memory_core.store.database import migrations, schema
from cognitive_memory_core.store.ledger import Ledger
from tests.support import profiles

from . import world
from .world import Found, Tokens, a_draft, a_job, a_memo, a_message, event_tokens, job_tokens

DRAINING = 60.0  # seconds


@dataclass
class Stage:
    """A data directory, and the parts of it that are open before the step."""

    data: Path
    disk: Disk | None = None
    queue: FileQueue | None = None
    ledger: Ledger | None = None
    memory: CognitiveMemory | None = None
    profiles: FileProfiles | None = None
    claim: Claim | None = None
    is_closed: bool = False  # the ledger is closed
    closing: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def go_on(self) -> None:
        """Do something else with the same objects, as a process does after a refusal."""
        if self.queue is not None:
            await self.queue.enqueue(a_job("后", world.THERE))
        if self.is_closed:
            self.ledger = await Ledger.open(self.data / "ledger.db", clock=world.CLOCK)
        if self.ledger is not None:
            await self.ledger.notes.write_memo(a_memo("后"))


Act = Callable[[Stage], Awaitable[object]]
Lay = Callable[[Path], Coroutine[object, object, None]]


@dataclass(frozen=True)
class Step:
    """One kind of write.

    After an acknowledgement all of ``new`` must exist, ``gone`` must not; ``new`` is all or nothing.
    """

    act: Act
    opens: tuple[str, ...] = ()
    new: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()
    lay: Lay = world.prepared
    drafts: tuple[Draft, ...] = ()
    drains: bool = False

    @property
    def after(self) -> frozenset[str]:
        """Return the tokens of what a driver hands in after the step (see :meth:`Stage.go_on`)."""
        return frozenset(token for part, token in AFTER.items() if part in self.opens)

    async def ready(self, data: Path, *, disk: Disk | None = None) -> Stage:
        """Open what the step needs, the queue on its own disk if one is given."""
        stage = Stage(data, disk)
        if "queue" in self.opens:
            stage.queue = await world.opened_queue(data, disk)
        if "claim" in self.opens:
            stage.claim = await _queue(stage).claim()
        if "ledger" in self.opens:
            stage.ledger = await Ledger.open(data / "ledger.db", clock=world.CLOCK)
        if "profiles" in self.opens:
            stage.profiles = profiles.opened(data, Disk(), days=1)
        if "memory" in self.opens:
            stage.memory = await stage.closing.enter_async_context(a_memory(data))
        return stage

    async def found(self, data: Path) -> Found:
        """Return what the next process finds; for the historian, after it has finished the rest."""
        torn = world.torn_files(data)
        if self.drains:
            async with a_memory(data) as memory:
                await memory.drain(DRAINING)
                await memory.revive()  # a job that the disk did not deliver was buried intact
                await memory.drain(DRAINING)
        rest = await world.found(data, drafts=self.drafts, whole=self.drains)
        return Found(rest.tokens, (*torn, *rest.torn))

    def judged(self, found: Found, before: Tokens, *, is_acked: bool, after: Iterable[str] = ()) -> Verdict:
        """Compare what is there with the state before and with what was acknowledged, in the step and ``after`` it."""
        tokens, things = found.tokens, self.new - _states(self.new)
        is_all_due = is_acked or any(tokens[token] for token in things)
        due = set(before) - _states(before) - self.gone | (self.new if is_all_due else frozenset()) | set(after)
        known = {*before, *self.new, *AFTER.values()}
        twice = {token for token in set(tokens) - _states(tokens) if tokens[token] > 1 or token not in known}
        undead = {token for token in self.gone if is_acked and tokens[token]}
        missing = {token for token in due if not tokens[token]}
        behind = {token for token in missing if self.drains and token.startswith("summary:")}
        return Verdict(sorted(missing - behind), sorted(twice | undead), found.torn, len(behind))


def _states(tokens: Iterable[str]) -> set[str]:
    """Return the tokens that describe a state, not an existence."""
    return {token for token in tokens if token.startswith(("tried:", "failed:", "done:"))}


@dataclass(frozen=True)
class Verdict:
    """What is missing, duplicated, or torn; ``behind`` counts lines missing in the copy of memos."""

    lost: list[str]
    twice: list[str]
    torn: tuple[str, ...]
    behind: int = 0

    @property
    def is_good(self) -> bool:
        """Return whether nothing went wrong."""
        return not (self.lost or self.twice or self.torn)


def a_memory(data: Path) -> AbstractAsyncContextManager[CognitiveMemory]:
    """Return the whole memory over a directory, without background work."""
    return CognitiveMemory.open(world.SETTINGS, data, background=False)


def _memory(stage: Stage) -> CognitiveMemory:
    assert stage.memory is not None
    return stage.memory


def _queue(stage: Stage) -> FileQueue:
    assert stage.queue is not None
    return stage.queue


def _ledger(stage: Stage) -> Ledger:
    assert stage.ledger is not None
    return stage.ledger


def _profiles(stage: Stage) -> FileProfiles:
    assert stage.profiles is not None
    return stage.profiles


def _claim(stage: Stage) -> Claim:
    assert stage.claim is not None
    return stage.claim


async def _restart(stage: Stage) -> None:
    queue = await world.opened_queue(stage.data, stage.disk)
    await queue.recover()
    stage.queue = queue


async def _copy_memo(stage: Stage) -> None:
    mirror = EndSummaries(stage.data / "end_summaries.json", world.CLOCK)
    await mirror.copy(a_memo("二"))
    await mirror.flush()
    if mirror._waiting:  # noqa: SLF001  # flushing reports a refusal by keeping the line
        raise Unwritten


class Unwritten(Exception):
    """The copy of memos is still queued: writing it was refused and logged."""


async def _open_ledger(stage: Stage) -> None:
    ledger = await Ledger.open(stage.data / "ledger.db", clock=world.CLOCK)
    await ledger.notes.write_memo(a_memo("二"))


async def _write_and_close(stage: Stage) -> None:
    await _ledger(stage).notes.write_memo(a_memo("二"))
    stage.is_closed = True
    await _ledger(stage).close()


async def _drain(stage: Stage) -> None:
    await _memory(stage).drain(DRAINING)
    await stage.closing.aclose()


async def _without_ledger(data: Path) -> None:
    await world.prepared(data)
    _remove_ledger(data)


def _remove_ledger(data: Path) -> None:
    for file in data.glob("ledger.db*"):
        file.unlink()


async def _with_old_ledger(data: Path) -> None:
    """Create a ledger of the previous schema version with the same rows."""
    await world.prepared(data)
    await _downgraded(data / "ledger.db")


async def _downgraded(path: Path) -> None:
    old = path.with_name("old.db")
    with closing(sqlite3.connect(old, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        migrations.migrate(connection, old, schema.STEPS[:-1])
        connection.execute("ATTACH ? AS new", (str(path),))
        for table in ("events", "event_subjects", "messages", "memos", "jobs_done"):
            known = ", ".join(row[1] for row in connection.execute(f"PRAGMA main.table_info({table})"))
            connection.execute(f"INSERT INTO {table} ({known}) SELECT {known} FROM new.{table}")
        connection.execute("DETACH new")
    old.replace(path)


async def _in_hand(data: Path) -> None:
    """Leave a job in processing and its older copy in pending, as a crash within a rename may on some disks."""
    await world.prepared(data)
    queue = await world.opened_queue(data)
    claim = await queue.claim()
    await queue.close()
    assert claim is not None
    [held] = (data / "queues" / "processing").iterdir()
    shutil.copy(held, data / "queues" / "pending" / claim.ticket.replace(".1.json", ".0.json"))


async def _five_hundred_buried(data: Path) -> None:
    await world.prepared(data, buried=FIVE_HUNDRED)


FIVE_HUNDRED = 500
AFTER = {"queue": f"job:{a_job('后', world.THERE).id}", "ledger": f"memo:{a_memo('后').id}"}
_FIRST = a_job("甲").id
_BURIED = a_job("旧0").id
QUEUE_STEPS = {
    "enqueue": Step(lambda stage: _queue(stage).enqueue(a_job("新")), ("queue",), job_tokens("新")),
    "claim": Step(lambda stage: _queue(stage).claim(), ("queue",), frozenset({f"tried:{_FIRST}"})),
    "requeue": Step(
        lambda stage: _queue(stage).requeue(_claim(stage), delay=0, counted=True),
        ("queue", "claim"),
        frozenset({f"tried:{_FIRST}"}),
    ),
    "complete": Step(
        lambda stage: _queue(stage).complete(_claim(stage)), ("queue", "claim"), gone=job_tokens("甲")
    ),
    "bury": Step(
        lambda stage: _queue(stage).bury(_claim(stage), "坏了"), ("queue", "claim"), frozenset({f"failed:{_FIRST}"})
    ),
    "revive": Step(lambda stage: _queue(stage).revive(), ("queue",), gone=frozenset({f"failed:{_BURIED}"})),
    "withdraw": Step(lambda stage: _queue(stage).withdraw(world.HERE.scope, "r-甲"), ("queue",)),
    "restart": Step(_restart, lay=_in_hand),
}  # fmt: skip
LEDGER_STEPS = {
    "message log append": Step(
        lambda stage: _ledger(stage).log.append([a_message(name) for name in "二三四"]),
        ("ledger",),
        frozenset(f"message:m-{name}" for name in "二三四"),
    ),
    "event commit": Step(
        lambda stage: _ledger(stage).events.commit(a_draft("三", "四", "五")),
        ("ledger",),
        event_tokens("三", "四", "五") | {f"done:{a_draft('三', '四', '五').job_id}"},
        drafts=(a_draft("三", "四", "五"),),
    ),
    "memo": Step(
        lambda stage: _ledger(stage).notes.write_memo(a_memo("二")), ("ledger",), frozenset({f"memo:{a_memo('二').id}"})
    ),
    "memo and checkpoint": Step(_write_and_close, ("ledger",), frozenset({f"memo:{a_memo('二').id}"})),
    "new ledger": Step(_open_ledger, new=frozenset({f"memo:{a_memo('二').id}"}), lay=_without_ledger),
    "migration with its copy": Step(_open_ledger, new=frozenset({f"memo:{a_memo('二').id}"}), lay=_with_old_ledger),
    "backup": Step(
        lambda stage: _ledger(stage).eraser.copy_to(stage.data / "copy.db", world.NOON),
        ("ledger",),
        frozenset({"copy:copy.db:2:True"}),
    ),
    "end_summaries": Step(_copy_memo, new=frozenset({f"summary:{a_memo('二').id}"})),
}  # fmt: skip
PROFILE_STEPS = {  # checked by their own oracle: see profiles.py
    f"profile {name}": Step(lambda stage, act=act: act(_profiles(stage)), ("profiles",), lay=profiles.seeded)
    for name, act in profiles.ACTS.items()
}
STEPS = {
    **QUEUE_STEPS,
    **LEDGER_STEPS,
    **PROFILE_STEPS,
    "historian": Step(_drain, ("memory",), drains=True),
    "revive 500": Step(
        lambda stage: _queue(stage).revive(),
        ("queue",),
        gone=frozenset(f"failed:{a_job(name).id}" for name in world.buried_names(FIVE_HUNDRED)),
        lay=_five_hundred_buried,
    ),
}
