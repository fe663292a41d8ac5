"""Connections, transactions, schema and the form of rows."""
