"""Tests of the demo, started with the command that a user types."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.network_guard import python_path
from tests.support.onebot import ROOT
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.timeout(6 * PATIENCE)

COMMAND = ("-m", "cognitive_memory_core.cli", "demo")
SCRIPT = (str(ROOT / "nonebot_plugin_cognitive_memory" / "demo" / "run.py"),)


def demo(
    *arguments: str, cwd: Path, started_as: tuple[str, ...] = COMMAND, **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run the demo in a directory with additional environment variables; the command ignores settings found there."""
    return subprocess.run(
        [sys.executable, *started_as, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": python_path(ROOT), "PYTHONIOENCODING": "utf-8", **environ},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=5 * PATIENCE,
        check=False,
    )


def test_the_sample_ends_well(tmp_path: Path) -> None:
    """The demo ends by itself with status 0, shows all its parts and leaks nothing, whatever a .env file sets.

    As many turns were recorded as ended. The contexts of its three questions contain what was said days earlier, and
    the bot answers with it.
    """
    (tmp_path / ".env").write_text("COGNITIVE_MEMORY__ENABLED=false\nDRIVER=~none\n", "utf-8")
    run = demo(cwd=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    for part in ("1. 回放 96 条消息", "2. 后台", "3. 追问", "4. 隔离", "5. 演示的数据"):
        assert part in run.stdout
    assert re.findall(r"泄漏 (\d+) 条", run.stdout) == ["0", "0", "0"]
    assert [path.name for path in tmp_path.iterdir()] == [".env"]
    counts = re.search(r"其中 (\d+) 条值得记.*收下 (\d+) 条", run.stdout)
    assert counts is not None, run.stdout
    assert int(counts[1]) > 0
    assert counts[1] == counts[2]
    shown = run.stdout.partition("3. 追问")[2].partition("4. 隔离")[0]
    for block, wanted in zip(
        shown.split("【记忆结束】"), (("下午三点", "青石巷"), ("六点半", "卡坦岛"), ("大理",)), strict=False
    ):
        assert all(word in block for word in wanted), block
    assert re.search(r"机器人回：.*下午三点.*青石巷", shown), shown
    assert re.search(r"机器人回：.*六点半.*豆沙带《卡坦岛》", shown), shown
    assert shown.count("机器人回：我记得，") == run.stdout.count("【相关回忆】") == 3


def test_a_turn_that_is_not_recorded_fails_the_demo(tmp_path: Path) -> None:
    """If turns ended without being recorded, the demo reports how many and ends with status 1."""
    run = demo(cwd=tmp_path, started_as=SCRIPT, COGNITIVE_MEMORY__ENABLED="false")
    assert re.search(r"有 \d+ 条没有收下：演示失败", run.stdout), run.stdout + run.stderr
    assert run.returncode == 1


@pytest.mark.nightly
def test_ones_own_conversation_can_be_played_and_kept(tmp_path: Path) -> None:
    """``--transcript`` plays a file, whatever the ids of its messages; ``--keep`` leaves the data directory there."""
    log = {
        "places": [{"id": "g", "kind": "group", "group_id": "618203471", "name": "项目组"}],
        "messages": [
            {
                "id": f"msg_{number}",
                "place": "g",
                "time": f"2025-02-01T02:{number:02d}:00Z",
                "user_id": f"{2156083317 + number % 3}",
                "name": "ABC"[number % 3],
                "text": f"第 {number} 步由我负责，下周交付",
            }
            for number in range(12)
        ],
    }
    (tmp_path / "log.json").write_text(json.dumps(log), "utf-8")
    run = demo("--transcript", "log.json", "--keep", "kept", cwd=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "1. 回放 12 条消息" in run.stdout
    assert (tmp_path / "kept/data/nonebot_plugin_cognitive_memory/ledger.db").is_file()
