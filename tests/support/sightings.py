"""A name observer for tests that show names."""

from __future__ import annotations

from typing import Any

from cognitive_memory_core.historian.name_observer import NameObserver
from tests.support.ledgers import Ledger
from tests.support.profiles import TemporaryProfiles

from .clock import FrozenClock


def sightings_of(ledger: Ledger, names: Any = None) -> NameObserver:
    """Return an observer over a ledger or the given book; nobody has a profile to rename."""
    profiles = TemporaryProfiles(5, FrozenClock())
    return NameObserver(names or ledger.names, profiles, ledger.profiles, FrozenClock())
