"""The record types of the ledger, one table family per file."""
