"""Tests that importing loads nothing heavy and nothing that a bot without the feature needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .sources import CORE, ROOT

HEAVY = {"chromadb", "openai", "httpx", "numpy", "pandas", "sqlite3", "orjson", "jieba", "rjieba", "frontmatter"}
AFTER_OPENING = ("opened", "learning", "models", "recall.recall", "recall.one_pass", "historian")  # of the core
SUBCOMMANDS = ("backfill", "memories", "operating", "people", "places")
OFF = (  # rooms of the plugin that a bot needs only after it has switched them on, or when somebody asks
    *(f"commands.{family}" for family in SUBCOMMANDS),
    *("http.", "console.", "bridges.", "cards"),
    *(f"replies.{reader}" for reader in ("http", "console", "memories", "status")),
)
OFF_OF_THE_CORE = (
    *("tools", "mcp_server", "cli", "quality", "evolution", "transfer", "status", "listings", "context", "recall"),
    *("ports", "domain.quality", "domain.belief", "domain.reading", "text.terms", "text.time.time_words"),
    "text.time.time_limits",
)
LEARNING = ("learning", "prompts", "transfer", "quality.reporting", "historian.pipeline", "evolution.evolver")
OPENING = """
import asyncio, cognitive_memory_core as core
from pathlib import Path
async def opened():
    async with core.CognitiveMemory.open(core.Settings(), Path("data"), background=False): pass
asyncio.run(opened())
"""
SHOWN = "import sys; print(*sys.modules)"
LOADED = (
    "import nonebot; nonebot.init(driver='~none', localstore_data_dir='.', localstore_use_cwd=True); "
    "assert nonebot.load_plugin('nonebot_plugin_cognitive_memory'); "
)


def imported(program: str, folder: Path) -> set[str]:
    """Run a program in a new process and return the modules that it has loaded, by their full names."""
    done = subprocess.run(
        [sys.executable, "-c", program + SHOWN],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "program",
    [
        pytest.param("import cognitive_memory_core; ", id="core"),
        pytest.param("import cognitive_memory_core.cli; ", id="cli"),
        pytest.param(LOADED, id="plugin"),
    ],
)
def test_importing_is_light(program: str, tmp_path: Path) -> None:
    """Importing the core or the plugin loads no vector store, no model client and no numpy."""
    assert not {name.partition(".")[0] for name in imported(program, tmp_path)} & HEAVY


def test_the_machinery_is_loaded_when_a_memory_opens(tmp_path: Path) -> None:
    """Importing the plugin loads no adapter, no historian and nothing that searches."""
    rooms = tuple(f"{CORE}.{room}" for room in AFTER_OPENING)
    assert not [name for name in imported(LOADED, tmp_path) if name.startswith(rooms)]


def test_opening_loads_nothing_that_learns(tmp_path: Path) -> None:
    """A memory is open, and can be read, before numpy and what learns, reports or exports is loaded."""
    rooms = ("numpy", "yaml", *(f"{CORE}.{room}" for room in LEARNING))
    assert not [name for name in imported(OPENING, tmp_path) if name.startswith(rooms)]


def test_rooms_that_are_off_are_not_loaded(tmp_path: Path) -> None:
    """Importing the plugin loads no room that is off by default, and nothing that only a question or report needs."""
    plugin = "nonebot_plugin_cognitive_memory"
    rooms = (*(f"{plugin}.{room}" for room in OFF), *(f"{CORE}.{room}" for room in OFF_OF_THE_CORE))
    assert not [name for name in imported(LOADED, tmp_path) if name.startswith(rooms)]


def test_cards_are_imported_without_the_image_library(tmp_path: Path) -> None:
    """The cards can be imported where Pillow is not installed; then answers are text."""
    found = imported(f"{LOADED}import nonebot_plugin_cognitive_memory.cards; ", tmp_path)
    assert "nonebot_plugin_cognitive_memory.cards.layout" in found
    assert "PIL" not in found


def test_the_core_has_never_heard_of_a_bot(tmp_path: Path) -> None:
    """The core can be imported without importing NoneBot."""
    assert "nonebot" not in imported(
        "import cognitive_memory_core, cognitive_memory_core.memory.cognitive_memory; ", tmp_path
    )
