"""Arguments of a tool call, as models write them: read tolerantly, bounded first, refused in a clear sentence."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import cast

from . import replies
from .wording import writable

JSON_LENGTH = 64 * 1024
REPAIRABLE_LENGTH = 4 * 1024  # mending takes seconds where text is long, nested and broken
REPAIRABLE_BRACKETS = 16  # the arguments are flat
TEXT_LENGTH = 4_000
ITEMS = 50
MOST = 50
_TRUE = frozenset({"true", "1", "yes", "y", "on"})
_NOTHING = frozenset({"null", "none", "nil", "undefined", "n/a", *replies.NOTHING_WORDS})
_LABEL = re.compile(r"[^()（）]{0,128}[(（]([^()（）]{1,128})[)）]")  # name(id)


class BadToolArgument(Exception):
    """An argument that cannot be understood; the message is for the model."""


class Arguments:
    """One call's arguments by name. Blank and missing are the same."""

    def __init__(self, values: Mapping[str, object]) -> None:
        """Hold what the model wrote."""
        self._values = values

    @classmethod
    async def read(cls, written: object, *, repair: bool) -> Arguments:
        """Read arguments from a mapping or from JSON text; broken text is mended only where ``repair`` allows it."""
        if isinstance(written, Mapping):
            return cls(cast("Mapping[str, object]", written))
        if written is None or written == []:
            return cls({})
        if not isinstance(written, str):
            raise BadToolArgument(replies.arguments_are_no_object())
        if len(written) > JSON_LENGTH:
            raise BadToolArgument(replies.arguments_too_long(JSON_LENGTH))
        return cls(await _object(written, repair=repair) if written.strip() else {})

    def text(self, name: str) -> str:
        """Return a text, "" where there is none; a number is text too."""
        return _text(self._values.get(name), name)

    def wish(self, name: str) -> str:
        """Return a text that may be left out, "" also for the words with which models say that they leave it out."""
        return _meant(self.text(name))

    def needed(self, name: str) -> str:
        """Return a text that must be there."""
        text = self.text(name)
        if not text:
            raise BadToolArgument(replies.argument_missing(name))
        return text

    def texts(self, name: str) -> list[str]:
        """Return a list of texts; one text is a list of one, unless it is a list that was written out as text."""
        value = _listed(self._values.get(name))
        try:
            found = [_text(item, name) for item in value[:ITEMS]]
        except BadToolArgument as strange:
            raise BadToolArgument(replies.argument_is_no_list(name)) from strange
        return [text for text in found if _meant(text)]

    def identifier(self, name: str) -> str | None:
        """Return an id, alone or out of name(id), as people are shown to a model; None where there is none."""
        value = self._values.get(name)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        text = _meant(_text(value, name))
        return (labelled[1].strip() if (labelled := _LABEL.fullmatch(text)) else text) or None

    def needed_identifier(self, name: str) -> str:
        """Return an id that must be there."""
        identifier = self.identifier(name)
        if identifier is None:
            raise BadToolArgument(replies.argument_missing(name))
        return identifier

    def flag(self, name: str) -> bool:
        """Return a truth value; everything that does not say yes says no."""
        value = self._values.get(name)
        return value == 1 or (isinstance(value, str) and value.strip().lower() in _TRUE)

    def count(self, name: str) -> int | None:
        """Return a number from 1 to ``MOST``, or None for everything that is no such wish."""
        value = self._values.get(name)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return None
        try:
            number = float(value)
        except (ValueError, OverflowError):
            return None
        return int(min(number, MOST)) if number >= 1 else None


def _meant(text: str) -> str:
    return "" if text.lower() in _NOTHING else text


def _listed(value: object) -> Sequence[object]:
    """Return a list as it stands, or out of the text that it was written as; what is none is a list of one."""
    if isinstance(value, str) and value.lstrip().startswith("[") and len(value) <= JSON_LENGTH:
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    return cast("Sequence[object]", value) if isinstance(value, list | tuple) else (value,)


def _text(value: object, name: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise BadToolArgument(replies.argument_is_no_text(name))
    try:
        return writable(str(value)[:TEXT_LENGTH]).strip()
    except ValueError as endless:  # Python writes out no number of more than 4,300 digits
        raise BadToolArgument(replies.argument_is_no_text(name)) from endless


async def _object(written: str, *, repair: bool) -> Mapping[str, object]:
    try:
        value = _loaded(written)
    except (ValueError, RecursionError) as broken:
        if not repair or not _is_repairable(written):
            raise BadToolArgument(replies.arguments_are_broken()) from broken
        value = await asyncio.to_thread(_repaired, written)
    if value is None or value == []:
        return {}
    if not isinstance(value, dict):
        raise BadToolArgument(replies.arguments_are_no_object())
    return cast("Mapping[str, object]", value)


def _loaded(written: str) -> object:
    value = json.loads(written)
    return json.loads(value) if isinstance(value, str) and value else value  # some models write it twice over


def _is_repairable(written: str) -> bool:
    return len(written) <= REPAIRABLE_LENGTH and written.count("[") + written.count("{") <= REPAIRABLE_BRACKETS


def _repaired(written: str) -> object:
    from json_repair import repair_json  # noqa: PLC0415  # costs the bot's start nothing, and runs in a thread

    try:
        return repair_json(written, return_objects=True)
    except (ValueError, RecursionError) as broken:
        raise BadToolArgument(replies.arguments_are_broken()) from broken
