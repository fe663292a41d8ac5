"""Tests that the import contracts hold, and that each of them detects a violation."""

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


@needs_linter
@pytest.mark.parametrize(
    ("contract", "file", "line"),
    [
        ("layers", f"{CORE}/domain/ids.py", f"import {CORE}.ports.models"),
        ("layers", f"{CORE}/stray.py", "# a module that nobody placed"),
        ("layers", f"{CORE}/models/__init__.py", f"import {CORE}.historian"),
        ("core-knows-no-bot", f"{CORE}/errors.py", "import nonebot"),
        ("vendors-apart", f"{CORE}/memory.py", "import sqlite3"),
        ("store-speaks-sql", f"{CORE}/store/ledger.py", "import chromadb"),
        ("layers", f"{CORE}/store/ledger.py", f"import {CORE}.models.chat"),
        ("vectors-speak-chroma", f"{CORE}/vectors/indexer.py", "import sqlite3"),
        ("domain-is-plain", f"{CORE}/domain/ids.py", "import asyncio"),
        ("vendors-apart", f"{CORE}/opened.py", "import numpy"),
        ("front-door", f"{PLUGIN}/scene.py", f"import {CORE}.domain.scope"),
        ("front-door", f"{PLUGIN}/scene.py", f"import {CORE}.opened"),
        ("files-speak-yaml", f"{CORE}/queue/format.py", "import sqlite3"),
        ("no-cycles", f"{CORE}/domain/ids.py", f"import {CORE}.domain.event"),
    ],
)
def test_each_contract_bites(contract: str, file: str, line: str, tmp_path: Path) -> None:
    """A contract fails after one import that it forbids is added."""
    for name in (CORE, PLUGIN):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / file).open("a", encoding="utf-8") as module:
        module.write(f"\n{line}\n")
    found = linted(tmp_path, "--contract", contract)
    assert found.returncode == 1, found.stdout + found.stderr
    assert "broken" in found.stdout.casefold()
