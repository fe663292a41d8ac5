"""A process for one system: ``python -m benchmarks.peers_child fill|ask NAME FOLDER EVENTS`` prints JSON."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from .family import children_resident, resident
from .peers_questions import NEW, WARMING, read_questions
from .peers_systems import PEERS, LoggedLine, Peer

LOOK = 0.1  # seconds between two samples of the memory
SETTLING = 4.0  # seconds after the first queries of a rank, while a system loads in the background


async def fill(peer: Peer, folder: Path, events: int) -> dict[str, Any]:
    """Fill a system with the workload; return the seconds it took, without generating the vectors."""
    from .topics import batches, vectors_of  # noqa: PLC0415  # a process that asks needs none of it
    from .workload import group_years  # noqa: PLC0415

    with highest() as peak:
        opening, seconds = peer.opened(folder, events), 0.0
        system = await opening.__aenter__()
        for batch in batches(group_years(events)):
            rows = [LoggedLine(line.id, line.text, line.group_id, line.user_id, line.happened_at.isoformat())
                    for line in batch]  # fmt: skip
            vectors = vectors_of([line.text for line in batch])
            started = time.perf_counter()
            await system.add(rows, vectors)
            seconds += time.perf_counter() - started
        started = time.perf_counter()
        await opening.__aexit__(None, None, None)
        seconds += time.perf_counter() - started
    return {"seconds": seconds, "peak": peak[0]}


async def ask(peer: Peer, folder: Path, events: int) -> dict[str, Any]:
    """Run every query; return the seconds of the new ones by rank, the known answers found, and the memory used."""
    asked = read_questions(folder)
    seconds: defaultdict[str, list[float]] = defaultdict(list)
    found: defaultdict[str, list[bool]] = defaultdict(list)
    async with peer.opened(folder, events, asked) as system:
        for question in asked.questions:
            started = time.perf_counter()
            texts = await system.search(question)
            taken = time.perf_counter() - started
            if question.kind == NEW:
                seconds[question.rank].append(taken)
                if len(seconds[question.rank]) == WARMING:
                    await asyncio.sleep(SETTLING)
            else:
                found[question.kind].append(any(question.answer in text for text in texts))
        held = _family()
    return {
        "seconds": {rank: taken[WARMING:] for rank, taken in seconds.items()},
        "found": {kind: sum(hits) / len(hits) for kind, hits in found.items()},
        "resident": held,
    }


@contextmanager
def highest() -> Iterator[list[float]]:
    """Record the highest memory of this process and its children, in MB."""
    peak, over = [0.0], threading.Event()

    def look() -> None:
        while not over.wait(LOOK):
            peak[0] = max(peak[0], _family())

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    yield peak
    over.set()
    watcher.join()


def _family() -> float:
    return resident(psutil.Process()) + children_resident()


def main(command: str, name: str, folder: str, events: str) -> None:
    """Run one command."""
    peer = next(peer for peer in PEERS if peer.name == name)
    work = {"fill": fill, "ask": ask}[command]
    print(json.dumps(asyncio.run(work(peer, Path(folder), int(events)))))


if __name__ == "__main__":
    main(*sys.argv[1:])
