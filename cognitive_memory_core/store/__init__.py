"""The ledger: one SQLite file that is the source of truth, and the searches over it."""
