"""The read path: from a question to the memories that matter."""
