"""What the tests of every model client start from."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.support.meters import ListedMeter
from tests.support.model_server import ModelServer


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    """Run a model server."""
    async with ModelServer() as running:
        yield running


@pytest.fixture
def meter() -> ListedMeter:
    """Count calls."""
    return ListedMeter()
