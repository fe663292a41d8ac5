"""What importing the plugin costs over NoneBot, and over the plugins that it requires, in fresh processes."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from .measure import Report, Sample

PLUGIN = "nonebot_plugin_cognitive_memory"
ROOT = Path(__file__).resolve().parent.parent
TIMED = """
import time
started = time.perf_counter()
{timed}
print(time.perf_counter() - started)
"""
NONEBOT = "import nonebot; nonebot.init(driver='~none', localstore_use_cwd=True, log_level='ERROR')"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say how often."""
    parser.add_argument("--rounds", type=int, default=15)


def run(options: argparse.Namespace) -> Report:
    """Time each import in a process of its own, in turns."""
    required = "\n".join(f"nonebot.require({name!r})" for name in required_plugins())
    plugin = f"nonebot.load_plugin({PLUGIN!r})"
    programs = {
        "nonebot": TIMED.format(timed=NONEBOT),
        "the plugins it requires, over nonebot": NONEBOT + TIMED.format(timed=required),
        "the plugin, over those": f"{NONEBOT}\n{required}" + TIMED.format(timed=plugin),
        "the plugin, over nonebot": NONEBOT + TIMED.format(timed=plugin),
        "the core alone": TIMED.format(timed="import cognitive_memory_core"),
    }
    samples = {name: Sample() for name in programs}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds + 1):
            for name, program in programs.items():
                samples[name].seconds.append(_timed(program, folder))
    report = Report("import: fresh processes", ("what", "n", "p50 ms", "p95 ms"))
    for name, sample in samples.items():
        del sample.seconds[0]  # the first round reads the disk and compiles
        report.add(name, len(sample.seconds), sample.p50, sample.p95)
    report.notes.append(f"required: {', '.join(required_plugins())}; byte code is there already")
    return report


def required_plugins() -> list[str]:
    """Read from the plugin what it requires."""
    source = (ROOT / PLUGIN / "__init__.py").read_text("utf-8")
    return re.findall(r"require\(\"(\w+)\"\)", source)


def _timed(program: str, folder: str) -> float:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": f"{folder}/compiled"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[-1])
