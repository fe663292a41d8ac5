"""Words: times, terms, offences, tokens, names. Pure functions, needed by gate, recall and adapters alike."""
