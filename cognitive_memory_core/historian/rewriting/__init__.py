"""From what was said to checked statements: triage, rewriting, attribution, the gate."""
