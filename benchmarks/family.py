"""Resident memory of a process and its children."""

from __future__ import annotations

from contextlib import suppress

import psutil

MB = 1024 * 1024


def resident(process: psutil.Process) -> float:
    """Return one process's resident memory in MB; 0 if it is gone."""
    with suppress(psutil.Error):
        return process.memory_info().rss / MB
    return 0.0


def children_resident() -> float:
    """Return the resident memory in MB of all children of this process."""
    return sum(map(resident, psutil.Process().children(recursive=True)))
