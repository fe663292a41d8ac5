"""Chroma's ``where`` as chromadb 1.5.9 evaluates it, small enough to run a hundred thousand times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": lambda value, operand: value > operand,
    "$gte": lambda value, operand: value >= operand,
    "$lt": lambda value, operand: value < operand,
    "$lte": lambda value, operand: value <= operand,
}
_NEGATIONS = {"$ne": "$eq", "$nin": "$in", "$not_contains": "$contains"}  # these also match a missing key


def matches(where: Mapping[str, Any], metadata: Mapping[str, Any]) -> bool:
    """Return whether a row matches; raises ValueError for what Chroma rejects."""
    if len(where) != 1:
        raise ValueError(f"exactly one operator wanted: {where}")
    ((key, wanted),) = where.items()
    if key in ("$and", "$or"):
        if not isinstance(wanted, list) or len(wanted) < 2:
            raise ValueError(f"two clauses at least: {where}")
        answers = [matches(clause, metadata) for clause in wanted]  # each is evaluated, so that each is validated
        return all(answers) if key == "$and" else any(answers)
    return _holds(metadata, key, wanted if isinstance(wanted, Mapping) else {"$eq": wanted})


def _holds(metadata: Mapping[str, Any], key: str, wanted: Mapping[str, Any]) -> bool:
    if key.startswith("$") or not key or len(wanted) != 1:
        raise ValueError(f"one key and one operator wanted: {key} {wanted}")
    ((operator, operand),) = wanted.items()
    _check(operator, operand)
    if operator in _NEGATIONS:
        return not _meets(_NEGATIONS[operator], metadata.get(key), operand)
    return _meets(operator, metadata.get(key), operand)


def _meets(operator: str, value: Any, operand: Any) -> bool:
    if operator in _ORDER:
        return _is_number(value) and _ORDER[operator](value, operand)
    if operator == "$in":
        return any(_same(value, one) for one in operand)
    if operator == "$contains":
        return isinstance(value, list) and any(_same(one, operand) for one in value)
    return _same(value, operand)


def _check(operator: str, operand: Any) -> None:
    if operator in ("$in", "$nin"):
        fits = isinstance(operand, list) and operand and len({type(one) for one in operand}) == 1
        fits = fits and all(_is_scalar(one) for one in operand)
    elif operator in _ORDER:
        fits = _is_number(operand)
    elif operator in ("$eq", "$ne", "$contains", "$not_contains"):
        fits = _is_scalar(operand)
    else:
        fits = False
    if not fits:
        raise ValueError(f"refused: {operator} {operand!r}")


def _same(value: Any, operand: Any) -> bool:
    if _is_number(value) and _is_number(operand):
        return value == operand
    return type(value) is type(operand) and value == operand


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float | bool)
