"""Regular expressions compiled on first use: compiling all of them at import would double the import time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

_NAMED_GROUP = re.compile(r"\(\?P([<=])(\w+)")


def lazy(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return a regular expression that is compiled when it is first used."""
    return cast("re.Pattern[str]", _Lazy(source, flags))


class _Lazy:
    """Has the attributes of a compiled expression; each is looked up there once."""

    def __init__(self, source: str, flags: int) -> None:
        self.pattern = source
        self.flags = flags

    def __getattr__(self, name: str) -> object:
        found: object = getattr(re.compile(self.pattern, self.flags), name)
        setattr(self, name, found)
        return found


def any_of(patterns: Sequence[re.Pattern[str]]) -> re.Pattern[str]:
    """Return a pattern that matches wherever one of the patterns does; their named groups are renamed.

    The patterns must not refer to groups by number.
    """
    renamed = (_NAMED_GROUP.sub(rf"(?P\g<1>\g<2>_{number}", one.pattern) for number, one in enumerate(patterns))
    return lazy("|".join(f"(?:{source})" for source in renamed))
