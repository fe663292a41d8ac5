"""Safety of stored text: fences, redaction, and lines that repeat forgotten events."""
