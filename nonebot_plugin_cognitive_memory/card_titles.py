"""Titles of the cards that clients send as JSON, XML or Markdown; what cannot be read has none."""

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
    """Return what a JSON card is about: its title and description, else the text shown where it cannot be."""
    card = _parsed(data)
    for part in _details(card.get("meta")):
        title, said = _first(part, _TITLE_KEYS), _first(part, _SAID_KEYS)
        if title or said:
            return " ".join(dict.fromkeys(filter(None, (title, said))))
    return _first(card, ("prompt", "desc")).removeprefix("[").replace("]", " ", 1)


def xml_title(data: object) -> str:
    """Return the title of an XML card, else its brief."""
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
