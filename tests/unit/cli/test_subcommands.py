"""Tests of the subcommands that read and write a bot's data directory."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import cognitive_memory_core as core
from tests.support.bot_homes import ENV, GROUP, PERSON, BotHome, end, integrity
from tests.support.puppet import Puppet, statement, stating
from tests.support.waiting import PATIENCE

WRITING = (("import", "{file}"), ("reindex",), ("migrate", "{file}"), ("status", "--retry"))


def test_status_shows_the_figures(home: BotHome) -> None:
    """`status` shows where the files are and what they hold, in Chinese and as JSON."""
    status, out, err = home.run("status")
    assert (status, err) == (0, "")
    assert str(home.data_dir) in out
    assert "1 件事" in out
    told: Any = home.told("status")
    assert told["totals"] == {"events": 1, "retired": 0, "messages": 0, "memos": 1, "pins": 1, "beliefs": 0}
    assert (told["running"], told["jobs"]["pending"], told["failed"]) == (False, 0, [])


def test_status_lists_the_switches(home: BotHome) -> None:
    """`status` lists the places that are not simply on, with the end of each switch in the operator's zone."""
    until = (datetime.now(timezone.utc) + timedelta(days=3)).replace(microsecond=0)

    async def switch() -> None:
        async with core.CognitiveMemory.open(core.Settings(), home.data_dir, background=False) as memory:
            await memory.set_switch(core.Scene.group("10001", "2000001"), "off", until=until)
            await memory.set_switch(core.Scene.private("2000001"), "recall_only")

    asyncio.run(switch())
    _, out, _ = home.run("status")
    shown = until.astimezone(ZoneInfo("Asia/Shanghai"))
    assert f"群 10001 不记也不用，到 {shown:%Y-%m-%d %H:%M} 为止" in out
    assert re.search("私聊 2000001 只用不记 *\n", out)
    told: Any = home.told("status")
    assert [one["until"] for one in told["switches"]] == [until.isoformat(), None]


def test_report_has_two_forms(home: BotHome) -> None:
    """`report` writes Markdown or JSON."""
    status, out, err = home.run("report")
    assert (status, err) == (0, "")
    assert out.startswith("# 记忆质量报告")
    told: Any = home.told("report", "--days", "7")
    assert (told["totals"]["events"], told["days"]) == (1, 7)


def test_search_shows_what_was_said_beneath_what_a_model_wrote(empty_home: BotHome) -> None:
    """Beneath a model's statement, which may have left out a 不, stand the words that it was made of."""
    chat = Puppet(stating(statement(1, "阿棠(2000001)吃辣，海鲜也过敏", ["2000001"], "2000001", lines=[1])))

    async def fill() -> None:
        scene = core.Scene.group(GROUP, "2000001", user_name="阿棠")
        line = core.Message("m1", scene, "我不吃辣，海鲜也过敏", datetime.now(timezone.utc))
        async with core.CognitiveMemory.open(core.Settings(), empty_home.data_dir, chat=chat) as memory:
            await memory.consider(scene, [line])
            assert await memory.drain(PATIENCE)

    asyncio.run(fill())
    _, out, _ = empty_home.run("search", "海鲜")
    assert "阿棠(2000001)吃辣，海鲜也过敏\n    阿棠(2000001)：“我不吃辣，海鲜也过敏”" in out


def test_search_finds_as_the_bot_does(home: BotHome) -> None:
    """`search` finds an event with its place and score; a target narrows it, and nothing found is said."""
    _, out, _ = home.run("search", "花生过敏")
    assert "花生" in out
    assert f"群 {GROUP}" in out
    [hit] = home.told("search", "谁对花生过敏", "--group", GROUP, "-n", "5")  # type: ignore[misc]
    assert hit["sender_id"] == PERSON
    assert hit["score"] > 0
    assert home.told("search", "花生", "--group", "20002") == []
    assert "没有找到：没有记过号码是 30002 的人" in home.run("search", "花生", "--user", "30002")[1]
    assert "--user 要写号码（叫这个的是 30001）" in home.run("search", "花生", "--user", "米粒")[1]
    assert "没有找到：没有记过号码是 20002 的群，--group 要写号码" in home.run("search", "花生", "--group", "20002")[1]
    assert home.run("search", "打印机", "--user", PERSON)[1].strip() == "没有找到"
    home.change_ledger("DELETE FROM names")  # OneBot v12 tells no names
    assert home.run("search", "打印机", "--user", PERSON)[1].strip() == "没有找到"


def test_export_and_import_carry_a_memory_over(home: BotHome, tmp_path: Path) -> None:
    """What is exported can be imported into a new directory, twice without effect; bad lines are named and counted."""
    file = tmp_path / "out" / "memory.jsonl"
    file.parent.mkdir()
    told: Any = home.told("export", str(file))
    assert told["rows"] >= 3
    assert "登记" not in home.run("export", str(file))[1]
    with file.open("a", encoding="utf-8") as added:
        added.write("no json\n")
    status, out, err = home.run("import", str(file), "--data", str(tmp_path / "new"))
    assert status == 0
    assert re.search(r"导入 \d+ 条新的，跳过看不懂的 1 行", out)
    assert "跳过第" in err
    status, out, _ = home.run("import", str(file), "--data", str(tmp_path / "new"))
    assert "导入 0 条新的" in out
    assert home.told("search", "花生", "--data", str(tmp_path / "new"))


def test_migrate_names_an_unknown_source(home: BotHome, tmp_path: Path) -> None:
    """`migrate` of a directory without a known source says what it knows and what to use instead, and fails."""
    folder = tmp_path / "other"
    folder.mkdir()
    status, out, err = home.run("migrate", str(folder))
    assert (status, out) == (1, "")
    assert "cognitive-memory import" in err


def test_failed_jobs_are_shown_with_what_to_do_and_retried(home: BotHome) -> None:
    """Each failed job has its place, error and advice; one or all are queued again."""
    first, second, third = home.fail_jobs(3)
    status, out, _ = home.run("status", "--failed")
    assert status == 0
    assert "失败的任务 3 个" in out
    assert out.count("检查密钥和余额") == 3
    assert f"群 {GROUP}" in out
    told: Any = home.told("status")
    assert [job["id"] for job in told["failed"]] == [first, second, third]
    assert told["failed"][1]["group_id"] == str(int(GROUP) + 1)
    assert home.told("status", "--retry", second[:8]) == {"retried": 1}
    assert home.told("status", "--retry") == {"retried": 2}
    assert home.run("status", "--retry", "nothing")[0] == 1
    jobs: Any = home.told("status")
    assert (jobs["jobs"]["pending"], jobs["failed"]) == (3, [])


def test_beside_a_running_bot(home: BotHome, tmp_path: Path) -> None:
    """Beside a bot the reading commands answer, the writing ones refuse with one sentence, and nothing is damaged."""
    file = tmp_path / "memory.jsonl"
    owner = home.start_owner()
    try:
        assert home.told("status")["running"] is True  # type: ignore[index]
        assert home.told("search", "花生")
        status, out, _ = home.run("export", str(file))
        assert status == 0
        assert "没有登记" in out
        before = sorted(path for path in home.data_dir.rglob("*") if path.name != "ledger.db-shm")
        for words in WRITING:
            status, out, err = home.run(*(word.format(file=file) for word in words))
            assert (status, out) == (1, ""), words
            assert "机器人正在运行" in err
            assert err.count("\n") == 1
        assert sorted(path for path in home.data_dir.rglob("*") if path.name != "ledger.db-shm") == before
    finally:
        end(owner)
    assert owner.returncode == 0
    assert integrity(home.data_dir) == "ok"


@pytest.mark.parametrize(
    "words", [("status",), ("search", "花生"), ("export", "{file}"), ("reindex",), ("status", "--retry")]
)
def test_without_a_ledger(empty_home: BotHome, tmp_path: Path, words: tuple[str, ...]) -> None:
    """Where no bot has started yet, one sentence says so, and nothing is created."""
    status, out, err = empty_home.run(*(word.format(file=tmp_path / "memory.jsonl") for word in words))
    assert (status, out) == (1, "")
    assert "还没有账本" in err
    assert not empty_home.data_dir.exists()
    assert not (tmp_path / "memory.jsonl").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("search",), "TEXT"),
        (("search", "x", "-n", "0"), "1 到 200"),
        (("search", "x", "-n", "9" * 400), "1 到 200"),
        (("search", "x", "--nonsense"), "--nonsense"),
        (("import", "/nowhere/at/all"), "没有这个文件"),
        (("export",), "FILE"),
        (("status", "--env"), "--env"),
    ],
)
def test_misuse_has_status_two(home: BotHome, words: tuple[str, ...], told: str) -> None:
    """Wrong arguments are named in Chinese with the usage, and the status is 2."""
    status, out, err = home.run(*words)
    assert (status, out) == (2, "")
    assert told in err
    assert "用法" in err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("export", "{data}/inside.jsonl"), "数据目录里面"),
        (("export", "/dev/null"), "不是普通文件"),
        (("search", "x", "--user", "a" * 500), "--user"),
        (("search", "x" * 100_000), None),
        (("search", "\x00'; DROP TABLE events; --"), None),
        (("import", "{env}"), "不是认知记忆的导出文件"),
    ],
)
def test_odd_paths_and_sizes(home: BotHome, words: tuple[str, ...], told: str | None) -> None:
    """Odd paths, huge and hostile texts are refused in one sentence or simply find nothing."""
    filled = [word.format(data=home.data_dir, env=home.path / ".env") if "{" in word else word for word in words]
    status, _, err = home.run(*filled)
    assert status == (0 if told is None else 1)
    assert told is None or told in err
    assert err.count("\n") == (0 if told is None else 1)
    assert integrity(home.data_dir) == "ok"


def test_the_environments_file_is_read_too(home: BotHome) -> None:
    """Without --env, .env and .env.{ENVIRONMENT} of the present directory are read, the later one wins."""
    home.write_env(*ENV, "ENVIRONMENT=dev")
    command = [sys.executable, "-m", "cognitive_memory_core.cli", "status", "--json"]
    (home.path / ".env.dev").write_text("COGNITIVE_MEMORY__QUERY__AUTO_TOP_K=-1\n")
    refused = subprocess.run(command, cwd=home.path, capture_output=True, check=False)
    assert refused.returncode == 1
    (home.path / ".env.dev").write_text("COGNITIVE_MEMORY__QUERY__AUTO_TOP_K=1\n")
    shown = subprocess.run(command, cwd=home.path, capture_output=True, check=True)
    assert json.loads(shown.stdout)["totals"]["events"] == 1
