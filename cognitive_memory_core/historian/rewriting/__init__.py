"""From messages and observations to checked statements: triage, rewriting, attribution and the gate."""
