"""Tests that the import contracts hold."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .sources import ROOT

needs_linter = pytest.mark.skipif(sys.version_info < (3, 11), reason="import-linter needs Python 3.11")
LINT = "from importlinter.cli import lint_imports_command as lint; lint()"


def linted(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Check the contracts in a folder's pyproject.toml."""
    command = [sys.executable, "-c", LINT, "--no-logo", "--no-cache", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@needs_linter
def test_the_layers_hold() -> None:
    """No module in either package imports what its layer forbids."""
    found = linted(ROOT)
    assert found.returncode == 0, found.stdout + found.stderr
