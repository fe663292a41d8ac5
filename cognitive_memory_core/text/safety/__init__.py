"""Keeping stored text harmless: fences, redaction, the bot's own recitals."""
