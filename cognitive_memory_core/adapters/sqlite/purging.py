"""The bytes of what was erased, out of every file of the ledger."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ... import sentences
from ...errors import StorageRefused
from . import schema, words
from .database import Database


class Purging:
    """One purge after another."""

    def __init__(self, database: Database) -> None:
        """Purge a database's files."""
        self._database = database

    async def run(self) -> None:
        """Leave nothing of what was deleted: not in the index of words, not in the log, not in old copies.

        `secure_delete` alone is not enough: when a page is divided, SQLite leaves copies of the rows that moved in the
        space between, and those outlive the rows. So the file is written anew.
        """
        await self._database.write(words.tidy)
        await self._database.rewrite()
        await self._database.empty_log()
        await asyncio.to_thread(_remove_copies, self._database.path)


def _remove_copies(path: Path) -> None:
    try:
        for copy in schema.copies_of(path):
            copy.unlink(missing_ok=True)
    except OSError as refused:
        raise StorageRefused(sentences.storage_refused(path, refused)) from refused
