"""Plain files: the queue, the owner of the directory, the second copy of memos."""
