"""Tests that large freed memory blocks return to the system."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import psutil
from cognitive_memory_core.store.malloc_tuning import return_large_blocks
return_large_blocks()
blocks = [bytearray(20_000_000)]  # glibc would take blocks up to this size from its heap from now on
blocks.clear()
blocks = [bytearray(b"1") * 2_000_000 for _ in range(40)]
before = psutil.Process().memory_info().rss
del blocks[:-1]  # the last one stays, and with it all that a heap holds before it
print((before - psutil.Process().memory_info().rss) // 1_000_000)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other libraries give blocks back by themselves")
def test_freed_blocks_of_a_megabyte_go_back() -> None:
    """Freed memory beside a used block is returned to the system."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert int(done.stdout) > 70
