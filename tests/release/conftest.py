"""The archives, and a fresh environment into which the wheel is installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.onebot import ROOT

BOT = ("nonebot2[fastapi,httpx,websockets]", "nonebot-adapter-onebot")  # what `nb create` installs for a OneBot bot
EXTRAS = "cards,console,evolution,mcp,metrics"


@dataclass(frozen=True)
class Archives:
    """The two archives of a release."""

    wheel: Path
    sdist: Path


@dataclass(frozen=True)
class Installed:
    """An environment with a bot's packages, and then the wheel with its extras; versions by name, before and after."""

    python: Path
    before: dict[str, str]
    after: dict[str, str]

    def run(self, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
        """Run its interpreter in a folder."""
        command = [str(self.python), *arguments]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)


@pytest.fixture(scope="session")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Archives:
    """Build both archives, the wheel from the sdist."""
    pytest.importorskip("build", reason="pip install '.[dev]' brings the builder")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout[-2000:] + built.stderr[-2000:]
    [wheel], [sdist] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return Archives(wheel, sdist)


@pytest.fixture(scope="session")
def installed(archives: Archives, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Make an environment, install a bot's packages, then the wheel with every extra that a bot uses."""
    home = tmp_path_factory.mktemp("fresh")
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    python = home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    _install(python, BOT)
    before = _versions(python)
    _install(python, [f"nonebot-plugin-cognitive-memory[{EXTRAS}] @ {archives.wheel.as_uri()}"])
    return Installed(python, before, _versions(python))


def _install(python: Path, what: Sequence[str]) -> None:
    uv = shutil.which("uv")
    installer = [uv, "pip", "install", "--python", str(python)] if uv else [str(python), "-m", "pip", "install"]
    unguarded = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # it asks the registry
    done = subprocess.run([*installer, "--quiet", *what], env=unguarded, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def _versions(python: Path) -> dict[str, str]:
    listing = "import importlib.metadata as m, json; print(json.dumps({d.name: d.version for d in m.distributions()}))"
    done = subprocess.run([str(python), "-c", listing], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
