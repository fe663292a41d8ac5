"""From an accepted turn to committed events: admission, intake, the worker and its pipeline."""
