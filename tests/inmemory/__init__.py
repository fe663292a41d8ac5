"""In-memory adapters of the ports: what contract tests compare the stored ones with, and what unit tests run on."""

from .ledger import InMemoryLedger

__all__ = ["InMemoryLedger"]
