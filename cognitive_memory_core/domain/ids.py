"""Ids as the memory takes them, and ids that are derived from something."""

from __future__ import annotations

import hashlib
import re
import unicodedata

from .. import sentences
from ..errors import BadArgument

ID_LENGTH = 128
_PLAIN = re.compile(f"[!-~]{{1,{ID_LENGTH}}}")  # as nearly all ids are; found without a look at each character
_SAFE_COMPONENT = re.compile(r"[0-9][0-9a-z_-]{0,63}")


def checked_id(value: object, what: str) -> str:
    """Return the id if it is 1 to 128 characters of text without control characters; raise BadArgument otherwise."""
    if isinstance(value, str):
        controls = (char for char in value if unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"})
        if _PLAIN.fullmatch(value) or (0 < len(value) <= ID_LENGTH and not any(controls)):
            return value
    raise BadArgument(sentences.caller.BAD_ID.format(what=what, value=value))


def checked_text(value: object, what: str) -> str:
    """Return the value if it is a ``str``; raise BadArgument otherwise."""
    if not isinstance(value, str):
        raise BadArgument(sentences.caller.bad_value(what, value, "文本"))
    return value


def path_component(identifier: str) -> str:
    """Return the file or folder name of an id: the id itself if every file system accepts it, else a hash of it."""
    if _SAFE_COMPONENT.fullmatch(identifier):
        return identifier
    return "x-" + hashlib.sha256(identifier.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def derived_id(*parts: object) -> str:
    """Return a 128-bit id derived from the parts; equal parts give equal ids, which makes writes idempotent."""
    joined = "\x1f".join(str(part) for part in parts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:32]
