"""SQLite: the ledger, its lexical index, and exact search over its vectors."""

from .ledger import SqliteLedger

__all__ = ["SqliteLedger"]
