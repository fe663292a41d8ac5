"""What can be read in a text without knowing the memory, and how texts are cleaned, fenced and redacted; no I/O."""
