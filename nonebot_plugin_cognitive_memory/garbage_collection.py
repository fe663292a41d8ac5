"""Excludes the objects of a started bot from garbage collections."""

from __future__ import annotations

import gc


def freeze_started_objects() -> None:
    """Exclude all objects that exist now from later garbage collections; only the first call in a process does so.

    A bot with its plugins, pydantic and FastAPI holds over 100,000 objects that live until its end. Each full
    collection visits all of them and blocks the event loop for a tenth of a second; so does this call, once.
    """
    if not gc.get_freeze_count():
        gc.collect()
        gc.freeze()
