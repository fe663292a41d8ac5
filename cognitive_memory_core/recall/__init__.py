"""The read path: from a query to the relevant memories."""
