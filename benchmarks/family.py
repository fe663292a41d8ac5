"""Memory and processor time of a process and its children, and which of them run Chroma."""

from __future__ import annotations

from contextlib import suppress

import psutil

MB = 1024 * 1024


def resident(process: psutil.Process) -> float:
    """Return one process's resident memory in MB; 0 if it is gone."""
    with suppress(psutil.Error):
        return process.memory_info().rss / MB
    return 0.0


def children_resident(pid: int | None = None) -> float:
    """Return the resident memory in MB of all children of a process (default: this one)."""
    return sum(resident(child) for child in _children(pid))


def chroma_children(pid: int | None = None) -> list[psutil.Process]:
    """Return the children of a process that run Chroma."""
    return [child for child in _children(pid) if "chroma" in " ".join(_command(child))]


def chroma_worked(pid: int | None = None) -> float:
    """Return the processor time in seconds that the Chroma children have used."""
    return sum(_worked(child) for child in chroma_children(pid))


def _children(pid: int | None) -> list[psutil.Process]:
    with suppress(psutil.Error):
        return psutil.Process(pid).children(recursive=True)
    return []


def _command(process: psutil.Process) -> list[str]:
    with suppress(psutil.Error):
        return process.cmdline()
    return []


def _worked(process: psutil.Process) -> float:
    with suppress(psutil.Error):
        times = process.cpu_times()
        return times.user + times.system
    return 0.0
