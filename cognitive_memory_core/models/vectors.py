"""Converts an embeddings answer to unit vectors; raises BadAnswer for anything doubtful."""

from __future__ import annotations

import binascii
from array import array
from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .. import sentences
from ..errors import BadAnswer
from ..ports.models import Vector
from .json_access import member, place, rows

_LARGEST = float(np.finfo(np.float32).max)
_NOTHING = 1e-30  # norm below which float32 digits determine no direction
_MOST_NUMBERS = 65_536

Numbers = NDArray[np.float64]


def vectors_of(answer: Mapping[str, Any], count: int, length: int) -> list[Vector]:
    """Return ``count`` unit vectors in the order of the inputs, all of one length (``length``, if that is not 0)."""
    found: dict[int, Numbers] = {}
    items = rows(answer.get("data"))
    if len(items) != count:
        raise BadAnswer(sentences.models.TOO_FEW_VECTORS.format(given=len(items), wanted=count))
    for item in items:
        found[place(item, count, found)] = _numbers(member(item, "embedding"))
    ordered = [found[index] for index in range(count)]
    wanted = length or len(ordered[0])
    for numbers in ordered:
        if len(numbers) != wanted:
            raise BadAnswer(sentences.models.WRONG_DIMENSIONS.format(given=len(numbers), wanted=wanted))
    return [_unit(numbers) for numbers in ordered]


def _numbers(written: object) -> Numbers:
    try:
        if isinstance(written, str):
            return np.frombuffer(b64decode(written, validate=True), "<f4").astype(np.float64)
        numbers = cast("Sequence[float]", rows(written))
        if bool in set(map(type, numbers)):  # bool is a subclass of int
            raise BadAnswer(sentences.models.VECTOR_UNUSABLE)
        listed = array("d", numbers)
    except (binascii.Error, ValueError, TypeError, OverflowError):
        raise BadAnswer(sentences.models.VECTOR_UNUSABLE) from None
    return np.frombuffer(listed, np.float64)


def _unit(numbers: Numbers) -> Vector:
    """Scale a vector to length one; raises BadAnswer for NaN, a number too large for float32, or a near-zero vector."""
    if not 0 < len(numbers) <= _MOST_NUMBERS or not np.isfinite(numbers).all() or np.abs(numbers).max() > _LARGEST:
        raise BadAnswer(sentences.models.VECTOR_UNUSABLE)
    norm = float(np.linalg.norm(numbers))
    if norm < _NOTHING:
        raise BadAnswer(sentences.models.VECTOR_UNUSABLE)
    return array("f", (numbers / norm).astype(np.float32).tobytes())
