"""Makes glibc return large freed blocks to the system; by default it would keep them for reuse."""

from __future__ import annotations

import ctypes
from contextlib import suppress

LARGE = 1024 * 1024  # bytes; glibc's own bound rises to 32 MB with the first large block that is freed
HEAPS = 2  # for all threads together: each heap keeps what any thread ever freed in it
_MMAP_THRESHOLD, _ARENA_MAX = -3, -8  # mallopt's numbers in malloc.h


def return_large_blocks() -> None:
    """From now on, allocate each block of a megabyte or more in its own memory mapping; no effect without glibc.

    Vectors and postings are copied as they grow: without this the process would keep the memory of the largest copies.
    """
    with suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None)
        libc.gnu_get_libc_version  # noqa: B018  # other libraries number their options otherwise
        libc.mallopt(_MMAP_THRESHOLD, LARGE)
        libc.mallopt(_ARENA_MAX, HEAPS)
