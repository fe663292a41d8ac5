"""Text analysis: times, terms, offences, tokens, names. Pure functions, used by gate, retrieval and adapters."""
