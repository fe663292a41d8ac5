"""Tests that the import contracts hold, and that each of them detects a violation."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from .sources import CORE, ROOT

needs_linter = pytest.mark.skipif(sys.version_info < (3, 11), reason="import-linter needs Python 3.11")
LINT = "from importlinter.cli import lint_imports_command as lint; lint()"


def linted(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Check the contracts in a folder's pyproject.toml."""
    command = [sys.executable, "-c", LINT, "--no-logo", "--no-cache", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def members(contract: str, name: str) -> set[str]:
    """Return the modules of the core that a contract lists."""
    text = (ROOT / "pyproject.toml").read_text("utf-8").partition(f'id = "{contract}"')[2]
    listed = re.search(rf"^{name} = \[(.*?)\]", text, re.MULTILINE | re.DOTALL)
    return set(re.findall(rf'"{CORE}\.(\w+)"', listed[1])) if listed else set()


def test_no_module_is_left_out_of_a_contract() -> None:
    """The contracts about third-party libraries and about the public entry points list every module of the core."""
    found = {path.stem for path in (ROOT / CORE).iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    speaking = {"models", "profiles", "store", "vectors"}
    assert members("vendors-apart", "source_modules") == found - {"__init__", *speaking}
    assert members("front-door", "forbidden_modules") == found - {"__init__"}


@needs_linter
def test_the_layers_hold() -> None:
    """No module in either package imports what its layer forbids."""
    found = linted(ROOT)
    assert found.returncode == 0, found.stdout + found.stderr
