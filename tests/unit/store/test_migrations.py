"""Tests of migrating an older ledger."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection

import pytest

from cognitive_memory_core.store.database import migrations

STEPS = (
    "CREATE TABLE one (a); INSERT INTO one VALUES ('old');",
    "ALTER TABLE one ADD COLUMN b;",
    "CREATE TABLE two (c);",
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a ledger."""
    return tmp_path / "ledger.db"


@pytest.fixture
def connection(path: Path) -> Iterator[Connection]:
    """Return a connection to it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


def tables(connection: Connection) -> list[str]:
    """Return the names of the tables."""
    return [row[0] for row in connection.execute("SELECT name FROM sqlite_master ORDER BY name")]


def version(connection: Connection) -> int:
    """Return the version of the file."""
    return connection.execute("PRAGMA user_version").fetchone()[0]


def test_a_new_file_takes_all_steps_and_needs_no_copy(connection: Connection, path: Path) -> None:
    """A new file gets all steps without a copy."""
    migrations.migrate(connection, path, STEPS)
    assert version(connection) == 3
    assert tables(connection) == ["one", "two"]
    assert [file.name for file in path.parent.iterdir()] == ["ledger.db"]


def test_a_step_that_fails_is_undone(connection: Connection, path: Path) -> None:
    """A failing step is undone and can be repeated."""
    migrations.migrate(connection, path, STEPS[:1])
    with pytest.raises(sqlite3.OperationalError):
        migrations.migrate(connection, path, (*STEPS[:2], "CREATE TABLE two (c); INSERT INTO nowhere VALUES (1);"))
    connection.rollback()
    assert (version(connection), tables(connection)) == (2, ["one"])
    migrations.migrate(connection, path, STEPS)
    assert version(connection) == 3


def test_the_ledgers_own_steps_make_its_tables(connection: Connection, path: Path) -> None:
    """The shipped steps create the tables that the check expects."""
    migrations.migrate(connection, path)
    migrations.check(connection, path)
    assert {"events", "messages", "vectors", "jobs_done"} <= set(tables(connection))
