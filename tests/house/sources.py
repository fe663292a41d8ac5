"""Helpers that read the repository's own files for these tests."""

from __future__ import annotations

import ast
import gc
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORE, PLUGIN = "cognitive_memory_core", "nonebot_plugin_cognitive_memory"
NOT_OURS = {".git", ".venv", "venv", "env", "node_modules", "dist", "build", "data", "cache", "results", "site"}
OURS = {".ci", ".github"}
TEXT = {".py", ".md", ".toml", ".json", ".jsonl", ".yml", ".yaml", ".txt", ".html", ".js", ".css", ".example", ""}


def files() -> Iterator[Path]:
    """List the text files that belong to the repository, as absolute paths: what git tracks, or all without git."""
    listing = ["git", "-c", "safe.directory=*", "ls-files", "-z"]
    tracked = subprocess.run(listing, cwd=ROOT, capture_output=True, check=False) if (ROOT / ".git").exists() else None
    if tracked is None or tracked.returncode:
        yield from _below(ROOT)
        return
    paths = [ROOT / name for name in tracked.stdout.decode().split("\0") if name]
    yield from (path for path in paths if path.is_file() and _is_text(path))


@cache
def modules(*tops: str) -> dict[str, ast.Module]:
    """Parse the Python files under some top-level folders; the keys are paths relative to the root."""
    names = {path.relative_to(ROOT).as_posix(): path for path in files() if path.suffix == ".py"}
    parsed = {
        name: ast.parse(path.read_text("utf-8"), str(path))
        for top in tops
        for name, path in sorted(names.items())
        if name.startswith(f"{top}/")
    }
    gc.freeze()  # the trees stay until the process ends: no later collection walks their millions of nodes
    return parsed


def code() -> dict[str, ast.Module]:
    """Parse both packages."""
    return modules(CORE, PLUGIN)


@cache
def nodes(tree: ast.AST) -> tuple[ast.AST, ...]:
    """List every node of a syntax tree."""
    return tuple(ast.walk(tree))


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """List every function and method of a syntax tree, including nested ones."""
    return (node for node in nodes(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@cache
def lines(file: str) -> list[str]:
    """Read the lines of a file, given by its path relative to the root."""
    return (ROOT / file).read_text("utf-8").splitlines()


def _below(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in NOT_OURS or (path / "pyvenv.cfg").exists():  # .git is a file in a linked work tree
            continue
        if path.is_dir():
            if not path.name.startswith(".") or path.name in OURS:
                yield from _below(path)
        elif _is_text(path):
            yield path


def _is_text(path: Path) -> bool:
    return path.name == ".env.example" or (path.suffix in TEXT and not path.name.startswith((".env", ".coverage")))
