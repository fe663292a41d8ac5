"""Embedding events and keeping the vector store in step with the ledger."""
