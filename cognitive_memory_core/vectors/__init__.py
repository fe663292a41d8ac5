"""Embeds events and keeps the vector store equal to the ledger."""
