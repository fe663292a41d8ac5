"""The import time of the plugin compared with NoneBot and the plugins that it requires, in new processes."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from .measure import Report, Sample

PLUGIN = "nonebot_plugin_cognitive_memory"
ROOT = Path(__file__).resolve().parent.parent
TIMED = """
import time
started, worked = time.perf_counter(), time.process_time()
{timed}
print(time.perf_counter() - started, time.process_time() - worked)
"""
NONEBOT = "import nonebot; nonebot.init(driver='~none', localstore_use_cwd=True, log_level='ERROR')"
USED = ("nonebot_plugin_apscheduler",)
ADAPTERS = "import nonebot.adapters.onebot.v11, nonebot.adapters.onebot.v12"
MATCHER = "import nonebot.plugin; nonebot.plugin.on_message()"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the option for the number of rounds."""
    parser.add_argument("--rounds", type=int, default=15)


def run(options: argparse.Namespace) -> Report:
    """Time each import in a separate process, alternating."""
    required = "\n".join(f"nonebot.require({name!r})" for name in required_plugins())
    plugin = f"nonebot.load_plugin({PLUGIN!r})"
    programs = {
        "nonebot": TIMED.format(timed=NONEBOT),
        "the plugins it requires, over nonebot": NONEBOT + TIMED.format(timed=required),
        "the plugin, over those": f"{NONEBOT}\n{required}" + TIMED.format(timed=plugin),
        "the plugin, over nonebot": NONEBOT + TIMED.format(timed=plugin),
        "OneBot v11 and v12, over nonebot": NONEBOT + TIMED.format(timed=ADAPTERS),
        "the plugin, over all of these": f"{NONEBOT}\n{required}\n{ADAPTERS}" + TIMED.format(timed=plugin),
        "a first matcher, over all of these": f"{NONEBOT}\n{required}\n{ADAPTERS}" + TIMED.format(timed=MATCHER),
        "the plugin, over all of these and a matcher": f"{NONEBOT}\n{required}\n{ADAPTERS}\n{MATCHER}"
        + TIMED.format(timed=plugin),
        "the core alone": TIMED.format(timed="import cognitive_memory_core"),
    }
    samples = {name: (Sample(), Sample()) for name in programs}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds + 1):
            for name, program in programs.items():
                for sample, seconds in zip(samples[name], _timed(program, folder), strict=True):
                    sample.seconds.append(seconds)
    report = Report("import: fresh processes", ("what", "n", "p50 ms", "p95 ms", "processor p50 ms"))
    for name, (passed, worked) in samples.items():
        del passed.seconds[0], worked.seconds[0]  # the first round reads the disk and compiles
        report.add(name, len(passed.seconds), passed.p50, passed.p95, worked.p50)
    report.notes.append("NoneBot looks through all loaded modules when the bot's first plugin makes a matcher")
    report.notes.append(f"required: {', '.join(required_plugins())}; byte code is there already")
    return report


def required_plugins() -> list[str]:
    """Return the names of the plugins that the plugin requires, and of those that it uses if they are installed."""
    source = (ROOT / PLUGIN / "__init__.py").read_text("utf-8")
    return [*re.findall(r"require\(\"(\w+)\"\)", source), *(name for name in USED if find_spec(name))]


def _timed(program: str, folder: str) -> list[float]:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": f"{folder}/compiled"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return [float(seconds) for seconds in done.stdout.splitlines()[-1].split()]
