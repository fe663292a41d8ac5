"""A real bot in a process of its own, what its ledger holds, and what became of the attempts on it."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from tests.support.onebot import BotProcess, prepare, start

from ..fault_row import Seen

PLUGIN = {"memory": 'from nonebot import require\n\nrequire("nonebot_plugin_cognitive_memory")\n'}
NOTHING_HAPPENED = 503


@asynccontextmanager
async def a_bot(
    env: Sequence[str],
    plugins: Mapping[str, str] = PLUGIN,
    *,
    script: str = "",
    lay: Callable[[Path], Awaitable[object]] | None = None,
    **environment: str,
) -> AsyncGenerator[BotProcess, None]:
    """Run a bot with the exact store until the block is left; ``lay`` fills its folder before it starts."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        prepare(home, plugins, ["COGNITIVE_MEMORY__VECTOR_STORE__BACKEND=exact", *env])
        if script:
            (home / "bot.py").write_text(script, "utf-8")
        if lay:
            await lay(home)
        bot = start(home, environment)
        try:
            yield bot
        finally:
            await asyncio.to_thread(bot.stop)


def rows_of(data: Path, *queries: str) -> list[list[Any]]:
    """Return the rows of queries of a ledger that may be in use, sorted."""
    with closing(sqlite3.connect(f"file:{data / 'ledger.db'}?mode=ro", uri=True)) as ledger:
        return [sorted(ledger.execute(query).fetchall(), key=str) for query in queries]


class Tried(Seen):
    """Attempts: how many were sent, what each was answered, and those that got something, as lost.

    Answers of 500 count as twice; a status of 0 is a connection closed without an answer.
    """

    def note(self, what: str, status: int, body: str, *, is_bad: bool) -> None:
        """Count an attempt; ``is_bad`` if it got what it should not."""
        self.update(("sent", f"answers of {status}"))
        is_crash = status >= 500 and status != NOTHING_HAPPENED
        for name in ["lost"] * is_bad + ["twice"] * is_crash:
            self.wrong(name, f"{what}: {status} {body[:60]}")
