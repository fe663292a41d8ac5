"""Finds the titles of cards that clients send as JSON or XML; "" for a card that cannot be read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

LENGTH = 20_000  # characters of a card that are looked at
_XML_TITLE = re.compile(r"<title\b[^<>]{0,500}>(?:<!\[CDATA\[)?([^<>\]]{1,200})|\bbrief=(\"|')(.{1,200}?)\2")
_TITLE_KEYS = ("title", "name", "nickname")
_SAID_KEYS = ("desc", "summary", "text", "tag")


def json_title(data: object) -> str:
    """Return title and description of a JSON card; without both the text that old clients show instead, else ""."""
    card = _parsed(data)
    for part in _details(card.get("meta")):
        title, said = _first(part, _TITLE_KEYS), _first(part, _SAID_KEYS)
        if title or said:
            return " ".join(dict.fromkeys(filter(None, (title, said))))
    return _first(card, ("prompt", "desc")).removeprefix("[").replace("]", " ", 1)


def xml_title(data: object) -> str:
    """Return the title or the ``brief`` attribute of an XML card, whichever comes first; "" if it has neither."""
    found = _XML_TITLE.search(data[:LENGTH]) if isinstance(data, str) else None
    if not found:
        return ""
    from html import unescape  # noqa: PLC0415  # its table of entities takes long to load

    return unescape(found[1] or found[3])


def _parsed(data: object) -> Mapping[str, Any]:
    if isinstance(data, str) and len(data) <= LENGTH:
        try:
            data = json.loads(data)
        except (ValueError, RecursionError):
            return {}
    return cast("Mapping[str, Any]", data) if isinstance(data, Mapping) else {}


def _details(meta: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(meta, Mapping):
        yield from (part for part in list(meta.values())[:4] if isinstance(part, Mapping))


def _first(fields: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return next((value.strip() for key in keys if isinstance(value := fields.get(key), str) and value.strip()), "")
