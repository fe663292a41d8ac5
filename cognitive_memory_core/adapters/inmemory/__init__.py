"""In-memory adapters, for tests and for a memory that is switched off."""

from .ledger import InMemoryLedger

__all__ = ["InMemoryLedger"]
