"""A full disk and one that becomes read-only: queue and ledger refuse, keep what they have, and go on."""

from __future__ import annotations

import asyncio
import subprocess
import tempfile
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.queue.job_queue import FileQueue
from cognitive_memory_core.store.ledger import Ledger
from tests.support.disks import fill

from . import world

MEGABYTES = 8
TRIES = 20  # jobs and drafts handed in while the disk is full


@dataclass(frozen=True)
class Room:
    """Counts: refusals, accepted things that are lost, and parts that did not go on when there was room again."""

    refused: int = 0
    lost: int = 0
    stuck: int = 0
    note: str = "nothing may be mounted here"


def without_room() -> Room:
    """Fill a disk of 8 MB below an open queue and ledger, then make it read-only; skipped if mounting fails."""
    with tempfile.TemporaryDirectory() as folder, _small_disk(Path(folder)) as is_mounted:
        return asyncio.run(_tried(Path(folder))) if is_mounted else Room()


@contextmanager
def _small_disk(place: Path) -> Iterator[bool]:
    is_mounted = _mount("-t", "tmpfs", "-o", f"size={MEGABYTES}m", "tmpfs", str(place))
    try:
        yield is_mounted
    finally:
        if is_mounted:
            subprocess.run(["umount", "-l", str(place)], check=False)


def _mount(*arguments: str) -> bool:
    try:
        return subprocess.run(["mount", *arguments], check=False, capture_output=True).returncode == 0
    except OSError:
        return False


async def _tried(disk: Path) -> Room:
    data = disk / "data"
    await world.prepared(data)
    queue, ledger = await world.opened_queue(data), await Ledger.open(data / "ledger.db", clock=world.CLOCK)
    accepted = set((await world.found(data)).tokens)
    junk = fill(disk)
    refused = await _hand_in(queue, ledger, "满", accepted)
    junk.unlink()
    await ledger.close()  # a file system with files open for writing cannot become read-only
    is_locked = _mount("-o", "remount,ro", str(disk))
    refused_then = await _hand_in(queue, None, "只读", accepted) if is_locked else 0
    _mount("-o", "remount,rw", str(disk))
    ledger = await Ledger.open(data / "ledger.db", clock=world.CLOCK)
    stuck = await _hand_in(queue, ledger, "后", accepted)
    await queue.close()
    await ledger.close()
    found = (await world.found(data)).tokens
    lost = [token for token in accepted if not found[token]]
    note = f"refused by a full disk {refused} of {2 * TRIES}, by a read-only one {refused_then} of {TRIES}"
    return Room(refused + refused_then, len(lost), stuck, note)


async def _hand_in(queue: FileQueue, ledger: Ledger | None, name: str, accepted: set[str]) -> int:
    """Hand in jobs, and drafts if there is a ledger; return how many were refused, and record those accepted."""
    refused = 0
    for number in range(TRIES):
        job, draft = world.a_job(f"{name}{number}", world.THERE), world.a_draft(f"{name}{number}")
        refused += await _is_refused(queue.enqueue(job), f"job:{job.id}", accepted)
        if ledger is not None:
            refused += await _is_refused(ledger.events.commit(draft), f"event:{draft.events[0].id}", accepted)
    return refused


async def _is_refused(act: Awaitable[None], token: str, accepted: set[str]) -> bool:
    try:
        await act
    except UnavailableError:
        return True
    accepted.add(token)
    return False
