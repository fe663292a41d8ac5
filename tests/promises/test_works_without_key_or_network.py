"""README: the memory needs no setting, no key and no network."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from cognitive_memory_core import Settings
from tests.support.telling import READING, a_memory, recalled, tell


def _no_network(*arguments: object) -> None:
    raise AssertionError("the memory reached for the network")


async def test_remembers_and_recalls_with_nothing_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With default settings and no network a statement is in the next context, and no connection was tried."""
    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, _no_network)
    async with a_memory(tmp_path, Settings()) as memory:
        await tell(memory, READING, "阿禾(2156083317) 在市二院当护士")
        assert "市二院" in await recalled(memory, READING, "阿禾在哪里上班")
        assert (await memory.status()).calls_today == 0
