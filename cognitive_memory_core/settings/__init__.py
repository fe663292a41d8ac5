"""Settings: their names and limits, where they are written, and which of them change while the memory is open."""
