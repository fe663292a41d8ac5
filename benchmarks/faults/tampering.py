"""A29: bytes flipped in the ledger, profiles, jobs and overrides.json of a directory that is opened afterwards."""

from __future__ import annotations

import asyncio
import random
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import cognitive_memory_core as core
from cognitive_memory_core.memory.read_only import opened_reader
from cognitive_memory_core.settings.configuration import Configuration
from tests import golden
from tests.golden import fill
from tests.support.clock import FrozenClock

from ..fault_row import Extent, Row, Seen

LONGEST = 60.0  # seconds that an opening and all reads may take
PEOPLE = ("2000001", "2000002")


@dataclass(frozen=True)
class Shown:
    """What a memory shows of its directory: rows by id, without what a reader cannot check."""

    ids: frozenset[str]
    words: frozenset[str]
    has_reported: bool = False


def a29(extent: Extent) -> Row:
    """Flip one to eight bytes of a file, open the directory, read and do everything."""
    with tempfile.TemporaryDirectory() as scratch:
        seen = tampered(Path(scratch), extent.of(200, 6), extent.seed)
    return seen.row(seen.pop("mutants"), failed=seen["crashes"])


def tampered(scratch: Path, each: int, seed: int) -> Seen:
    """Open so many mutants of each kind of file; return what was seen."""
    seen, dice = Seen(), random.Random(seed)
    template = golden.unpacked(golden.names()[-1], scratch / "template")
    whole = asyncio.run(shown(shutil.copytree(template, scratch / "whole")))
    for kind, files in targets(template).items():
        for number in range(each):
            data = shutil.copytree(template, scratch / f"{kind}{number}")
            target = data / dice.choice(files)
            flip(target, dice)
            seen["mutants"] += 1
            asyncio.run(judge(data, f"{kind} {number}: {target.name}", whole, seen))
            shutil.rmtree(data)
    return seen


def targets(template: Path) -> dict[str, list[Path]]:
    """Return the files of each kind, relative to the directory."""
    found = {
        "ledger": "ledger.db",
        "profiles": "profiles/**/*.md",
        "jobs": "queues/*/*.json",
        "overrides": "overrides.json",
        "end_summaries": "end_summaries.json",
    }
    return {kind: sorted(path.relative_to(template) for path in template.glob(one)) for kind, one in found.items()}


def flip(path: Path, dice: random.Random) -> None:
    """Flip a bit in each of one to eight bytes of a file."""
    content = bytearray(path.read_bytes())
    for _ in range(dice.randint(1, 8)):
        content[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
    path.write_bytes(content)


async def judge(data: Path, where: str, whole: Shown, seen: Seen) -> None:
    """Open a directory with a flipped file and note what happens."""
    try:
        found = await asyncio.wait_for(shown(data), LONGEST)
    except core.CognitiveMemoryError:
        seen["refused"] += 1
        return
    except asyncio.TimeoutError:
        seen["stuck"] += 1
        return
    except Exception as crash:  # noqa: BLE001  # whatever else comes out is what the row looks for
        seen.wrong("crashes", f"{where}: {type(crash).__name__} {crash}")
        return
    if found.has_reported:
        seen["reported"] += 1
    elif found.ids != whole.ids:
        lost, new = whole.ids - found.ids, found.ids - whole.ids
        seen.wrong("lost", f"{where}: lost {sorted(lost)[:3]}, new {sorted(new)[:3]}")
    elif found.words != whole.words:
        seen["other words in a text"] += 1
    else:
        seen["without effect"] += 1


async def shown(data: Path) -> Shown:
    """Open a directory, read everything, do the jobs, and examine the ledger as the doctor and a running bot do."""
    hashing = {"embedding": {"local": "hash"}}  # loading an encoder for each mutant took most of the row
    configuration = Configuration({"vector_store": {"backend": "exact"}, "models": hashing}, data)
    opening = core.CognitiveMemory.open(configuration.settings, data, background=False, clock=FrozenClock(fill.NOON))
    async with opening as memory:
        ids, words = set[str](), set[str]()
        for event in await memory.events(core.Scene.operator(), limit=100):
            ids.add(f"event {event.id} {event.scope.key} {event.sender_id}")
            words.add(event.text)
        for scene in (fill.GROUP, fill.PRIVATE):
            for line in await memory.recent_messages(scene):
                ids.add(f"line {line.id} {line.sender_id}")
                words.add(line.text)
            ids |= {f"pin {pin.id}" for pin in await memory.pins(scene)}
            words |= {(await memory.context(scene, "乌龙茶")).text}
            ids |= {f"memo {memo.id}" for memo in await memory.memos(scene, 100)}
        for person in PEOPLE:
            profile = await memory.get_profile(core.Scene.private(person), "user", person)
            ids |= {f"profile {profile.key}"} if profile else set()
            words |= {profile.summary} if profile else set()
        failed, status = await memory.failed_jobs(), await memory.status()
        ids |= {f"failed {job.id}" for job in failed} | {f"pending {status.jobs.pending}"}
        await memory.drain(30)
        is_reported = bool(status.last_error or status.failing or configuration.problems)
        aside = [path for word in ("corrupt", "unreadable") for path in data.rglob(f"*{word}*")]  # noqa: ASYNC240
        is_reported |= bool(aside) or len(await memory.failed_jobs()) > len(failed)
    async with opened_reader(configuration.settings, data) as reader:
        is_reported = is_reported or bool(await reader.ledger.examine())
    return Shown(frozenset(ids), frozenset(words), is_reported)
