"""README: what was said to a bot that was killed is considered after its next start."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.support.onebot import GROUP, MILI, ONLY, data_of, prepare, start
from tests.support.waiting import until

LATER = ["COGNITIVE_MEMORY__CAPTURE__CONSIDER_IDLE_MINUTES=60"]


def _is_logged(ledger: Path) -> bool:
    """Return whether the log holds a line; lines are written within half a second, and a kill may lose later ones."""
    with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as connection:
        return connection.execute("SELECT count(*) FROM messages").fetchone()[0] > 0


async def test_killed_before_anything_was_considered(tmp_path: Path) -> None:
    """Lines that were not considered before a kill become memories in the next process."""
    prepare(tmp_path, {"only": ONLY}, LATER)
    gathered = data_of(tmp_path) / "considering.json"
    bot = start(tmp_path)
    try:
        async with bot.client() as client:
            await bot.opened()
            await client.say("我对花生过敏，聚餐别点带花生的菜", group=GROUP, user=MILI, name="米粒")
            await until(lambda: gathered.exists() and _is_logged(data_of(tmp_path) / "ledger.db"))
            assert "花生" not in gathered.read_text("utf-8")
            bot.kill()
        bot = start(tmp_path)
        async with bot.client() as client:
            await client.until_listed("花生", GROUP)
    finally:
        bot.stop()
