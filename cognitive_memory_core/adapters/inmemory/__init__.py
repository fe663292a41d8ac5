"""Memory that ends with the process: shipped, for tests and for a memory that is switched off."""

from .ledger import InMemoryLedger

__all__ = ["InMemoryLedger"]
