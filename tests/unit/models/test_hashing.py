"""Tests of the embedder that needs no model."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import pytest

from cognitive_memory_core.models.hashing import HashingEmbedder
from cognitive_memory_core.ports import Vector

EMBEDDED = "阿棠(2000001) likes oolong 🍵，讨厌香菜"
IN_ANOTHER_PROCESS = f"""
import asyncio, hashlib
from cognitive_memory_core.models.hashing import HashingEmbedder
vector = asyncio.run(HashingEmbedder().embed_query({EMBEDDED!r}))
print(hashlib.sha256(",".join(f"{{value:.4f}}" for value in vector).encode()).hexdigest())
"""


def cosine(one: Vector, other: Vector) -> float:
    """Return the dot product of two unit vectors."""
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("text", ["", " ", "！？……", "\u200b", "\ud800"])
async def test_a_text_without_words_has_a_vector(text: str) -> None:
    """A text without words has a fixed vector that is not zero and close to no meaningful text."""
    embedder = HashingEmbedder()
    asked = await embedder.embed_query(text)
    assert list(asked) == list(await embedder.embed_query(""))
    assert sum(asked) == 1.0
    blank, *written = await embedder.embed_documents([text, *(f"第{number}条" for number in range(50))])
    assert cosine(blank, await embedder.embed_query("喜欢什么茶")) == 0.0
    assert {cosine(asked, document) for document in (blank, *written)} == {0.0}


def test_vectors_are_the_same_everywhere() -> None:
    """Another process makes the same vectors."""
    done = {
        subprocess.run(
            [sys.executable, "-c", IN_ANOTHER_PROCESS],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert done == {"f2d0893c8e8a4efc4cd0653bdb6b24e2f74dc0ecd172abdb3cb1b29bb1b92f25"}


async def test_spelling_matters_little() -> None:
    """Width, case, accents and word endings hardly change a vector; numbers with common digits differ."""
    embedder = HashingEmbedder()
    asked = await embedder.embed_query("ＣＡＦＥ deployments")
    same, other = await embedder.embed_documents(["café deployment", "kitchen garden"])
    assert cosine(asked, same) > 0.3 > cosine(asked, other) + 0.2
    number = await embedder.embed_query("2000001")
    assert abs(cosine(number, (await embedder.embed_documents(["2000002"]))[0])) < 0.2
