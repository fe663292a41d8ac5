"""Tests of reading rows with values that this version would not write."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from sqlite3 import connect

import pytest

from cognitive_memory_core.domain.consent import OptOut
from cognitive_memory_core.domain.people import Alias
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.store.ledger import Ledger
from tests.support.builders import GROUP, a_message, an_event
from tests.support.clock import NOON
from tests.support.ledgers import a_memo, a_pin, archived, committed

FIRST, LAST = "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59.999999-12:00"


@pytest.mark.parametrize(("text", "number"), [(FIRST, -(2**63)), (LAST, 2**63 - 1)])
async def test_extreme_rows_from_elsewhere_are_read(path: Path, text: str, number: int) -> None:
    """Rows with extreme times do not prevent listing, reading the log and exporting."""
    ledger = await Ledger.open(path)
    event = an_event()
    await committed(ledger, event)
    await ledger.archive.import_rows(
        [OptOut("2000009", NOON), Alias(GROUP.scope, "2000001", "阿棠", NOON, NOON), a_message(), a_memo(), a_pin()]
    )
    await ledger.close()
    with closing(connect(path)) as connection:
        for column in ("happened_at", "last_seen_at", "retired_at"):
            connection.execute(f"UPDATE events SET {column} = ?, at_us = ?", (text, number))
        connection.execute("UPDATE events SET retired_at = NULL")
        for table, column in (("messages", "sent_at"), ("memos", "written_at"), ("pins", "pinned_at")):
            connection.execute(f"UPDATE {table} SET {column} = ?, at_us = ?", (text, number))
        connection.execute("UPDATE opt_outs SET at_us = ?", (number,))
        connection.execute("UPDATE names SET first_us = ?, last_us = ?", (number, number))
        connection.execute("UPDATE messages SET reply_to = ''")
        connection.commit()
    ledger = await Ledger.open(path)
    assert len(await archived(ledger)) == 6
    assert [one.id for one in await ledger.events.recent(ReadFilter(GROUP), 5)] == [event.id]
    assert len(await ledger.log.recent(GROUP.scope, 5)) == 1
    await committed(ledger, an_event())
    await ledger.close()
