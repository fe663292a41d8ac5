"""README: the vector index may be lost without losing anything."""

from __future__ import annotations

import shutil
from pathlib import Path

from cognitive_memory_core import CognitiveMemory, Settings
from tests.support.telling import READING, tell
from tests.support.waiting import PATIENCE


async def test_a_lost_index_costs_no_answer(tmp_path: Path) -> None:
    """After chromadb/ was deleted the next start answers as before and rebuilds it from the ledger."""
    async with CognitiveMemory.open(Settings(), tmp_path) as memory:
        await tell(memory, READING, "阿禾对花生过敏", "阿禾养了一只叫年糕的猫")
    shutil.rmtree(tmp_path / "chromadb")
    async with CognitiveMemory.open(Settings(), tmp_path) as memory:
        assert len(await memory.search_events(READING, "阿禾")) == 2
        assert await memory.drain(PATIENCE)
        assert len(await memory.search_events(READING, "阿禾")) == 2
        index = (await memory.status()).index
        assert (index.generation, index.behind) == (1, 0)
