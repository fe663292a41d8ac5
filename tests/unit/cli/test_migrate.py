"""Tests of `cognitive-memory migrate` on directories of the older system."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support import older_system
from tests.support.bot_homes import BotHome, end
from tests.support.older_system import GROUP, GROUP_NAME, PERSON, fingerprint, make, summary, write_json

WHOLE = {"profile": 2, "revision": 1, "event": 6, "memo": 3, "pin": 1, "job": 2}


def migrated(empty_home: BotHome, path: Path, *words: str, exits: int = 0) -> tuple[Any, str]:
    """Migrate a source; return what is printed as JSON, and what is said of pieces left out."""
    status, out, err = empty_home.run("migrate", str(path), *words, "--json")
    assert status == exits, err
    return json.loads(out), err


def test_a_whole_directory_comes_over_once(empty_home: BotHome, tmp_path: Path) -> None:
    """Everything that a dry run counts comes over and is found; a second run adds nothing; the source is unchanged."""
    source = make(tmp_path / "old" / "data")
    before = fingerprint(source)
    told, err = migrated(empty_home, source, "--dry-run", "--group", GROUP)
    assert (told, err) == ({"found": WHOLE, "left_out": 0}, "")
    assert not empty_home.data_dir.exists()
    told, err = migrated(empty_home, source, "--group", GROUP)
    assert (told, err) == ({"found": WHOLE, "rows": 13, "queued": 2, "left_out": 0}, "")
    again, _ = migrated(empty_home, source, "--group", GROUP)
    assert (again["rows"], again["queued"]) == (0, 0)
    assert fingerprint(source) == before
    totals: Any = empty_home.told("status")
    assert (totals["totals"]["events"], totals["totals"]["memos"], totals["totals"]["pins"]) == (6, 3, 1)
    hits: Any = empty_home.told("search", "asyncio", "--group", GROUP)
    assert {hit["sender_id"] for hit in hits if "asyncio" in hit["text"]} == {PERSON}
    profile = (empty_home.data_dir / "profiles" / "users" / f"{PERSON}.md").read_text("utf-8")
    assert "Python 开发者" in profile
    history = empty_home.data_dir / "profiles" / "history" / "users" / PERSON
    assert [path.name for path in history.iterdir()] == ["20260221T023000.123456Z.md"]


def test_people_and_groups_are_listed_by_the_names_that_the_source_tells(empty_home: BotHome, tmp_path: Path) -> None:
    """Everybody and every group whose name a profile, a place or an event tells is listed by it, the newest name."""
    source = make(tmp_path / "data", events=0)
    profiles = source / "cognitive" / "profiles"
    older_system.write_profile(profiles / "users" / "10001.md", "user", "10001", "青禾", "喜欢爬山。")
    places = (
        ("20002", "10002", "桌游旧群"),
        ("20002", "10002", "桌游群"),
        ("", "10003", "木槿"),
        (GROUP, "10004", "旧名"),
    )
    said = ("阿岚(10002) 买了新桌游", "带阿岚(10002)去过店里", "在学画画", "白露(10004)：搬家了")
    older_system.put_events(
        source / "cognitive" / "chromadb",
        said,
        [
            {**older_system.event_metadata(n, group), "user_id": user, "sender_id": user, "location_abs": name}
            for n, (group, user, name) in enumerate(places)
        ],
    )
    migrated(empty_home, source, "--group", GROUP)
    people, listed_places = empty_home.listed()
    assert people == {"10001": "青禾", "10002": "阿岚", "10003": "木槿", "10004": "白露"}
    assert listed_places == {GROUP: GROUP_NAME, "20002": "桌游群", "10003": "木槿"}


def test_damaged_pieces_are_reported_one_by_one(empty_home: BotHome, tmp_path: Path) -> None:
    """Each piece that cannot be read is named with its reason; the rest comes over, of a broken list its beginning."""
    source = make(tmp_path / "data", events=0)
    rows = ",\n".join([json.dumps(summary(1)), "{}", "7", json.dumps(summary(2)), '{"summary": oops}'])
    (source / "end_summaries.json").write_text(f"[{rows},\n{json.dumps(summary(3))}]", "utf-8")
    profiles = source / "cognitive" / "profiles" / "users"
    (profiles / "1.md").write_text("no front matter", "utf-8")
    (profiles / "2.md").write_bytes(b"---\n" + b"x" * 300_000)
    (profiles / "3.md").symlink_to("/etc/passwd")
    (source / "cognitive" / "queues" / "pending" / "c.json").write_text("{", "utf-8")
    (source / "cognitive" / "chromadb").mkdir()
    (source / "cognitive" / "chromadb" / "chroma.sqlite3").write_bytes(b"no database" * 1_000)
    told, err = migrated(empty_home, source)
    assert told["found"] == {"profile": 2, "revision": 1, "event": 2, "memo": 2, "job": 2}
    for piece in (
        "end_summaries.json：不是完整的 JSON",
        "第 2 条",
        "第 3 条",
        "users/1.md",
        "users/2.md",
        "users/3.md",
        "c.json",
        "chromadb",
    ):
        assert piece in err
    assert "memory.json 第 1 条" in err
    assert told["left_out"] == len(err.splitlines()) == 9


def test_hostile_ids_and_sizes_are_refused(empty_home: BotHome, tmp_path: Path) -> None:
    """Ids that are paths or too long, texts over the limit and times out of range never reach the memory."""
    file = tmp_path / "end_summaries.json"
    rows = [
        {**summary(1), "location": {"type": "private", "name": "../../etc"}},
        {**summary(2, GROUP), "summary": "长" * 9_000},
        {**summary(3, GROUP), "timestamp": "0001-01-01T00:00:00"},
        {**summary(4, GROUP), "timestamp": 1e300},
        {**summary(5, GROUP), "summary": {"a": 1}},
    ]
    write_json(file, rows)
    told, _ = migrated(empty_home, file, exits=1)
    assert told["found"] == {}
    profiles = tmp_path / "other" / "profiles" / "users"
    older_system.write_profile(profiles / "..x.md", "user", "../../x", "x", "x")
    told, _ = migrated(empty_home, tmp_path / "other", exits=1)
    assert (told["found"], told["left_out"]) == ({}, 1)


def test_beside_a_running_bot_only_the_dry_run_works(empty_home: BotHome, tmp_path: Path) -> None:
    """A migration beside a running bot is refused with its reason; a dry run is not."""
    source = make(tmp_path / "data", events=0)
    empty_home.data_dir.parent.mkdir(parents=True)
    owner = empty_home.start_owner()
    try:
        status, _, err = empty_home.run("migrate", str(source))
        assert (status, "机器人正在运行" in err) == (1, True)
        assert empty_home.run("migrate", str(source), "--dry-run")[0] == 0
    finally:
        end(owner)
