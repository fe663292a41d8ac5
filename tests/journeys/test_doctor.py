"""A newcomer's faults, one after another: `cognitive-memory doctor` finds each and says what to do."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest

from cognitive_memory_core.cli import main
from tests.support.bot_homes import ENV, BotHome, end
from tests.support.network_guard import python_path

SYSTEM_FONTS = ("/usr/share/fonts", "/usr/local/share/fonts")
OLD_ORJSON = "Metadata-Version: 2.1\nName: orjson\nVersion: 1.0\n"
UNSET_CLOCK = """
import datetime


class Unset(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(1970, 1, 2, tzinfo=tz)


datetime.datetime = Unset
"""
FINE = ("DRIVER=~fastapi", "HOST=127.0.0.1", *ENV)


@dataclass(frozen=True)
class Fault:
    """What a newcomer did, and a part of the advice on it; a ``hint`` leaves the status 0.

    ``lines`` are .env's, None for no .env. ``prepare`` is done before, ``modules`` stand where Python looks first, and
    each of ``mounts`` is a command for a file system of the process alone.
    """

    advice: str
    lines: tuple[str, ...] | None = FINE
    hint: bool = False
    prepare: Callable[[BotHome], object] = field(default=lambda _: None)
    modules: Mapping[str, str] = field(default_factory=dict[str, str])
    mounts: tuple[str, ...] = ()
    owned: bool = False


FAULTS = {
    "no .env": Fault("照 docs/quickstart.md「4. 五行设置」建一个", None),
    "a cron in words": Fault("分 时 日 月 周", (*FINE, "COGNITIVE_MEMORY__EVOLUTION__CRON=每天四点")),
    "a shared directory": Fault("LOCALSTORE_USE_CWD=true", (*FINE[:2], *ENV[1:])),
    "nobody in charge": Fault("SUPERUSERS=", FINE[:4], hint=True),
    "another bot": Fault("另一个机器人", hint=True, prepare=BotHome.fill, owned=True),
    "a nearly full disk": Fault("腾出", mounts=("mount -t tmpfs -o size=100m none data",)),
    "an old package": Fault("pip install", modules={"orjson-1.0.dist-info/METADATA": OLD_ORJSON}),
    "no Chinese font": Fault(
        "fonts-noto-cjk", hint=True, mounts=tuple(f"mount -t tmpfs none {folder}" for folder in SYSTEM_FONTS)
    ),
    "a clock that was never set": Fault("时间", modules={"sitecustomize.py": UNSET_CLOCK}),
}


@pytest.fixture
def home(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> BotHome:
    """Return a bot's empty directory."""
    (tmp_path / "bot").mkdir()
    return BotHome(tmp_path / "bot", capsys)


@pytest.fixture
def environment(home: BotHome, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in the bot's directory, as people do."""
    monkeypatch.chdir(home.path)
    monkeypatch.setenv("HOME", str(home.path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)


def examined(home: BotHome) -> tuple[int, str]:
    """Run doctor; return its status and what it shows."""
    status = main(["doctor", "--offline"])
    shown = home.capsys.readouterr()
    assert shown.err == ""
    return status, shown.out


def examined_apart(home: BotHome, modules: Path, mounts: tuple[str, ...]) -> tuple[int, str]:
    """Run doctor in a process with modules and mounts of its own; return its status and what it shows."""
    command = [sys.executable, "-m", "cognitive_memory_core.cli", "doctor", "--offline"]
    if mounts:
        (home.path / "data").mkdir()
        joined = " && ".join((*mounts, 'exec "$0" "$@"'))
        command = ["unshare", "--map-root-user", "--mount", "sh", "-c", joined, *command]
    environ = {**os.environ, "PYTHONPATH": python_path(modules), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(command, cwd=home.path, env=environ, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout


def may_mount() -> bool:
    """Return whether a process may have mounts of its own here."""
    try:
        command = ["unshare", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize("name", FAULTS)
def test_a_newcomers_fault_is_found(home: BotHome, tmp_path: Path, name: str) -> None:
    """Each fault is shown with its mark and, on the next line, what to do; only faults make the status 1."""
    fault = FAULTS[name]
    if fault.mounts and not may_mount():
        pytest.skip("no mounts for a process alone on this system")
    for path, text in fault.modules.items():
        (tmp_path / "modules" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "modules" / path).write_text(text, "utf-8")
    with ExitStack() as beside:
        if fault.lines is not None:
            home.write_env(*fault.lines)
        fault.prepare(home)
        if fault.owned:
            beside.callback(end, home.start_owner())
        if fault.modules or fault.mounts:
            result, shown = examined_apart(home, tmp_path / "modules", fault.mounts)
        else:
            result, shown = examined(home)
    found = shown.splitlines()
    pairs = [f"{what}\n{advice}" for what, advice in pairwise(found) if advice.startswith("  → ")]
    [told] = [pair for pair in pairs if fault.advice in pair]
    assert told.startswith("[注意]" if fault.hint else "[要改]")
    assert result == (0 if fault.hint else 1)
    assert found[-1].startswith("没有要改的" if fault.hint else "有 ")


@pytest.mark.usefixtures("environment")
def test_a_bot_without_faults(home: BotHome) -> None:
    """A bot whose .env has no fault has nothing to correct."""
    home.write_env(*FINE)
    home.fill()
    result, shown = examined_apart(home, home.path, ())
    assert result == 0
    assert "[要改]" not in shown
