"""Tests of erasing data from the database file."""

from __future__ import annotations

import ast
import random
import re
import sqlite3
import sys
from array import array
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.figures import PurgeState
from cognitive_memory_core.domain.profile import ProfileKey
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.ports import Vector
from cognitive_memory_core.store.database import schema
from cognitive_memory_core.store.database.rows import micros
from cognitive_memory_core.store.database.words import HEAD_BYTES, event_words, hashed, line_words
from cognitive_memory_core.store.erasure import Eraser
from cognitive_memory_core.store.ledger import Ledger
from cognitive_memory_core.text.redaction import Redaction
from tests.support.builders import PRIVATE, a_draft, a_message, an_event
from tests.support.clock import NOON
from tests.support.ledgers import (
    MODEL,
    a_fact,
    a_memo,
    a_pin,
    a_profile,
    committed,
    later,
    leave_copy,
    name_person,
    own_key,
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


async def planted(ledger: Ledger) -> tuple[list[Vector], list[bytes]]:
    """Let the person say each marker everywhere, and others talk of them; return the vectors and words of that."""
    chance, user = random.Random(1), ProfileKey.user(GONE)

    def filler() -> str:
        return "".join(chr(chance.randrange(0x4E00, 0x5E00)) for _ in range(chance.randrange(4, 60)))

    def a_direction() -> Vector:
        return array("f", [chance.gauss(0, 1) for _ in range(FLOATS)])

    def a_statement(words: str, scene: Scene) -> Event:
        message_ids = (f"s{chance.random()}",)
        return an_event(
            f"{filler()} {words}", scene, subjects=(GONE,), message_ids=message_ids, sender_name=scene.user_name
        )

    said = [a_statement(canary, place) for canary in CANARIES for place in PLACES]
    told = [a_statement(f"{NAME}({GONE})", OTHER) for _ in CANARIES]
    facts = [a_fact(event, key) for event in said for key in (own_key(event), user, ProfileKey.group("10001"))]
    facts += [a_fact(event, key, text=event.text) for event in told for key in (own_key(event), user)]
    observations = {event.id: event.text for event in (*said, *told)}
    await ledger.events.commit(replace(a_draft(*said, *told), facts=tuple(facts), observations=observations))
    vectors = [a_direction() for _ in (*said, *told)]
    rows = zip((*said, *told), vectors, strict=True)
    await ledger.vectors.store(MODEL, [(event.id, event.text, vector) for event, vector in rows])
    lines = [a_message(f"{filler()} {canary}", place) for canary in CANARIES for place in PLACES]
    await ledger.log.append([*lines, *(a_message(f"{filler()} 问{NAME}({GONE})", OTHER) for _ in CANARIES)])
    notes = [(a_memo(canary, user_id=GONE), a_pin(canary, owner_id=GONE)) for canary in CANARIES]
    await ledger.archive.import_rows([row for pair in notes for row in pair])
    for place in PLACES:
        await name_person(ledger, place.scope, GONE, NAME, NOON)
        await ledger.log.withdraw(place.scope, "m-withdrawn", NOON)
    for key in (user, ProfileKey.member("10001", "2000002")):
        await ledger.facts.fail(key, f"{NAME}({GONE})", NOON)
    await ledger.consent.set_sharing(GONE, shared=True, at=NOON)
    for key in (user, *(ProfileKey.member(f"1{number:04d}", GONE) for number in range(20)), ProfileKey.group("10001")):
        profile = a_profile(key, f"{filler()} {' '.join(CANARIES) if key.user_id == GONE else NAME}", tags=(NAME,))
        await ledger.profiles.take_in(key, {key: profile}.get)
        [(seq, text)] = await ledger.profile_vectors.waiting(MODEL, 1)
        vectors.append(a_direction())
        await ledger.profile_vectors.store(MODEL, [(seq, text, vectors[-1])])
    words = [event_words(event) for event in said]
    words += [line_words(line, micros(line.sent_at))[HEAD_BYTES:] for line in lines]
    return vectors, words


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
    ledger = await Ledger.open(path)
    vectors, words = await planted(ledger)
    await ledger.close()
    leave_copy(path, f"{NAME}({GONE})")
    ledger = await Ledger.open(path)
    before = residue(path.parent, vectors, words)
    of_words = {f"words {index}" for index in range(len(words))}
    assert {what.split(" in ")[0] for what in before} >= {*CANARIES, GONE, NAME, "vector 0", *of_words}
    await ledger.eraser.forget_person(GONE, later(days=1), HIDE)
    await ledger.eraser.purge(later(days=2))
    assert residue(path.parent, vectors, words) == []
    await ledger.close()
    assert residue(path.parent, vectors, words) == []
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
