"""SQLite: the ledger, its lexical index, and exact search over its vectors."""
