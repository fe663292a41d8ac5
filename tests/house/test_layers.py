"""The import contracts hold, and each of them bites."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .sources import CORE, PLUGIN, ROOT

needs_linter = pytest.mark.skipif(sys.version_info < (3, 11), reason="import-linter needs Python 3.11")
LINT = "from importlinter.cli import lint_imports_command as lint; lint()"


def linted(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the contracts of a folder's pyproject.toml."""
    command = [sys.executable, "-c", LINT, "--no-logo", "--no-cache", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def members(contract: str, name: str) -> set[str]:
    """Read which modules of the core a contract lists."""
    text = (ROOT / "pyproject.toml").read_text("utf-8").partition(f'id = "{contract}"')[2]
    listed = re.search(rf"^{name} = \[(.*?)\]", text, re.MULTILINE | re.DOTALL)
    return set(re.findall(rf'"{CORE}\.(\w+)"', listed[1])) if listed else set()


def test_no_module_is_left_out_of_a_contract() -> None:
    """The contracts on vendors and on the front door name every module that there is."""
    found = {path.stem for path in (ROOT / CORE).iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert members("vendors-inside-adapters", "source_modules") == found - {"__init__", "adapters"}
    assert members("front-door", "forbidden_modules") == found - {"__init__"}


@needs_linter
def test_the_layers_hold() -> None:
    """No module imports what its layer may not, in either package."""
    found = linted(ROOT)
    assert found.returncode == 0, found.stdout + found.stderr


@needs_linter
@pytest.mark.parametrize(
    ("contract", "file", "line"),
    [
        ("layers", f"{CORE}/domain/ids.py", f"import {CORE}.ports.queue"),
        ("layers", f"{CORE}/stray.py", "# a module that nobody placed"),
        ("adapters-know-no-use-case", f"{CORE}/adapters/files/__init__.py", f"import {CORE}.historian"),
        ("adapters-apart", f"{CORE}/adapters/files/__init__.py", f"import {CORE}.adapters.sqlite"),
        ("core-knows-no-bot", f"{CORE}/errors.py", "import nonebot"),
        ("vendors-inside-adapters", f"{CORE}/memory.py", "import sqlite3"),
        ("domain-is-plain", f"{CORE}/domain/ids.py", "import asyncio"),
        ("vendors-inside-adapters", f"{CORE}/engine.py", "import numpy"),
        ("front-door", f"{PLUGIN}/scene.py", f"import {CORE}.domain.scope"),
        ("front-door", f"{PLUGIN}/scene.py", f"import {CORE}.engine"),
        ("no-cycles", f"{CORE}/domain/ids.py", f"import {CORE}.domain.event"),
    ],
)
def test_each_contract_bites(contract: str, file: str, line: str, tmp_path: Path) -> None:
    """One forbidden import breaks the contract that forbids it."""
    for name in (CORE, PLUGIN):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / file).open("a", encoding="utf-8") as module:
        module.write(f"\n{line}\n")
    found = linted(tmp_path, "--contract", contract)
    assert found.returncode == 1, found.stdout + found.stderr
    assert "broken" in found.stdout.casefold()
