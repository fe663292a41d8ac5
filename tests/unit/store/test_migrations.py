"""Tests of migrating an older ledger."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection

import pytest

from cognitive_memory_core.store.database import migrations, schema
from tests import golden


@pytest.fixture
def connection(path: Path) -> Iterator[Connection]:
    """Return a connection to it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


def tables(connection: Connection) -> list[str]:
    """Return the names of the tables."""
    return [row[0] for row in connection.execute("SELECT name FROM sqlite_master ORDER BY name")]


def shape(connection: Connection) -> dict[str, object]:
    """Return the columns of each table, and how each index and trigger was made."""
    found: dict[str, object] = {}
    for kind, name, made in connection.execute("SELECT type, name, sql FROM sqlite_schema").fetchall():
        columns = connection.execute(f"PRAGMA table_info({name})").fetchall()
        found[name] = (
            {(column[1], column[2], column[3], column[5]) for column in columns}
            if kind == "table"
            else " ".join((made or "").split())
        )
    return found


def version(connection: Connection) -> int:
    """Return the version of the file."""
    return connection.execute("PRAGMA user_version").fetchone()[0]


def test_a_new_file_gets_all_tables_and_needs_no_copy(connection: Connection, path: Path) -> None:
    """A new file gets the tables that the check expects, without a copy."""
    migrations.migrate(connection, path)
    migrations.check(connection, path)
    assert version(connection) == schema.FORMAT
    assert {"events", "messages", "vectors", "jobs_done"} <= set(tables(connection))
    assert [file.name for file in path.parent.iterdir()] == ["ledger.db"]


def test_a_later_file_is_left_as_it_is(connection: Connection, path: Path) -> None:
    """A file that turns out to be of a later format is neither changed nor stamped as one of the present."""
    migrations.migrate(connection, path)
    connection.executescript(f"CREATE TABLE of_later (c); PRAGMA user_version = {schema.FORMAT + 1};")
    migrations.migrate(connection, path)
    assert version(connection) == schema.FORMAT + 1
    assert [file.name for file in path.parent.iterdir()] == ["ledger.db"]


def test_an_upgrade_that_fails_is_undone(connection: Connection, path: Path) -> None:
    """A failing upgrade is undone as a whole, and can be repeated once its cause is gone."""
    migrations.migrate(connection, path)
    connection.executescript("CREATE TABLE event_words (c); PRAGMA user_version = 15; DROP TABLE missed;")
    before = tables(connection)
    with pytest.raises(sqlite3.OperationalError):  # one of the tables that format 16 removes is missing
        migrations.migrate(connection, path)
    connection.rollback()
    assert (version(connection), tables(connection)) == (15, before)
    connection.execute("CREATE TABLE message_words (c)")
    migrations.migrate(connection, path)
    assert version(connection) == schema.FORMAT
    assert {"event_words", "message_words", "missed"} & set(tables(connection)) == {"missed"}


@pytest.mark.parametrize("name", golden.names())
def test_every_format_gets_the_present_tables(name: str, tmp_path: Path) -> None:
    """A ledger of every earlier format has the tables, columns, indexes and triggers of a new one afterwards."""
    path = golden.unpacked(name, tmp_path / "data") / "ledger.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as old, closing(sqlite3.connect(":memory:")) as new:
        migrations.migrate(old, path)
        new.executescript(schema.SCHEMA)
        assert shape(old) == shape(new)
