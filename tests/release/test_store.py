"""Tests of the wheel in an environment of its own: the check of NoneBot's store, and a bot that remembers.

The store installs a plugin into an empty project, loads it in a script with a driver that serves nothing, and reads its
metadata; ``python -m tests release`` does the same on any Python.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from packaging.version import Version

from tests.support.onebot import AHE, GROUP, MILI, ROOT, prepare, start

from .conftest import Installed

pytestmark = pytest.mark.nightly
MODULE = "nonebot_plugin_cognitive_memory"
FAKE = '''
from nonebot import logger
from nonebot.drivers import ASGIMixin, Driver as BaseDriver, HTTPClientMixin, WebSocketClientMixin


class Driver(BaseDriver, ASGIMixin, HTTPClientMixin, WebSocketClientMixin):
    """Serves nothing and asks nobody."""

    type = "fake"
    logger = logger
    server_app = None

    def run(self, *args, **kwargs):
        super().run(*args, **kwargs)

    def _never(self, *args, **kwargs):
        raise NotImplementedError

    asgi = property(_never)
    setup_http_server = setup_websocket_server = request = websocket = stream_request = get_session = _never
'''
RUNNER = f"""
import json
from nonebot import init, load_plugin, require
from pydantic import BaseModel

init()
plugin = load_plugin("{MODULE}")
assert plugin and plugin.metadata, "not loaded"
meta = plugin.metadata
assert meta.config is None or issubclass(meta.config, BaseModel)
for name in ("nonebot_plugin_apscheduler", "nonebot_plugin_localstore"):
    require(name)
print(json.dumps([meta.name, meta.description, meta.usage, meta.type, meta.homepage, sorted(meta.supported_adapters)]))
"""
LOADING = f'from nonebot import require\nrequire("{MODULE}")\n'


def test_the_store_can_load_it(installed: Installed, tmp_path: Path) -> None:
    """With the store's driver and no setting the plugin loads, and its metadata are what the store asks for."""
    (tmp_path / "fake.py").write_text(FAKE, "utf-8")
    (tmp_path / "runner.py").write_text(RUNNER, "utf-8")
    (tmp_path / ".env").write_text("DRIVER=fake\n", "utf-8")
    done = installed.run("runner.py", folder=tmp_path)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    name, description, usage, kind, homepage, adapters = json.loads(done.stdout.splitlines()[-1])
    assert all((name, description, usage))
    assert kind == "application"
    assert homepage.startswith("https://")
    assert adapters == ["~onebot.v11", "~onebot.v12"]


def test_no_package_of_a_bot_is_held_back(installed: Installed) -> None:
    """Installing the plugin with its extras lowers no version of what a new bot has, such as websockets."""
    lowered = {
        name: (version, installed.after.get(name))
        for name, version in installed.before.items()
        if Version(installed.after.get(name, "0")) < Version(version)
    }
    assert not lowered
    assert "websockets" in installed.before


async def test_it_remembers_in_a_bot(installed: Installed, tmp_path: Path) -> None:
    """A bot of that environment takes in a line and lists it."""
    env = ["COGNITIVE_MEMORY__CAPTURE__CONSIDER_IDLE_MINUTES=0.01"]
    prepare(tmp_path, {"loaded": LOADING}, env)
    bot = start(tmp_path, {"PYTHONPATH": ""}, str(installed.python))  # the wheel's packages, not the repository's
    try:
        async with bot.client() as client:
            await bot.opened()
            await client.say("我家的猫叫年糕，只吃罐头不吃猫粮", user=MILI, name="米粒", group=GROUP)
            assert "罐头" in await client.ask_until("/记忆 列表", "罐头", user=AHE, group=GROUP)
    finally:
        bot.stop()


def test_the_command_line_works(installed: Installed, tmp_path: Path) -> None:
    """``cognitive-memory doctor`` of that environment finds the packages' versions right."""
    (tmp_path / ".env").write_text("DRIVER=~fastapi\nLOCALSTORE_USE_CWD=true\n", "utf-8")
    command = "import sys; from cognitive_memory_core.cli import main; sys.exit(main(['doctor', '--offline']))"
    done = installed.run("-c", command, folder=tmp_path)
    assert "依赖的版本都对" in done.stdout, done.stdout + done.stderr


def test_the_installed_size_is_what_the_page_says(installed: Installed, tmp_path: Path) -> None:
    """The packages of the environment weigh what docs/data.md says, within a fifth, bytecode and pip left out."""
    weigh = (
        "import importlib.metadata as m, pathlib\n"
        "files = {pathlib.Path(d.locate_file(f)) for d in m.distributions() for f in d.files or () "
        "if d.name not in ('pip', 'setuptools')}\n"
        "print(sum(f.stat().st_size for f in files if f.suffix != '.pyc' and f.is_file()) / 1e6)"
    )
    weight = float(installed.run("-c", weigh, folder=tmp_path).stdout)
    page = (ROOT / "docs" / "data.md").read_text("utf-8")
    said = re.search(r"一共 \d+ 个包、约 (\d+) MB", page)
    assert said is not None
    assert weight == pytest.approx(int(said[1]), rel=0.2)
