"""Damage of a ledger that its opening does not notice, by the table that it is found in."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path


def change_a_memo_id(data: Path) -> None:
    """Change one letter of a memo's id in its table, and leave the index as it was."""
    ledger = data / "ledger.db"
    with closing(sqlite3.connect(ledger)) as connection:
        memo, scope = connection.execute("SELECT id, scope FROM memos LIMIT 1").fetchone()
    content = ledger.read_bytes()
    in_table = (memo + scope).encode()
    assert content.count(in_table) == 1
    ledger.write_bytes(content.replace(in_table, ("q" + memo[1:] + scope).encode()))


def changed(statement: str) -> Callable[[Path], None]:
    """Return a change of the ledger made with SQL, which keeps tables and indexes equal."""

    def change(data: Path) -> None:
        with closing(sqlite3.connect(data / "ledger.db", isolation_level=None)) as connection:
            assert connection.execute(statement).rowcount

    return change


DAMAGES = {
    "memos": change_a_memo_id,
    "events": changed("UPDATE events SET group_id = group_id || '1' WHERE request_type = 'group'"),
    "messages": changed("UPDATE messages SET request_type = 'grouq' WHERE request_type = 'group'"),
    "pins": changed("UPDATE pins SET pinned_at = '2026-13-01T00:00:00+08:00'"),
    "facts": changed("UPDATE facts SET text = CAST(x'e4b8' AS TEXT)"),
    "beliefs": changed("UPDATE beliefs SET supporters = replace(supporters, '[', '{')"),
}
