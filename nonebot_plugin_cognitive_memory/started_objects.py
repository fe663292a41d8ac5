"""Keeps the garbage collector from going through what a started bot is made of."""

from __future__ import annotations

import gc


def freeze_started_objects() -> None:
    """Exclude everything that was made up to now from later garbage collections, once in a process.

    A bot with its plugins, pydantic and FastAPI holds over 100,000 objects that live until its end. Each full
    collection goes through all of them and blocks the event loop for a tenth of a second. Blocks for one such
    collection.
    """
    if not gc.get_freeze_count():
        gc.collect()
        gc.freeze()
