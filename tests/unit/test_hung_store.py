"""Tests of a Chroma server that accepts connections and never answers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import cognitive_memory_core as core
from tests.support.builders import GROUP
from tests.support.waiting import PATIENCE, until


class Silent:
    """A server that reads all input and answers nothing."""

    def __init__(self) -> None:
        """Have received nothing."""
        self.asked = 0
        self.url = ""

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Listen on a port of the loopback interface."""
        server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield
        finally:
            server.close()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(1024):
            self.asked += 1
        writer.close()


async def test_a_server_that_never_answers_is_seen(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """While the server hangs, the status reports it, the log has one line, and searches are answered."""
    silent = Silent()
    async with silent.listening():
        settings = core.Settings(vector_store=core.VectorStoreSettings(url=silent.url))
        with caplog.at_level(logging.WARNING):
            async with core.CognitiveMemory.open(settings, tmp_path) as memory:
                await memory.remember(core.Turn(GROUP, observations=("小明（2000001）喜欢乌龙茶",)))
                draining = asyncio.create_task(memory.drain(PATIENCE))  # a single row would not start the store
                await until(lambda: silent.asked > 0)
                await until(lambda: _says_why(memory))
                status = await memory.status()
                assert status.index.behind == 1
                assert [hit.event.text for hit in await memory.search_events(GROUP, "乌龙茶")] == [
                    "机器人记：小明（2000001）喜欢乌龙茶"
                ]
                lines = [record for record in caplog.records if "vectors" in record.getMessage()]
                assert len(lines) == 1
                draining.cancel()
                await asyncio.gather(draining, return_exceptions=True)


async def _says_why(memory: core.CognitiveMemory) -> bool:
    status = await memory.status()
    return "Chroma" in status.last_error and ("vectors", "failed") in status.breakers
