"""Shared fixtures of the model client tests."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.support.meters import ListedMeter
from tests.support.model_server import ModelServer


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    """Return a running model server."""
    async with ModelServer() as running:
        yield running


@pytest.fixture
def meter() -> ListedMeter:
    """Return a meter that counts calls."""
    return ListedMeter()
