"""Connections, transactions, schema and row conversion."""
