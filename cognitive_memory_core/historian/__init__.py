"""The write path: from accepted jobs to stored events."""
