"""The message log's write-behind buffer and its pruning."""
