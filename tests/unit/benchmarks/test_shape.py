"""Tests of the shape of the code: what counts as a line of code, as a function's length and as a call."""

from __future__ import annotations

import asyncio
import threading

from benchmarks import shape
from cognitive_memory_core.tasks import together
from cognitive_memory_core.text.terms import token_count

CODE = '''"""A module."""

import ast

# a comment
@dataclass
class Pair(Protocol):
    """A pair."""

    def both(
        self,
    ) -> str:
        """Return both.

        At length.
        """
        return """one
        two"""
'''


def test_docstrings_comments_imports_and_blank_lines_are_no_code() -> None:
    """A decorator, a class, a signature and its body count; docstrings, comments, imports and blank lines do not."""
    counted = shape.Shape()
    counted.add(CODE)
    assert (counted.lines, counted.lengths) == (7, [5])
    assert (counted.classes, counted.protocols, counted.dataclasses) == (1, 1, 1)


async def test_a_call_is_counted_once_in_whatever_thread_it_runs() -> None:
    """A coroutine that waits twice is one call, and so is what another thread calls; other code is none."""
    seen: list[tuple[str, tuple[int, int, int]]] = []
    tracer = shape.Tracer()
    with tracer.watching(), tracer.counting("both", seen):
        assert await together(asyncio.sleep(0, 1), asyncio.sleep(0.001, 2)) == [1, 2]
        thread = threading.Thread(target=token_count, args=("",))
        thread.start()
        thread.join()
    assert seen == [("both", (2, 2, 2))]
