"""Models behind OpenAI-compatible addresses; importing ``client`` costs half a second and belongs into a thread."""
