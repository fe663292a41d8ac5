"""Plain files: the job queue, the lock on the data directory, profiles, prompt templates and the copy of memos."""
