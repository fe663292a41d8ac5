"""Where tests of the store put a ledger's file."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a ledger in a new folder."""
    return tmp_path / "ledger.db"
