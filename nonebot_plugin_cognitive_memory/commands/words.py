"""Converts what Alconna leaves of a message to plain text."""

from __future__ import annotations

from collections.abc import Iterable

from nonebot_plugin_alconna import At, Text

from ..wording import TEXT_LENGTH, writable


def words_of(rest: Iterable[object]) -> str:
    """Join texts and mentions; pictures and other parts are left out."""
    return writable(" ".join(map(_word, rest))[:TEXT_LENGTH]).strip()


def _word(part: object) -> str:
    if isinstance(part, At):
        return f"@{part.display or 'QQ'}({part.target})"
    return part.text if isinstance(part, Text) else part if isinstance(part, str) else ""
