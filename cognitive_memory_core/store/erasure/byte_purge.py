"""Removal of the bytes of erased rows from every file of the ledger."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ... import sentences
from ...errors import StorageRefused
from ..database import migrations
from ..database.database import Database
from ..search import words

SPARE_STEPS = 8
MERGED_TOGETHER = 1000  # index pages per transaction, which bounds how long writes wait behind a purge


async def purge(database: Database, *, together: int = MERGED_TOGETHER) -> None:
    """Remove deleted bytes from the word index, the write-ahead log and the copies kept by migrations.

    `secure_delete` alone is not enough: when SQLite splits a page, copies of the moved rows stay in the free space and
    outlive the rows. Therefore the file is rewritten.
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
    await database.write(words.tidy)  # concurrent writes kept the steps from finishing


def _remove_copies(path: Path) -> None:
    try:
        for copy in migrations.copies_of(path):
            copy.unlink(missing_ok=True)
    except OSError as refused:
        raise StorageRefused(sentences.storage_errors.STORAGE_REFUSED.format(path=path, reason=refused)) from refused
