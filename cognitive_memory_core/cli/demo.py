"""``cognitive-memory demo``: starts the bot script shipped inside the plugin package in a separate process.

The core never imports NoneBot: the plugin is located on disk without importing it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from .. import sentences
from .parser import FAILED

PLUGIN = "nonebot_plugin_cognitive_memory"
NEEDED = ("nonebot", "fastapi", "uvicorn", "websockets")
FOREIGN_SETTINGS = ("COGNITIVE_MEMORY__", "LOCALSTORE_")  # an API key in the shell must not reach the demo


def demo(arguments: argparse.Namespace) -> int:
    """Start the script, wait for it and return its exit status."""
    script = plugin_file("demo/run.py")
    missing = [name for name in NEEDED if find_spec(name) is None]
    if script is None or missing:
        needed = sentences.command_line.DEMO_NEEDS
        sys.stderr.write(needed.format(packages="、".join(missing or [PLUGIN])) + "\n")
        return FAILED
    command = [sys.executable, str(script)]
    for name, path in (("--transcript", arguments.transcript), ("--keep", arguments.keep)):
        command += [name, str(path.resolve())] if path else []
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith(FOREIGN_SETTINGS)}
    process = subprocess.Popen(command, env=kept | {"PYTHONIOENCODING": "utf-8"})  # noqa: S603  # our own script, no shell
    while True:
        try:
            status = process.wait()
        except KeyboardInterrupt:  # also reaches the script, which ends by itself
            continue
        return status if status in (0, 1, 2) else FAILED


def plugin_file(name: str) -> Path | None:
    """Return a file of the plugin without importing it, which would need a running bot; None if it is missing."""
    found = find_spec(PLUGIN)
    path = Path(found.origin).parent / name if found and found.origin else None
    return path if path and path.is_file() else None
