"""F35: .env and overrides.json are cut, emptied, mangled and deleted while people who are ignored talk on."""

from __future__ import annotations

import random
import tempfile
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from ..fault_row import Extent, Row, Seen
from . import theatre

if TYPE_CHECKING:
    from tests.plugin.stage import Stage

TIMES = 1_000
SHUT_GROUP, OPEN_GROUP = 730_001, 730_002
IGNORED, OTHER = 2_300_001, 2_300_002
ENV = f"""PORT=8080
COGNITIVE_MEMORY__QUERY__AUTO_TOP_K=5
COGNITIVE_MEMORY__CAPTURE__IGNORE_USERS=["{IGNORED}", "2300009"]
"""  # what a cut leaves whole would change without a word: the line of consent is the last one
_lines = count(1)


async def f35(extent: Extent) -> Row:
    """Damage a file, let the bot look at it twice and hear everybody, then restore it; nobody ignored is recorded."""
    dice, times = random.Random(extent.seed), extent.of(TIMES, 40)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        env = Path(folder) / ".env"
        env.write_text(ENV, "utf-8")
        async with theatre.opened(_env_file=str(env)) as memory:
            from nonebot import logger  # noqa: PLC0415  # after NoneBot's start

            from nonebot_plugin_cognitive_memory.config import setup  # noqa: PLC0415  # as above
            from nonebot_plugin_cognitive_memory.hot_settings import hot_settings  # noqa: PLC0415  # as above

            await hot_settings.change("capture.ignore_groups", f"{SHUT_GROUP},730009")
            assert setup.configuration
            assert setup.configuration.path
            stage, files = theatre.a_stage(), (env, setup.configuration.path)
            warned: list[str] = []
            silent = heard = 0
            logger.add(warned.append, level="WARNING")
            for _ in range(times):
                file = dice.choice(files)
                whole = file.read_bytes()
                warned.clear()
                _damage(file, whole, dice)
                for is_whole in (False, True):
                    if is_whole:
                        file.write_bytes(whole)
                    await hot_settings.look()
                    await hot_settings.look()
                    await _everybody_talks(stage)
                    heard += 1
                    silent += not is_whole and not warned
            await memory.drain(theatre.PATIENCE)
            recorded = (await memory.status()).totals.messages
    seen = Seen(lost=max(0, recorded - heard), twice=silent, lines_of_others=heard, recorded_in_all=recorded)
    return seen.row(times, failed=recorded < heard)


def _damage(file: Path, whole: bytes, dice: random.Random) -> None:
    """Leave of a file what an editor, a full disk or somebody else's script may leave."""
    half = dice.randrange(len(whole) - 1)
    changed = whole.replace(b"5", b"6")  # the number of another setting, which is being changed
    left = dice.choice((whole[:half], changed[:half], b"", b"PORT=8080\n", b"\xff\xfe" + whole[:half], None))
    file.unlink() if left is None else file.write_bytes(left)


async def _everybody_talks(stage: Stage) -> None:
    """Let the ignored person talk in private and in an open group, somebody in the ignored group, and one who may."""
    for user, group in ((IGNORED, None), (IGNORED, OPEN_GROUP), (OTHER, SHUT_GROUP), (OTHER, OPEN_GROUP)):
        await theatre.heard(stage, theatre.a_message(f"第 {next(_lines)} 句闲话", user, group))
