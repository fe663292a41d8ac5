"""The bytes of what was erased, out of every file of the ledger."""

from __future__ import annotations

import asyncio
from pathlib import Path

from .... import sentences
from ....errors import StorageRefused
from ..database import schema
from ..database.database import Database
from ..search import words

SPARE_STEPS = 8
MERGED_TOGETHER = 1000  # pages of the index a transaction, so that nobody waits long behind a purge


async def purge(database: Database, *, together: int = MERGED_TOGETHER) -> None:
    """Leave nothing of what was deleted: not in the index of words, not in the log, not in copies of migrations.

    `secure_delete` alone is not enough: when SQLite divides a page, it leaves copies of the rows that moved in the
    space between, and those outlive the rows. So the file is written anew.
    """
    await _tidy(database, together)
    await database.rewrite()
    await database.empty_log()
    await asyncio.to_thread(_remove_copies, database.path)


async def _tidy(database: Database, together: int) -> None:
    pages = await database.write(words.begin_tidying, together)
    for _ in range(2 * (pages // together) + SPARE_STEPS):
        if not await database.write(words.tidy_some, together):
            return
    await database.write(words.tidy)  # so much is written meanwhile that the steps find no end


def _remove_copies(path: Path) -> None:
    try:
        for copy in schema.copies_of(path):
            copy.unlink(missing_ok=True)
    except OSError as refused:
        raise StorageRefused(sentences.storage_refused(path, refused)) from refused
