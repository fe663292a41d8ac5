"""``cognitive-memory demo``: starts the bot script shipped inside the plugin package in a separate process.

The core never imports NoneBot: the plugin is located on disk without importing it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from .. import sentences
from .parser import FAILED, Parser, existing_file, fresh_directory

NEEDED = ("nonebot", "fastapi", "uvicorn", "websockets")
FOREIGN_SETTINGS = ("COGNITIVE_MEMORY__", "LOCALSTORE_")  # an API key in the shell must not reach the demo


def declare_demo(parser: Parser) -> None:
    """Add the arguments of ``cognitive-memory demo``."""
    parser.options.add_argument(
        "--transcript", type=existing_file, metavar="FILE", help=sentences.command_line.TRANSCRIPT_OPTION
    )
    parser.options.add_argument("--keep", type=fresh_directory, metavar="DIR", help=sentences.command_line.KEEP_OPTION)


def demo(arguments: argparse.Namespace) -> int:
    """Start the script, wait for it and return its exit status."""
    script = _script()
    missing = [name for name in NEEDED if find_spec(name) is None]
    if script is None or missing:
        needed = sentences.command_line.DEMO_NEEDS
        sys.stderr.write(needed.format(packages="、".join(missing or ["nonebot_plugin_cognitive_memory"])) + "\n")
        return FAILED
    command = [sys.executable, str(script), *_passed_on(arguments)]
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(FOREIGN_SETTINGS)}
    process = subprocess.Popen(command, env=kept | {"PYTHONIOENCODING": "utf-8"})  # noqa: S603  # our own script, no shell
    while True:
        try:
            status = process.wait()
        except KeyboardInterrupt:  # also reaches the script, which ends by itself
            continue
        return status if status in (0, 1, 2) else FAILED


def _script() -> Path | None:
    """Return the script's path without importing the plugin, which would need a running bot; None if it is missing."""
    found = find_spec("nonebot_plugin_cognitive_memory")
    if found is None or found.origin is None:
        return None
    script = Path(found.origin).parent / "demo" / "run.py"
    return script if script.is_file() else None


def _passed_on(arguments: argparse.Namespace) -> Iterator[str]:
    for name in ("transcript", "keep"):
        path: Path | None = getattr(arguments, name)
        if path is not None:
            yield from (f"--{name}", str(path.resolve()))
