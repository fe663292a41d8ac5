"""Tests of the queue's files: names, modes, foreign files, restarts, unreadable files."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from benchmarks.faults.processes import unreadable
from cognitive_memory_core import sentences
from cognitive_memory_core.disk import MAX_BYTES
from cognitive_memory_core.domain.job import Job, QueueCounts
from cognitive_memory_core.domain.turn import Turn
from cognitive_memory_core.errors import BadArgument, LimitReached, UnavailableError
from cognitive_memory_core.queue import codec
from cognitive_memory_core.queue.codec import parsed
from cognitive_memory_core.queue.job_queue import FileQueue
from cognitive_memory_core.text.redaction import Redaction
from tests.support.builders import GROUP, OTHER_GROUP, a_job
from tests.support.clock import NOON, FrozenClock
from tests.support.queues import taken

from .conftest import Open

FOLDERS = ("pending", "processing", "failed")


def files(root: Path) -> list[str]:
    """Return the paths of all files."""
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def modes(paths: Iterable[Path]) -> set[int]:
    """Return the permissions of files and folders."""
    return {path.stat().st_mode & 0o777 for path in paths}


def lay(path: Path, data: bytes, *, at: datetime = NOON - timedelta(hours=1)) -> Path:
    """Write a file by hand with an earlier time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (at.timestamp(), at.timestamp()))
    return path


def instant_of(at: datetime) -> int:
    """Return microseconds since 1970."""
    return round(at.timestamp() * 1e6)


async def test_names_carry_instant_id_and_attempts(queue: FileQueue, root: Path):
    """A job file is named by time, id and attempts in each folder."""
    job = a_job()
    stem = f"{instant_of(NOON):016d}-{job.id}"
    await queue.enqueue(job)
    assert files(root) == [f"pending/{stem}.0.json"]
    claim = await taken(queue)
    assert files(root) == [f"processing/{stem}.1.json"]
    await queue.bury(claim, "坏了")
    assert files(root) == [f"failed/{stem}.1.json"]
    await queue.revive()
    assert files(root) == [f"pending/{instant_of(NOON) + 1:016d}-{job.id}.0.json"]


async def test_folders_and_files_are_private(queue: FileQueue, root: Path):
    """Folders have mode 0700 and files 0600, whatever the umask."""
    await queue.enqueue(a_job())
    await queue.enqueue(a_job(scene=OTHER_GROUP))
    await queue.bury(await taken(queue), "坏了")
    assert modes(root / name for name in files(root)) == {0o600}
    assert modes((root, *(root / folder for folder in FOLDERS))) == {0o700}


async def test_closing_ends_what_is_under_way(queue: FileQueue, root: Path):
    """Closing waits for running writes and refuses later calls."""
    job = a_job()
    writing = asyncio.create_task(queue.enqueue(job))
    await asyncio.sleep(0)
    await queue.close()
    await writing
    assert len(files(root)) == queue.counts().pending == 1
    with pytest.raises(UnavailableError):
        await queue.enqueue(a_job())
    with pytest.raises(UnavailableError):
        await queue.claim()


async def test_ids_that_no_file_name_could_hold_are_refused(queue: FileQueue, root: Path):
    """A job id that is no safe file name raises BadArgument."""
    for bad in ("../../x", "a/b", "", "x" * 65, "名字", "a.b", "con:"):
        job = a_job()
        with pytest.raises(BadArgument):
            await queue.enqueue(Job(bad, job.work, job.accepted_at))
    assert files(root) == []


async def test_a_job_too_large_to_be_read_back_is_not_written(queue: FileQueue, root: Path):
    """A job too large to be read is refused."""
    with pytest.raises(LimitReached):
        await queue.enqueue(a_job("长" * MAX_BYTES))
    assert files(root) == []


async def test_a_file_dropped_into_pending_is_taken_in(queue: FileQueue, root: Path):
    """A file added to pending is renamed, placed by its time, and claimed."""
    dropped = a_job("手放进来的")
    await queue.enqueue(a_job())
    lay(root / "pending" / "by-hand.json", codec.encoded(dropped))
    await queue.refresh()
    claim = await taken(queue)
    assert claim.job.work == dropped.work
    assert claim.job.id == "by-hand"
    assert f"processing/{instant_of(NOON - timedelta(hours=1)):016d}-by-hand.1.json" in files(root)


async def test_files_of_older_versions_are_taken_in_at_the_start(reopen: Open, root: Path, clock: FrozenClock):
    """Files named {job_id}.json from older versions are read in every folder."""
    body = {"request_id": "r", "user_id": 2000001, "group_id": 10001, "action_summary": "聊了茶", "new_info": "爱喝茶"}
    data = json.dumps(body).encode()
    for number, folder in enumerate(FOLDERS):
        at = NOON - timedelta(minutes=9 - number)
        lay(root / folder / f"r_{number}_1740218400000.json", data, at=at)
        lay(root / folder / f"r_{number}_1740218400000.json.lock", b"", at=at)
    queue = await reopen()
    assert await queue.recover() == 1
    assert queue.counts().pending == 2
    assert [failed.id for failed in await queue.failed()] == ["r_2_1740218400000"]
    first = await taken(queue)
    assert first.job.id == "r_0_1740218400000"
    assert isinstance(first.job.work, Turn)
    assert (first.job.work.memo, first.job.work.observations) == ("聊了茶", ("爱喝茶",))
    assert all(parsed(Path(name).name) for name in files(root))
    assert clock.now() == NOON


async def test_what_is_no_plain_job_file_is_left_alone(reopen: Open, root: Path, tmp_path: Path):
    """Links, pipes, folders, hidden files and other file types are left alone."""
    pending = root / "pending"
    secret = lay(tmp_path / "secret.json", codec.encoded(a_job()))
    pending.mkdir(parents=True)
    (pending / "link.json").symlink_to(secret)
    os.mkfifo(pending / "pipe.json")
    (pending / "folder.json").mkdir()
    lay(pending / ".hidden.json", b"{}")
    lay(pending / "notes.txt", b"x")
    queue = await reopen()
    await queue.refresh()
    assert queue.counts() == QueueCounts()
    assert len(list(pending.iterdir())) == 5


async def test_a_buried_job_moved_by_hand_waits_again(queue: FileQueue, root: Path):
    """A job moved by hand from failed to pending runs again, and a copy is not a second job."""
    job = a_job()
    await queue.enqueue(job)
    await queue.bury(await taken(queue), "坏了")
    [name] = files(root)
    copy = lay(root / "pending" / Path(name).name, (root / name).read_bytes())
    await queue.refresh()
    assert queue.counts() == QueueCounts(failed=1)
    (root / name).unlink()
    lay(copy, copy.read_bytes())
    lay(root / "pending" / "x.txt", b"")
    await queue.refresh()
    assert queue.counts().failed == 0
    assert (await taken(queue)).job == job


UNREADABLE = {name: content for name, content in unreadable().items() if content is not None}


@pytest.mark.parametrize("content", UNREADABLE.values(), ids=UNREADABLE.keys())
@pytest.mark.parametrize("folder", ["pending", "processing"])
async def test_what_cannot_be_read_is_buried_with_its_reason(reopen: Open, root: Path, folder: str, content: bytes):
    """An unreadable file is set aside with its reason, its bytes are kept, and the next job is done."""
    good = a_job()
    lay(root / folder / f"{1:016d}-bad.0.json", content)
    queue = await reopen()
    await queue.recover()
    await queue.enqueue(good)
    assert (await taken(queue)).job == good
    [failed] = await queue.failed()
    assert (failed.id, failed.attempts, failed.job) == ("bad", 1, None)
    assert failed.error.startswith("任务文件")
    assert "\n" not in failed.error
    assert len(failed.error) <= 500
    kept = (root / "failed" / f"{1:016d}-bad.1.json").read_bytes()
    assert kept == content or json.loads(kept).items() >= json.loads(content).items()


async def test_a_huge_file_is_buried_unread(reopen: Open, root: Path):
    """A huge file is set aside without being read."""
    path = lay(root / "pending" / "huge.json", b"")
    with path.open("r+b") as file:
        file.truncate(100 * 1024 * 1024)
    queue = await reopen()
    assert await queue.claim() is None
    [failed] = await queue.failed()
    assert failed.error == sentences.storage_errors.JOB_TOO_LARGE.format(size=100 * 1024 * 1024, limit=MAX_BYTES)
    assert (root / files(root)[0]).stat().st_size == 100 * 1024 * 1024


async def test_an_unreadable_job_can_be_revived_and_mended(queue: FileQueue, root: Path):
    """An unreadable job that is revived runs if it was corrected, and is set aside again otherwise."""
    lay(root / "pending" / "bad.json", b"{")
    await queue.refresh()
    assert await queue.claim() is None
    assert await queue.revive("bad") == 1
    assert await queue.claim() is None
    assert queue.counts() == QueueCounts(failed=1)
    mended = a_job("修好了")
    lay(root / files(root)[0], b"\xef\xbb\xbf" + codec.encoded(mended))
    assert await queue.revive() == 1
    assert (await taken(queue)).job.work == mended.work


MILI = type(GROUP).group("10001", "2000002", user_name="米粒")
HIDE = Redaction.of({"2000001"}, {"阿棠", '阿"棠'})
SEED = {"user_id": 2000002, "group_id": 10001, "action_summary": "聊了天", "new_info": ["下雨了"]}


def bytes_left(root: Path) -> bytes:
    """Return the bytes of all files of the queue."""
    return b"".join(path.read_bytes() for path in root.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("told", "left"),
    [
        ({"user_id": "2000001"}, None),
        ({"sender_id": 2000001}, None),
        ({"new_info": ["阿棠(2000001) 怕狗"]}, {"observations": ("某位成员 怕狗",)}),
        ({"recent_messages": ["阿棠：怕狗", "米粒：阿棠怕狗"]}, {"recent_messages": ("米粒：某位成员怕狗",)}),
        ({"targets": [{"entity_type": "user", "entity_id": "2000001"}]}, {}),
        ({"targets": [{"user_id": 2000001, "mood": "好"}]}, {}),
        ({"notes": {"阿棠": "怕狗", "memo": 2000001}}, {}),
    ],
)
async def test_every_form_and_unknown_fields_lose_an_erased_person(
    reopen: Open, root: Path, told: dict[str, Any], left: dict[str, Any] | None
):
    """An erased person is removed from older formats, unknown fields that name them go, and the rest is kept."""
    lay(root / "failed" / f"{instant_of(NOON):016d}-seed1.2.json", json.dumps({**SEED, **told}).encode())
    queue = await reopen()
    await queue.erase_person("2000001", HIDE)
    assert not any(word in bytes_left(root) for word in ("阿棠".encode(), b"\\u963f", b"2000001"))
    assert len(files(root)) == (left is not None)
    for failed in await queue.failed():
        assert failed.job
        assert vars(failed.job.work).items() >= {"memo": "聊了天", **(left or {})}.items()
    assert await queue.erase_person("2000001", HIDE) == 0


@pytest.mark.parametrize(
    "broken",
    [
        '{"observations": ["阿棠怕狗"'.encode(),
        b'{"sender_id": "2000001", "obs',
        json.dumps({"scene": 7, "text": "阿棠"}).encode()[:-1],
        '["阿棠怕狗"]'.encode(),
        '{"observations": ["阿棠怕狗"'.encode("gb18030"),
        '{"observations": ["阿棠怕狗"'.encode("utf-16"),
        b'{"scene": {"kind": "group"}, "user_name": "\xe9\x98\xbf\xe6\xa3\xa0", "id": "2000001"}',
        pytest.param(b"x" * 1_048_574 + "阿棠".encode() + b"x" * MAX_BYTES, id="too large, across two parts"),
    ],
)
@pytest.mark.parametrize("folder", FOLDERS)
async def test_what_cannot_be_read_and_tells_of_an_erased_person_goes(
    reopen: Open, root: Path, folder: str, broken: bytes
):
    """An unreadable file that mentions an erased person is removed, whatever its encoding and size."""
    lay(root / folder / f"{instant_of(NOON):016d}-bad1.1.json", broken)
    queue = await reopen()
    assert await queue.erase_person("2000001", HIDE) == 1
    assert files(root) == []
    assert await queue.failed() == []


async def test_files_of_no_job_are_erased_too(queue: FileQueue, root: Path):
    """Temporary files are removed, and files added by hand are cleaned."""
    told = json.dumps({**SEED, "new_info": ["阿棠怕狗"]}).encode()
    for place in ("failed/old.json", "processing/old.json", "pending/new.json"):
        lay(root / place, told)
    for place in ("failed/x.json.tmp", "pending/y.json.tmp", "pending/z.json.lock"):
        lay(root / place, "阿棠".encode())
    job = a_job("下雨了", scene=MILI)
    await asyncio.gather(queue.enqueue(job), queue.erase_person("2000001", HIDE))
    assert queue.knows(job.id)
    assert len(files(root)) == 4
    assert "阿棠".encode() not in bytes_left(root)
    assert b"\\u963f" not in bytes_left(root)


async def test_an_erased_place_leaves_no_unreadable_job(reopen: Open, root: Path):
    """An unreadable file is removed if it contains the erased place's id."""
    lay(root / "failed" / f"{instant_of(NOON):016d}-bad1.1.json", b'{"group_id": "10001", "obs')
    lay(root / "failed" / f"{instant_of(NOON):016d}-bad2.1.json", b'{"group_id": "10002", "obs')
    queue = await reopen()
    lay(root / "pending" / "new.json", json.dumps({**SEED}).encode())
    assert await queue.erase_place(GROUP.scope) == 2
    assert [failed.id for failed in await queue.failed()] == ["bad2"]
    assert len(files(root)) == 1
