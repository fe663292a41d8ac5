"""Makes data directories of the older system in the field: summaries, pins, profiles, Chroma, jobs of both versions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path

GROUP, GROUP_NAME, PERSON, PERSON_NAME = "1017148870", "测试群", "1708213363", "Null"
START = datetime(2026, 2, 21, 3, tzinfo=timezone.utc)
PROFILE = """---
entity_type: {kind}
entity_id: "{id}"
name: {name}
tags:
  - Python
updated_at: "2026-02-22T10:30:00"
source_event_id: abc123_0_1740218400000
---
{text}
"""


def summary(number: int, place: str = GROUP_NAME, kind: str = "group") -> dict[str, object]:
    """Return one row of end_summaries.json as the older system writes it: places by name."""
    at = (START + timedelta(minutes=number)).isoformat()
    return {"summary": f"第 {number} 次帮忙查了资料", "timestamp": at, "location": {"type": kind, "name": place}}


def event_metadata(number: int, group_id: str = GROUP) -> dict[str, str | int | bool]:
    """Return the metadata of an event in the older system's collection."""
    at = START + timedelta(minutes=number)
    return {
        "user_id": PERSON,
        "group_id": group_id,
        "sender_id": PERSON,
        "timestamp_utc": at.isoformat(),
        "timestamp_local": at.astimezone(timezone(timedelta(hours=8))).isoformat(),
        "timestamp_epoch": int(at.timestamp()),
        "request_type": "group" if group_id else "private",
        "location_abs": GROUP_NAME if group_id else PERSON_NAME,
        "perspective": "sender",
        "schema_version": "final_v1",
    }


def make(data: Path, *, summaries: int = 3, events: int = 3, users: int = 1) -> Path:
    """Write a whole data directory and return it."""
    data.mkdir(parents=True)
    write_json(data / "end_summaries.json", [summary(number) for number in range(summaries)])
    write_json(data / "memory.json", [{"uuid": "1", "fact": "周五聚餐", "created_at": "2026-02-21 11:08:00"}])
    profiles = data / "cognitive" / "profiles"
    for number in range(users):
        person = str(int(PERSON) + number)
        name = PERSON_NAME if not number else f"{PERSON_NAME}{number}"
        write_profile(profiles / "users" / f"{person}.md", "user", person, name, "是一名 Python 开发者。")
    write_profile(profiles / "groups" / f"{GROUP}.md", "group", GROUP, GROUP_NAME, "开发测试群。")
    old = profiles / "history" / "user" / PERSON / "20260221103000123456.md"
    write_profile(old, "user", PERSON, PERSON_NAME, "写过 Python。")
    queues = data / "cognitive" / "queues"
    base = {"user_id": int(PERSON), "group_id": int(GROUP), "sender_id": PERSON, "timestamp_utc": START.isoformat()}
    write_json(queues / "pending" / "a.json", {**base, "action_summary": "查了天气", "new_info": "Null 喜欢晴天"})
    write_json(queues / "failed" / "b.json", {**base, "memo": "答了", "observations": ["Null 在台湾"], "error": "x"})
    if events:
        fill_chroma(data / "cognitive" / "chromadb", events)
    return data


def write_profile(path: Path, kind: str, entity_id: str, name: str, text: str) -> None:
    """Write a profile file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(PROFILE.format(kind=kind, id=entity_id, name=name, text=text), "utf-8")


def write_json(path: Path, value: object) -> None:
    """Write a JSON file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, indent=2), "utf-8")


def fill_chroma(folder: Path, events: int) -> None:
    """Fill the older system's collection of events; the last one is of a private chat."""
    documents = [f"Null(1708213363) 在第 {number} 天研究了 asyncio" for number in range(events)]
    put_events(folder, documents, [event_metadata(n, "" if n == events - 1 else GROUP) for n in range(events)])


def put_events(folder: Path, documents: Sequence[str], metadatas: Sequence[dict[str, str | int | bool]]) -> None:
    """Write events into the older system's collection."""
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
    collection = client.get_or_create_collection("cognitive_events", embedding_function=None)
    for first in range(0, len(documents), 1_000):
        numbers = range(first, min(first + 1_000, len(documents)))
        collection.upsert(
            ids=[f"job{number}_0" for number in numbers],
            documents=[documents[number] for number in numbers],
            embeddings=[[1.0, float(number), 0.5] for number in numbers],
            metadatas=[metadatas[number] for number in numbers],
        )


def fingerprint(folder: Path) -> dict[str, str]:
    """Return the hash of every file below a folder, by its path."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
