"""Models behind OpenAI-compatible addresses. Importing ``client`` takes half a second: import it in a thread."""
