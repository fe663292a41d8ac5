"""Builds the models of an open memory: chat, embedding, reranking."""
