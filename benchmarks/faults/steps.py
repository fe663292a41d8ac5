"""Every kind of durable write: the state before, the step itself, its promise, and what the next process finds.

Contents are known by tokens: a token stands for one thing that may be lost or doubled, such as a job, event, message,
memo, or line of the copy of memos, or for a state of one.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import orjson

from cognitive_memory_core.disk import Disk
from cognitive_memory_core.domain.event import Draft, Event
from cognitive_memory_core.domain.ids import derived_id
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.notes import Memo
from cognitive_memory_core.end_summaries import EndSummaries
from cognitive_memory_core.errors import CognitiveMemoryError, PermanentError
from cognitive_memory_core.memory.cognitive_memory import CognitiveMemory
from cognitive_memory_core.ports import EmbeddedEvent
from cognitive_memory_core.queue import codec
from cognitive_memory_core.queue.codec import parsed
from cognitive_memory_core.store.archive import ArchiveRow
from cognitive_memory_core.store.ledger import Ledger
from tests import golden
from tests.support import profiles

from . import world
from .world import HERE, NOON, THERE, a_job

DRAINING = 60.0  # seconds
PREVIOUS = "1.1.0-format-15"
FIVE_HUNDRED = 500
Tokens = Counter[str]


def an_event(name: str) -> Event:
    """Return the event of a name."""
    text, person = f"阿棠(2000001) 喜欢第{name}号茶", HERE.user_id
    event_id = derived_id("fault event", name)
    return Event(event_id, text, user_id=person, group_id=HERE.group_id, sender_id=person, happened_at=NOON)


def a_draft(*names: str) -> Draft:
    """Return the draft of some events."""
    return Draft(derived_id("fault draft", *names), tuple(an_event(name) for name in names))


def _a_message(name: str) -> Message:
    return Message(f"m-{name}", HERE, f"我喜欢第{name}号茶", NOON)


def _a_memo(name: str) -> Memo:
    return Memo(derived_id("fault memo", name), HERE.scope, f"{name}：答过了", NOON, HERE.user_id)


def _job(name: str, state: str = "job") -> frozenset[str]:
    return frozenset({f"{state}:{a_job(name).id}"})


def _memo(name: str, kind: str = "memo") -> frozenset[str]:
    return frozenset({f"{kind}:{_a_memo(name).id}"})


def open_ledger(data: Path) -> Coroutine[Any, Any, Ledger]:
    """Open the ledger of a data directory as its owner does."""
    return Ledger.open(data / "ledger.db", clock=world.CLOCK)


async def prepared(data: Path, *, buried: int = 1) -> None:
    """Create the state before every fault: three waiting jobs of two places, buried ones, and a small ledger."""
    queue = await world.opened_queue(data)
    for number in range(buried):
        await queue.enqueue(a_job(f"旧{number}", THERE))
        claim = await queue.claim()
        assert claim is not None
        await queue.bury(claim, "坏了")
    for name, scene in (("甲", HERE), ("乙", HERE), ("丙", THERE)):
        await queue.enqueue(a_job(name, scene))
    await queue.close()
    ledger = await open_ledger(data)
    await ledger.events.commit(a_draft("一", "二"))
    await ledger.log.append([_a_message("一")])
    await ledger.notes.write_memo(_a_memo("一"))
    await ledger.close()
    await _copy_memo(data, "一")


async def _copy_memo(data: Path, name: str) -> None:
    async def latest(_: int) -> list[Memo]:
        return [_a_memo(name)]

    notes = cast("Any", SimpleNamespace(latest_memos=latest))
    memos = EndSummaries(notes, data / "end_summaries.json", world.CLOCK)
    await memos.flush()
    if memos.loop.trouble.error:  # flushing reports a refusal so
        raise Unwritten


class Unwritten(Exception):
    """The copy of memos is still queued: writing it was refused and logged."""


# What the next process finds.


@dataclass(frozen=True)
class Found:
    """What a new process finds: tokens, and names of incomplete files."""

    tokens: Tokens = field(default_factory=Tokens)
    torn: tuple[str, ...] = ()
    kept: profiles.Kept | None = None  # the files of profiles before they are read, which repairs damage
    read: tuple[Sequence[Any], Sequence[str]] = ((), ())  # profiles that the steps change, and summaries of revisions


async def found(data: Path, *, drafts: Iterable[Draft] = (), whole: bool = False) -> Found:
    """Open a data directory as the next process would, and count everything in it; ``whole`` compares all fields."""
    try:
        tokens = await _jobs(data) + await _rows(data, drafts, whole) + _summaries(data) + _copies(data)
    except CognitiveMemoryError as refused:
        return Found(Tokens(), (str(refused),))
    return Found(tokens)


def torn_files(data: Path) -> tuple[str, ...]:
    """Return the names of files with a job's name but no valid job; call this before anything is opened."""
    paths = (path for folder in world.FOLDERS for path in (data / "queues" / folder).glob("*.json"))
    return tuple(path.name for path in paths if _is_torn(path))


def _is_torn(path: Path) -> bool:
    name = parsed(path.name)
    try:
        if name is not None:
            codec.job_of(codec.body_of(path.read_bytes()), name.job_id, NOON)
    except PermanentError:
        return True
    return name is None


async def _jobs(data: Path) -> Tokens:
    queue = await world.opened_queue(data)
    await queue.recover()
    await queue.close()
    tokens = Tokens()
    for folder in world.FOLDERS:
        for path in (data / "queues" / folder).iterdir():
            name = parsed(path.name)
            tokens[f"job:{name.job_id}" if name else f"stray:{path.name}"] += 1
            if name and folder == "failed":
                tokens[f"failed:{name.job_id}"] += 1
            if name and name.attempts:
                tokens[f"tried:{name.job_id}"] += 1
    return tokens


async def _rows(data: Path, drafts: Iterable[Draft], whole: bool) -> Tokens:
    ledger = await open_ledger(data)
    try:
        tokens = Tokens([f"done:{draft.job_id}" for draft in drafts if await ledger.events.done(draft.job_id)])
        for row in [row async for page in ledger.archive.pages() for row in page]:
            tokens[_token(row)] += row.event.count if isinstance(row, EmbeddedEvent) else 1
            tokens[f"row:{row!r}"] += whole
    finally:
        await ledger.close()
    return tokens


def _token(row: ArchiveRow) -> str:
    if isinstance(row, EmbeddedEvent):
        return f"event:{row.event.id}"
    return f"{type(row).__name__.lower()}:{getattr(row, 'id', row)}"


def _summaries(data: Path) -> Tokens:
    path = data / "end_summaries.json"
    rows = orjson.loads(path.read_bytes()) if path.exists() else []
    return Tokens(f"summary:{row['id']}" for row in rows)


def _copies(data: Path) -> Tokens:
    """Count the copies of the ledger, each of which must be intact; a copy that was being made is skipped."""
    tokens = Tokens()
    for path in (*data.glob("ledger.v*.db"), *data.glob("copy.db")):
        with closing(sqlite3.connect(path)) as copy:
            is_whole = copy.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
            events = copy.execute("SELECT count(*) FROM events").fetchone()[0]
            tokens[f"copy:{path.name}:{events}:{is_whole}"] += events > 0
    return +tokens


# The steps.


@dataclass
class Stage:
    """A data directory, and the parts of it that are open before the step."""

    data: Path
    disk: Disk | None = None
    queue: Any = None
    claim: Any = None
    ledger: Any = None
    profiles: Any = None
    memory: Any = None
    is_closed: bool = False  # the ledger is closed
    closing: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def go_on(self) -> None:
        """Do something else with the same objects, as a process does after a refusal."""
        if self.queue is not None:
            await self.queue.enqueue(a_job("后", THERE))
        if self.is_closed:
            self.ledger = await open_ledger(self.data)
        if self.ledger is not None:
            await self.ledger.notes.write_memo(_a_memo("后"))


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


AFTER = {"queue": f"job:{a_job('后', THERE).id}", "ledger": f"memo:{_a_memo('后').id}"}


@dataclass(frozen=True)
class Step:
    """One kind of write.

    After an acknowledgement all of ``new`` must exist, ``gone`` must not; ``new`` is all or nothing.
    """

    act: Callable[[Stage], Awaitable[object]]
    opens: tuple[str, ...] = ()
    new: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()
    lay: Callable[[Path], Coroutine[object, object, None]] = prepared
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
            stage.claim = await stage.queue.claim()
        if "ledger" in self.opens:
            stage.ledger = await open_ledger(data)
        if "profiles" in self.opens:
            stage.profiles = profiles.opened(data, Disk(), days=1)
        if "memory" in self.opens:
            opening = CognitiveMemory.open(world.SETTINGS, data, background=False)
            stage.memory = await stage.closing.enter_async_context(opening)
        return stage

    async def found(self, data: Path) -> Found:
        """Return what the next process finds; for the historian, after it has finished the rest."""
        torn = torn_files(data)
        if self.drains:
            async with CognitiveMemory.open(world.SETTINGS, data, background=False) as memory:
                await memory.drain(DRAINING)
                await memory.revive()  # a job that the disk did not deliver was buried intact
                await memory.drain(DRAINING)
        rest = await found(data, drafts=self.drafts, whole=self.drains)
        return Found(rest.tokens, (*torn, *rest.torn))

    def judged(self, found: Found, before: Found, done: Found, *, is_acked: bool, after: Iterable[str] = ()) -> Verdict:
        """Compare what is there with the state before and with what was acknowledged, in the step and ``after`` it.

        ``done`` is what an undisturbed run leaves.
        """
        tokens, things, old = found.tokens, self.new - _states(self.new), set(before.tokens)
        is_all_due = is_acked or any(tokens[token] for token in things)
        due = old - _states(old) - self.gone | (self.new if is_all_due else frozenset()) | set(after)
        known = {*old, *self.new, *AFTER.values()}
        twice = {
            token
            for token in set(tokens) - _states(tokens)
            if tokens[token] > max(before.tokens[token], 1) or token not in known
        }
        undead = {token for token in self.gone if is_acked and tokens[token]}
        missing = {token for token in due if not tokens[token]}
        behind = {token for token in missing if self.drains and token.startswith("summary:")}
        return Verdict(sorted(missing - behind), sorted(twice | undead), found.torn, len(behind))


@dataclass(frozen=True)
class ProfileStep(Step):
    """A write of a profile store: a profile is the old or the new one, and its revisions are whole."""

    async def found(self, data: Path) -> Found:
        """Return the files and what the next process reads, which can then do the step."""
        kept, store = profiles.Kept.of(data), profiles.opened(data, days=2)
        keys = (profiles.TANG, profiles.GROUP_KEY, profiles.MILI_THERE)
        read = [await store.find(key) for key in keys], await profiles.past(store)
        await self.act(Stage(data, profiles=profiles.opened(data, days=2)))
        return Found(kept=kept, read=read)

    def judged(self, found: Found, before: Found, done: Found, *, is_acked: bool, after: Iterable[str] = ()) -> Verdict:
        """Compare the files, and what was read of them, with those before and after an undisturbed run."""
        assert found.kept
        assert before.kept
        assert done.kept
        (now, past), (old, old_past), (new, new_past) = found.read, before.read, done.read
        twin = [*new_past, *old_past[-1:]]  # pruned by the next write
        is_either = all(one in both for one, *both in zip(now, old, new, strict=True))
        harm = profiles.harm(found.kept, before.kept, done.kept, is_done=is_acked)
        harm += profiles.Harm(neither=not (is_either and past in (old_past, new_past, twin)))
        return Verdict([f"{harm}"] * (harm.torn + harm.unwhole + harm.neither), [], ())


def _states(tokens: Iterable[str]) -> set[str]:
    """Return the tokens that describe a state, not an existence."""
    return {token for token in tokens if token.startswith(("tried:", "failed:", "done:"))}


async def _restart(stage: Stage) -> None:
    stage.queue = await world.opened_queue(stage.data, stage.disk)
    await stage.queue.recover()


async def _open_ledger(stage: Stage) -> None:
    await (await open_ledger(stage.data)).notes.write_memo(_a_memo("二"))


async def _write_and_close(stage: Stage) -> None:
    await stage.ledger.notes.write_memo(_a_memo("二"))
    stage.is_closed = True
    await stage.ledger.close()


async def _drain(stage: Stage) -> None:
    await stage.memory.drain(DRAINING)
    await stage.closing.aclose()


async def _without_ledger(data: Path) -> None:
    await prepared(data)
    (data / "ledger.db").unlink()


async def _with_old_ledger(data: Path) -> None:
    """Put a ledger of the previous schema version in the place of the small one."""
    await prepared(data)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copyfile(golden.unpacked(PREVIOUS, Path(folder) / "data") / "ledger.db", data / "ledger.db")


async def _in_hand(data: Path) -> None:
    """Leave a job in processing and its older copy in pending, as a crash within a rename may on some disks."""
    await prepared(data)
    queue = await world.opened_queue(data)
    claim = await queue.claim()
    await queue.close()
    assert claim is not None
    [held] = (data / "queues" / "processing").iterdir()
    shutil.copy(held, data / "queues" / "pending" / claim.ticket.replace(".1.json", ".0.json"))


_THREE = a_draft("三", "四", "五")
QUEUE_STEPS = {
    "enqueue": Step(lambda stage: stage.queue.enqueue(a_job("新")), ("queue",), _job("新")),
    "claim": Step(lambda stage: stage.queue.claim(), ("queue",), _job("甲", "tried")),
    "requeue": Step(
        lambda stage: stage.queue.requeue(stage.claim, delay=0, counted=True),
        ("queue", "claim"), _job("甲", "tried"),
    ),
    "complete": Step(lambda stage: stage.queue.complete(stage.claim), ("queue", "claim"), gone=_job("甲")),
    "bury": Step(lambda stage: stage.queue.bury(stage.claim, "坏了"), ("queue", "claim"), _job("甲", "failed")),
    "revive": Step(lambda stage: stage.queue.revive(), ("queue",), gone=_job("旧0", "failed")),
    "withdraw": Step(lambda stage: stage.queue.withdraw(HERE.scope, "r-甲"), ("queue",)),
    "restart": Step(_restart, lay=_in_hand),
}  # fmt: skip
LEDGER_STEPS = {
    "message log append": Step(
        lambda stage: stage.ledger.log.append([_a_message(name) for name in "二三四"]),
        ("ledger",), frozenset(f"message:m-{name}" for name in "二三四"),
    ),
    "event commit": Step(
        lambda stage: stage.ledger.events.commit(_THREE),
        ("ledger",), frozenset({*(f"event:{one.id}" for one in _THREE.events), f"done:{_THREE.job_id}"}),
        drafts=(_THREE,),
    ),
    "memo": Step(lambda stage: stage.ledger.notes.write_memo(_a_memo("二")), ("ledger",), _memo("二")),
    "memo and checkpoint": Step(_write_and_close, ("ledger",), _memo("二")),
    "new ledger": Step(_open_ledger, new=_memo("二"), lay=_without_ledger),
    "migration with its copy": Step(_open_ledger, new=_memo("二"), lay=_with_old_ledger),
    "backup": Step(
        lambda stage: stage.ledger.eraser.copy_to(stage.data / "copy.db", NOON),
        ("ledger",), frozenset({"copy:copy.db:2:True"}),
    ),
    "end_summaries": Step(lambda stage: _copy_memo(stage.data, "二"), new=_memo("二", "summary")),
}  # fmt: skip
PROFILE_STEPS = {
    f"profile {name}": ProfileStep(lambda stage, act=act: act(stage.profiles), ("profiles",), lay=profiles.seeded)
    for name, act in profiles.ACTS.items()
}
STEPS = {
    **QUEUE_STEPS,
    **LEDGER_STEPS,
    **PROFILE_STEPS,
    "historian": Step(_drain, ("memory",), drains=True),
    "revive 500": Step(
        lambda stage: stage.queue.revive(),
        ("queue",),
        gone=frozenset(f"failed:{a_job(f'旧{number}').id}" for number in range(FIVE_HUNDRED)),
        lay=partial(prepared, buried=FIVE_HUNDRED),
    ),
}
