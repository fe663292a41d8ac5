"""The nouns of the ledger, one table family a file."""
