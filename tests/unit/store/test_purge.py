"""Tests of erasing data from the database file."""

from __future__ import annotations

import ast
import asyncio
import random
import re
import sqlite3
import sys
import threading
from array import array
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.figures import PurgeState
from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.domain.turn import Alias
from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.ports import Vector
from cognitive_memory_core.store.database import schema
from cognitive_memory_core.store.database.rows import micros
from cognitive_memory_core.store.database.words import HEAD_BYTES, event_words, hashed, line_words
from cognitive_memory_core.store.erasure import Eraser
from cognitive_memory_core.store.ledger import Ledger
from cognitive_memory_core.text.people import Redaction
from tests.support.builders import GROUP, PRIVATE, a_draft, a_message, an_event
from tests.support.clock import NOON
from tests.support.ledgers import (
    MODEL,
    a_fact,
    a_memo,
    a_pin,
    a_profile,
    a_vector,
    archived,
    committed,
    embedded,
    events_near,
    later,
    name_person,
    own_key,
    shown,
)

GONE, NAME = "2000001", "阿棠"
HIDE = Redaction.of([GONE], [NAME])
OTHER = Scene.group("10001", "2000002", user_name="小林")
PLACES = (*(Scene.group(f"1000{number}", GONE, user_name=NAME) for number in range(3)), PRIVATE)
CANARIES = tuple(f"canary{number:03d}" for number in range(100))
FLOATS = 32


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a ledger in its own folder."""
    return tmp_path / "data" / "ledger.db"


class Planting:
    """Fill a ledger with data to erase, between data of others."""

    def __init__(self, seed: int) -> None:
        """Create the same data for the same seed."""
        self._chance = random.Random(seed)
        self._number = 0
        self.vectors: list[Vector] = []
        self.words: list[bytes] = []

    async def plant(self, ledger: Ledger, canaries: Sequence[str]) -> None:
        """Let the person say each marker, and others talk about the person."""
        for start in range(0, len(canaries), 10):
            await self._plant_some(ledger, canaries[start : start + 10])
        for place in PLACES:
            await name_person(ledger, place.scope, GONE, NAME, NOON)
            await ledger.log.withdraw(place.scope, "m-withdrawn", NOON)
        await self._plant_learned(ledger, canaries)
        await self._plant_portraits(ledger, canaries)

    async def _plant_some(self, ledger: Ledger, canaries: Sequence[str]) -> None:
        told = [(canary, place) for canary in canaries for place in PLACES]
        rows = [self._event(*one) for canary, place in told for one in ((canary, place), ("", OTHER))]
        await embedded(ledger, rows)
        self.vectors += [vector for event, vector in rows if event.sender_id == GONE or NAME in event.text]
        lines = [a_message(f"{self._filler()} {canary}", place) for canary, place in told]
        await ledger.log.append(lines)
        self.words += [event_words(event) for event, _ in rows if event.sender_id == GONE]
        self.words += [line_words(line, micros(line.sent_at))[HEAD_BYTES:] for line in lines]
        await ledger.log.append([a_message(f"{self._filler()} 问{NAME}({GONE})", OTHER)])
        memos = [a_memo(canary, user_id=GONE) for canary in canaries]
        await ledger.archive.import_rows([*memos, *(a_pin(canary, owner_id=GONE) for canary in canaries)])

    async def _plant_learned(self, ledger: Ledger, canaries: Sequence[str]) -> None:
        user, group = ProfileKey.user(GONE), ProfileKey.group("10001")
        said = [self._event(canary, place)[0] for canary in canaries for place in (PLACES[0], PRIVATE)]
        told = [replace(self._event("", OTHER)[0], text=f"{NAME}({GONE}) 第{one}次来") for one in range(len(canaries))]
        facts = [a_fact(event, key) for event in said for key in (own_key(event), user, group)]
        facts += [a_fact(event, text=f"{self._filler()} {event.text}") for event in told]
        facts += [a_fact(event, user, text=canary) for event, canary in zip(told, canaries, strict=True)]
        events = (*said, *told)
        observations = {event.id: event.text for event in events}
        await ledger.events.commit(replace(a_draft(*events), facts=tuple(facts), observations=observations))
        for key in (ProfileKey.user(GONE), ProfileKey.member("10001", "2000002")):
            await ledger.facts.fail(key, f"{NAME}({GONE})", NOON)
        await ledger.consent.set_sharing(GONE, shared=True, at=NOON)

    async def _plant_portraits(self, ledger: Ledger, canaries: Sequence[str]) -> None:
        of_theirs = [ProfileKey.user(GONE), *(ProfileKey.member(f"1{number:04d}", GONE) for number in range(20))]
        of_others = [ProfileKey.group("10001"), *(ProfileKey.user(f"30000{number:02d}") for number in range(20))]
        mine = [a_profile(key, f"{self._filler()} {' '.join(canaries)}", tags=(NAME,)) for key in of_theirs]
        others = [a_profile(key, f"{self._filler()} {NAME}({GONE})", tags=(NAME, "茶")) for key in of_others]
        for profile in (*mine, *others):
            vector = array("f", [self._chance.gauss(0, 1) for _ in range(FLOATS)])
            await ledger.profiles.take_in(profile.key, {profile.key: profile}.get)
            [(key, text)] = await ledger.profile_vectors.waiting(MODEL, 1)
            await ledger.profile_vectors.store(MODEL, [(key, text, vector)])
            self.vectors.append(vector)

    def _event(self, canary: str, scene: Scene) -> tuple[Event, Vector]:
        self._number += 1
        said = f"{self._filler()} {canary or self._chance.choice([f'{NAME}({GONE})', '大家'])} {self._number}"
        name = scene.user_name
        event = an_event(said, scene, subjects=(GONE,), message_ids=(f"s{self._number}",), sender_name=name)
        return event, array("f", [self._chance.gauss(0, 1) for _ in range(FLOATS)])

    def _filler(self) -> str:
        return "".join(chr(self._chance.randrange(0x4E00, 0x5E00)) for _ in range(self._chance.randrange(4, 60)))


def residue(folder: Path, vectors: Iterable[Vector], words: Iterable[bytes] = ()) -> list[str]:
    """Return which data of the person remains in which file: texts, vectors, hashed terms."""
    texts = {text: text.encode() for text in (*CANARIES, GONE, NAME)}
    numbers = {f"vector {index}": vector[:16].tobytes() for index, vector in enumerate(vectors)}
    numbers |= {f"words {index}": hashes[:64] for index, hashes in enumerate(words)}
    files = {file.name: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    found = [(what, name) for what, needle in {**texts, **numbers}.items() for name in files if needle in files[name]]
    return [f"{what} in {name}" for what, name in found]


async def test_no_byte_of_a_forgotten_person_is_left_after_a_purge(path: Path) -> None:
    """After a purge no phrase, id, name, vector or hashed term of the person is left in any file."""
    planting = Planting(1)
    ledger = await Ledger.open(path)
    await planting.plant(ledger, CANARIES)
    planted = residue(path.parent, planting.vectors, planting.words)
    of_words = {f"words {index}" for index in range(len(planting.words))}
    assert {what.split(" in ")[0] for what in planted} >= {*CANARIES, GONE, NAME, "vector 0", *of_words}
    await ledger.eraser.forget_person(GONE, later(days=1), HIDE)
    await ledger.eraser.purge(later(days=2))
    assert residue(path.parent, planting.vectors, planting.words) == []
    await ledger.close()
    assert residue(path.parent, planting.vectors, planting.words) == []
    with closing(sqlite3.connect(path)) as connection:  # what others said of them is hashed anew, too
        stored = connection.execute("SELECT words FROM events UNION ALL SELECT substr(words, 33) FROM messages")
        assert {hashed(GONE), hashed(NAME)}.isdisjoint(array("I", b"".join(words for (words,) in stored)))


async def test_a_purge_is_not_done_while_somebody_else_reads(path: Path) -> None:
    """A purge is postponed while another process reads."""
    ledger = await Ledger.open(path)
    await committed(ledger, an_event(CANARIES[0]))
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM events").fetchall()
        await ledger.eraser.forget_person(GONE, NOON, HIDE)
        with pytest.raises(UnavailableError):
            await ledger.eraser.purge(later(days=1))
        assert await ledger.eraser.purge_due() == PurgeState(NOON)
        await committed(ledger, an_event("别的", OTHER))
        reader.execute("COMMIT")
        await ledger.eraser.purge(later(days=2))
    assert await ledger.eraser.purge_due() == PurgeState(NOON, later(days=2))
    assert residue(path.parent, []) == []
    await ledger.close()


async def test_a_purge_removes_the_copies_that_migrations_kept(path: Path) -> None:
    """A purge removes copies kept by migrations, and no other files."""
    ledger = await Ledger.open(path)
    copies = [path.with_name(name) for name in ("ledger.v1.db", "ledger.v12.db.part", "ledger.v1.db-wal")]
    others = [path.with_name(name) for name in ("ledger.vip.db", "ledger.db.bak", "notes.v1.db")]
    for file in (*copies, *others):
        file.write_bytes(b"old")
    await ledger.eraser.purge(NOON)
    assert [file.exists() for file in (*copies, *others)] == [False] * 3 + [True] * 3
    await ledger.close()


KILLED = """
import asyncio, os, sys
from datetime import datetime, timezone
from pathlib import Path

from cognitive_memory_core.store.ledger import Ledger

seen = []


def hide(text: str) -> str:
    seen.append(text)
    if len(seen) == 6:  # an event and a line are reworded, a memo is about to be
        os._exit(9)
    return text.replace("阿棠", "某位成员")


async def main() -> None:
    ledger = await Ledger.open(Path(sys.argv[1]))
    await ledger.eraser.forget_person("2000001", datetime(2100, 1, 1, tzinfo=timezone.utc), hide)


asyncio.run(main())
"""


async def test_a_kill_in_the_middle_leaves_everything_as_it_was(path: Path) -> None:
    """A process killed during an erasure leaves the data unchanged."""
    ledger = await Ledger.open(path)
    await embedded(ledger, [(an_event("我的"), a_vector(1, 0)), (an_event(f"{NAME}来了", OTHER), a_vector(1, 0))])
    await ledger.log.append([a_message("说"), a_message(f"{NAME}？", OTHER)])
    await ledger.notes.write_memo(a_memo(f"叫了{NAME}"))
    await name_person(ledger, GROUP.scope, GONE, NAME, NOON)
    before = await archived(ledger)
    await ledger.close()
    run = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED, str(path))
    assert await run.wait() == 9
    ledger = await Ledger.open(path)
    assert await archived(ledger) == before
    assert not (await ledger.eraser.tombstones()).marks
    assert await ledger.eraser.purge_due() == PurgeState()
    ledger.corpora.follow(MODEL)
    assert len(await events_near(ledger.corpora, a_vector(1, 0), ReadFilter(GROUP), 9)) == 2
    wiped, _ = await ledger.eraser.forget_person(GONE, later(days=1), HIDE)
    assert (wiped.events, wiped.messages, wiped.reworded) == (1, 1, 3)
    await ledger.close()


async def test_many_names_and_rows_are_hidden_page_by_page(path: Path) -> None:
    """Many names and rows are processed in pages."""
    names = [f"外号{number:03d}号" for number in range(300)]
    ledger = await Ledger.open(path)
    await committed(ledger, *(an_event(f"{name}来过", OTHER) for name in names))
    await committed(ledger, *(an_event(f"我的{number}") for number in range(700)))
    await ledger.log.append([a_message(f"找{name}", OTHER, id=name) for name in names])
    await ledger.archive.import_rows([Alias(GROUP.scope, GONE, name, NOON, NOON) for name in names])
    wiped, _ = await ledger.eraser.forget_person(GONE, NOON, Redaction.of([GONE], names))
    assert (wiped.events, wiped.names, wiped.reworded) == (700, 300, 600)
    standing = await ledger.events.recent(ReadFilter(GROUP), 9)
    assert [(event.text, event.count) for event in standing] == [("某位成员来过", 300)]
    await ledger.close()


async def test_forgetting_goes_on_when_whoever_asked_gives_up(path: Path) -> None:
    """Forgetting continues if its caller is cancelled."""
    ledger = await Ledger.open(path)
    await embedded(ledger, [(an_event("我的"), a_vector(1, 0)), (an_event(f"{NAME}来了", OTHER), a_vector(1, 0))])
    has_begun, may_go_on = threading.Event(), threading.Event()

    def hide(text: str) -> str:
        has_begun.set()
        may_go_on.wait()
        return HIDE(text)

    await name_person(ledger, GROUP.scope, GONE, NAME, NOON)
    forgetting = asyncio.ensure_future(ledger.eraser.forget_person(GONE, NOON, hide))
    await asyncio.to_thread(has_begun.wait)
    forgetting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await forgetting
    may_go_on.set()
    await ledger.eraser.purge(NOON)
    assert await shown(ledger, GROUP) == ["某位成员来了"]
    assert residue(path.parent, []) == []
    await ledger.close()


KEPT_WITH_OWNER = {
    *("opt_outs", "switches"),  # neither would work without the id that it is about
    *("line_ids", "unconsidered"),  # they go with their lines
}
OWNERS = {"scope", "user_id", "sender_id"}


def test_every_table_of_somebody_is_erased() -> None:
    """A table whose rows are of a person or a place is named by the modules that erase them."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(schema.SCHEMA)
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = {name: {row[1] for row in connection.execute(f"PRAGMA table_info({name})")} for name in tables}
    owned = {name for name in tables if columns[name] & OWNERS} - KEPT_WITH_OWNER
    modules = Path(sys.modules[Eraser.__module__].__file__ or "").parent.glob("*.py")
    strings = " ".join(
        node.value
        for file in modules
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " * 4 not in node.value
    )
    assert len(owned) > 10
    assert not owned - set(re.findall(r"\w+", strings))
