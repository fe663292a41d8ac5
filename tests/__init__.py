"""The test suite, started completely by ``python -m tests``."""
