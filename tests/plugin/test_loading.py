"""Tests of loading the plugin: under any driver, without starting anything, configured by the environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.network_guard import python_path
from tests.support.raw_http import free_port
from tests.support.waiting import PATIENCE
from tests.support.warm import started

ROOT = Path(__file__).parents[2]
STORE_DRIVER = '''
from nonebot import logger
from nonebot.drivers import ASGIMixin, Driver as BaseDriver


class Driver(BaseDriver, ASGIMixin):
    """A driver as the plugin store checks with: it serves nothing."""

    type = "fake"
    logger = logger
    server_app = None

    def run(self, *args, **kwargs):
        super().run(*args, **kwargs)

    @property
    def asgi(self):
        raise NotImplementedError

    def setup_http_server(self, setup):
        raise NotImplementedError

    def setup_websocket_server(self, setup):
        raise NotImplementedError
'''
LOAD = """
import json, sys, threading
import nonebot

nonebot.init(driver={driver!r}, log_level="INFO", localstore_data_dir="files")
plugin = nonebot.load_plugin("nonebot_plugin_cognitive_memory")
meta = plugin.metadata
from nonebot_plugin_cognitive_memory import config, get_memory
answer = {{
    "name": meta.name,
    "type": meta.type,
    "adapters": sorted(meta.supported_adapters),
    "has usage": bool(meta.usage and meta.description and meta.homepage.startswith("https://")),
    "fields": sorted(meta.config.model_fields),
    "running": get_memory().is_running,
    "threads": threading.active_count(),
    "heavy": sorted({{"chromadb", "openai", "numpy", "httpx", "sqlite3"}} & set(sys.modules)),
    "problem": config.setup.problem,
    "settings": [config.setup.settings.query.auto_top_k, config.setup.settings.agent, config.setup.settings.pins.max],
}}
print("ANSWER" + json.dumps(answer))
"""
RUN = """
import asyncio, os, signal, threading
import nonebot

nonebot.init(driver={driver!r}, host="127.0.0.1", port={port}, log_level="INFO", localstore_data_dir="files")
assert nonebot.load_plugin("nonebot_plugin_cognitive_memory")
from nonebot_plugin_cognitive_memory import get_memory


@nonebot.get_driver().on_startup
async def ready():
    for _ in range({patience} * 20):  # a busy machine starts the bot while the memory still opens
        if get_memory().is_running:
            break
        await asyncio.sleep(0.05)
    print("RUNNING" * get_memory().is_running, flush=True)
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()


nonebot.run()
print("ENDED", flush=True)
"""


def run(program: str, folder: Path, *, is_warm: bool = True, **environ: str) -> str:
    """Run a program in a process of its own, which has imported its packages if it is warm; return its output."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COGNITIVE_MEMORY")}
    environment = {**kept, **environ, "PYTHONPATH": python_path(ROOT, folder), "PYTHONIOENCODING": "utf-8"}
    (folder / "program.py").write_text(program, "utf-8")
    (log := folder / "program.log").write_text("")
    if is_warm:
        started("program.py", folder, environment, log).wait(PATIENCE)
    else:
        with log.open("ab") as output:
            command = [sys.executable, "program.py"]
            subprocess.run(
                command, cwd=folder, env=environment, stdout=output, stderr=output, timeout=PATIENCE, check=False
            )
    return log.read_text("utf-8")


def loaded(driver: str, folder: Path, *, is_warm: bool = True, **environ: str) -> dict[str, Any]:
    """Load the plugin under a driver; return what can be observed."""
    (folder / "storedriver.py").write_text(STORE_DRIVER, "utf-8")
    told = run(LOAD.format(driver=driver), folder, is_warm=is_warm, **environ)
    answers = [line.removeprefix("ANSWER") for line in told.splitlines() if line.startswith("ANSWER")]
    assert answers, told
    return {**json.loads(answers[0]), "log": told.partition("ANSWER")[0]}


@pytest.mark.parametrize("driver", ["~none", "~fastapi", "storedriver"])
def test_loading(driver: str, tmp_path: Path) -> None:
    """The plugin loads under each driver with its metadata, and starts and imports nothing heavy."""
    answer = loaded(driver, tmp_path, is_warm=False)
    assert answer["name"] == "认知记忆"
    assert (answer["type"], answer["adapters"]) == ("application", ["~onebot.v11", "~onebot.v12"])
    assert answer["has usage"]
    assert answer["fields"] == ["cognitive_memory"]
    assert (answer["running"], answer["threads"], answer["heavy"], answer["problem"]) == (False, 1, [], "")
    assert not list((tmp_path / "files").rglob("*.*"))


def test_where_settings_stand(tmp_path: Path) -> None:
    """Settings work from .env and from the process environment alone, and the environment wins."""
    (tmp_path / ".env").write_text("COGNITIVE_MEMORY__QUERY__AUTO_TOP_K=5\nCOGNITIVE_MEMORY__PINS__MAX=7\n", "utf-8")
    environ = {"COGNITIVE_MEMORY__QUERY__AUTO_TOP_K": "6", "COGNITIVE_MEMORY__AGENT": "123456"}
    assert loaded("~none", tmp_path, **environ)["settings"] == [6, "123456", 7]


def test_a_bad_setting(tmp_path: Path) -> None:
    """An invalid setting is reported once in Chinese with the key's name, and the plugin loads."""
    answer = loaded("~none", tmp_path, COGNITIVE_MEMORY__QUERY__AUTO_TOP_K="很多")
    assert "COGNITIVE_MEMORY__QUERY__AUTO_TOP_K" in answer["problem"]
    assert len([line for line in answer["log"].splitlines() if "COGNITIVE_MEMORY__QUERY__AUTO_TOP_K" in line]) == 1


@pytest.mark.parametrize("driver", ["~none", "~fastapi"])
def test_a_bot_runs_and_ends(driver: str, tmp_path: Path) -> None:
    """A bot starts, opens its memory, and ends by itself when told to."""
    told = run(RUN.format(driver=driver, port=free_port(), patience=int(PATIENCE)), tmp_path)
    assert "RUNNING" in told, told
    assert "ENDED" in told, told


CALLS = """
import nonebot

nonebot.init(driver="~none", localstore_data_dir="files", command_start={start!r})
nonebot.load_plugin("nonebot_plugin_cognitive_memory")
from nonebot_plugin_cognitive_memory.command_table import is_ours
print("ANSWER", *(int(is_ours(text)) for text in {texts!r}))
"""


@pytest.mark.parametrize(
    ("start", "texts", "ours"),
    [
        (["/"], ["/记忆", "记忆", "记忆 列表", "!记忆"], "1 0 0 0"),
        (["!"], ["/记忆", "!记忆", "!memory list", "记忆 列表"], "1 1 1 0"),
        ([""], ["/记忆", "记忆", "记忆 列表", "Memory LIST 2", "记忆 力不好怎么办", "记忆力不好"], "1 1 1 1 0 0"),
        ([""], ["记忆搜索引擎", "记忆 搜索引擎", "/记忆搜索引擎", "/ 记忆", "记忆搜索 引擎"], "0 0 1 1 1"),
        (["", ".*"], [".*记忆 随便", ".x记忆 随便"], "1 0"),
    ],
)
def test_command_starts(start: list[str], texts: list[str], ours: str, tmp_path: Path) -> None:
    """The bot's own command signs and "/" work; without a sign only a known subcommand does."""
    told = run(CALLS.format(start=start, texts=texts), tmp_path)
    assert f"ANSWER {ours}" in told, told
