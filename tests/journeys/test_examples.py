"""Tests that the examples run as published."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.onebot import GROUP, MILI, ROOT, open_bot

EXAMPLE = ROOT / "examples" / "companion_chat"
SHIPPED = ROOT / "nonebot_plugin_cognitive_memory" / "demo" / "companion.py"


def test_the_example_is_what_the_demo_runs() -> None:
    """The companion plugin in examples/ and the one that the demo loads are the same bytes."""
    assert (EXAMPLE / "plugins" / "companion.py").read_bytes() == SHIPPED.read_bytes()


async def test_the_companion_answers_from_memory(tmp_path: Path) -> None:
    """The companion plugin records what is said in a group and quotes it when it is asked."""
    source = (EXAMPLE / "plugins" / "companion.py").read_text("utf-8")
    async with open_bot(tmp_path, {"companion": source}) as (_, client):
        assert await client.ask("年糕只吃罐头不吃猫粮，别买错了", group=GROUP, user=MILI, name="米粒") == "好，记下了。"
        assert "只吃罐头" in await client.ask_until("年糕平时吃什么？", "只吃罐头", group=GROUP)
        assert await client.ask("量子力学是谁提出的？", user=MILI) == "这个我还没有印象。"


@pytest.mark.parametrize("folder", [ROOT, EXAMPLE], ids=["bot.py", "companion_chat"])
def test_a_bot_script_loads_all_its_plugins(tmp_path: Path, folder: Path) -> None:
    """The bot script starts without an error message when nothing but the data directory is configured."""
    home = tmp_path / "bot"
    home.mkdir()
    shutil.copy(folder / "bot.py", home)
    if (folder / "plugins").is_dir():
        shutil.copytree(folder / "plugins", home / "plugins")
    run = subprocess.run(
        [sys.executable, "-c", "import bot"],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(ROOT), "LOCALSTORE_DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    log = run.stdout + run.stderr
    assert run.returncode == 0, log
    assert log.count("Succeeded to load plugin") >= len(list((home / "plugins").glob("*.py"))) + 1
    assert '"nonebot_plugin_cognitive_memory"' in log
    assert "ERROR" not in log
