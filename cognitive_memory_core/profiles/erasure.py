"""Removes a person or events from the bytes of a profile file of any origin and encoding."""

from __future__ import annotations

from collections.abc import Callable, Collection

from ..disk import decodings
from ..errors import LimitReached, PermanentError
from ..text.names import clean_text
from ..text.safety.redaction import LONG_ID
from .format import Hide, ProfileFile


def without(
    data: bytes, *, read: Callable[[bytes], ProfileFile], user_id: str, hide: Hide, events: Collection[str]
) -> bytes | None:
    """Return a file's content without a person and events: None if it has nothing of them, empty if it must go.

    An unreadable file that mentions the person must go.
    """
    if _is_plain(data) and not _mentions(data, user_id, hide) and not any(one.encode() in data for one in events):
        return None
    try:
        file = read(data)
    except PermanentError:
        return b"" if _mentions(data, user_id, hide) else None
    try:
        rest = file.without(hide, events).written()
        is_silent = not _mentions(data, user_id, hide) and rest == file.written()
    except LimitReached:
        return b""
    return None if is_silent or rest == data else rest


def _is_plain(data: bytes) -> bool:
    """Return whether a file's text can be searched as it is: no escapes, folded lines or invisible characters."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    front = text.partition("\n---")[0]
    return not any(sign in front for sign in ("\\", "\n ", "\n\t")) and clean_text(text) == text


def _mentions(data: bytes, user_id: str, hide: Hide) -> bool:
    """Return whether bytes hold an id or text to be hidden, in any plausible encoding."""
    number = user_id if len(user_id) >= LONG_ID else None
    return any((number and number in text) or hide(text) != text for text in decodings(data))
