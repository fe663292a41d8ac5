"""Tests of finding and starting the demo script."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.waiting import PATIENCE, blocked_until

ROOT = Path(__file__).resolve().parents[3]
CORE = ROOT / "cognitive_memory_core"

SLOW_SCRIPT = """
import os, pathlib, sys, time
pathlib.Path("told").write_text("\\n".join([*sys.argv[1:], *(name for name in os.environ if "__" in name)]))
try:
    time.sleep(60)
except KeyboardInterrupt:
    pathlib.Path("ended").touch()
    sys.exit(1)
"""


def lone_core(home: Path, script: str | None) -> dict[str, str]:
    """Create a copy of the core with a test plugin or none; return the environment in which only they are found."""
    (home / "cognitive_memory_core").symlink_to(CORE)
    if script is not None:
        demo = home / "nonebot_plugin_cognitive_memory" / "demo"
        demo.mkdir(parents=True)
        (demo.parent / "__init__.py").write_text("raise AssertionError('imported')")
        (demo / "run.py").write_text(script)
    return {**os.environ, "PYTHONPATH": str(home), "COGNITIVE_MEMORY__MODELS__HISTORIAN__API_KEY": "secret"}


def command(environment: dict[str, str], home: Path, *words: str) -> subprocess.Popen[bytes]:
    """Start ``cognitive-memory demo`` in a directory."""
    return subprocess.Popen(
        [sys.executable, "-m", "cognitive_memory_core.cli", "demo", *words],
        cwd=home,
        env=environment,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=_heeding_interrupts if os.name == "posix" else None,  # noqa: PLW1509  # no other thread runs here
    )


def _heeding_interrupts() -> None:
    """Restore the handling of Ctrl-C, which shells disable for background processes."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.skipif(sys.platform == "win32", reason="an interrupt of a whole session is a thing of Unix")
def test_an_interrupt_lets_the_script_end_and_settings_of_the_shell_stay_outside(tmp_path: Path) -> None:
    """Ctrl-C reaches the script, which is waited for; it gets absolute paths and no setting of the memory."""
    environment = lone_core(tmp_path, SLOW_SCRIPT)
    started = command(environment, tmp_path, "--keep", "kept")
    told = tmp_path / "told"
    blocked_until(lambda: told.exists() and bool(told.read_text()))
    os.killpg(started.pid, signal.SIGINT)
    started.communicate(timeout=PATIENCE)
    assert started.returncode == 1
    assert (tmp_path / "ended").exists()
    told = (tmp_path / "told").read_text().splitlines()
    assert told[:2] == ["--keep", str(tmp_path / "kept")]
    assert not [name for name in told if name.startswith("COGNITIVE_MEMORY__")]


def test_without_the_extra_one_sentence_says_what_to_install(tmp_path: Path) -> None:
    """If the demo's packages are missing, one Chinese sentence names them and the command to install them."""
    environment = lone_core(tmp_path, "1/0")
    code = (
        "import sys, importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name in ('fastapi', 'websockets') else find(name, *rest)\n"
        "from cognitive_memory_core.cli import main; sys.exit(main(['demo']))"
    )
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=False)
    [sentence] = run.stderr.decode("utf-8").splitlines()
    assert run.returncode == 1
    assert "fastapi、websockets" in sentence
    assert "pip install 'nonebot-plugin-cognitive-memory[demo]'" in sentence
