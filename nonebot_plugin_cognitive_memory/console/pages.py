"""Renders pages. The template engine escapes whatever is filled in, and nothing is marked as safe."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, tzinfo
from functools import cache
from pathlib import Path
from zlib import crc32

from jinja2 import Environment, FileSystemLoader, StrictUndefined

import cognitive_memory_core as core

from .core_words import reported

FOLDER = Path(__file__).parent
STATIC = FOLDER / "static"


def rendered(template: str, values: Mapping[str, object]) -> str:
    """Render a template; blocking."""
    return _environment().get_template(template).render(values)


def minute(instant: datetime | None, zone: tzinfo) -> str:
    """Return an instant to the minute, as local time of a zone; "" for None."""
    if instant is None:
        return ""
    try:
        return f"{instant.astimezone(zone):%Y-%m-%d %H:%M}"
    except (OverflowError, ValueError):
        return str(instant)


def clock(instant: datetime, zone: tzinfo) -> str:
    """Return the local time of day of an instant."""
    return minute(instant, zone)[-5:]


def day(instant: datetime | None, zone: tzinfo) -> str:
    """Return the local day of an instant; "" for None."""
    return minute(instant, zone)[:10]


def hue(name: str) -> int:
    """Return which of the eight accents an id has."""
    return crc32(name.encode("utf-8", "replace")) % 8


def initial(name: str) -> str:
    """Return the sign that stands for a name."""
    return next((sign.upper() for sign in name if sign.isalnum()), "?")


def headline(event: core.Event) -> str:
    """Return what is shown of an event in a line: its text, or what its voice said if the text is only the quotes."""
    own = [quote.text for quote in event.quotes if quote.sender_id == event.sender_id]
    return "\n".join(own) if own and "：“" in event.text else event.text


def place_key(scope: core.Scope) -> str:
    """Return a place in the form that addresses and forms use, such as "group/10001"."""
    return f"{scope.kind}/{scope.place_id}"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"minute": minute, "clock": clock, "day": day, "hue": hue, "initial": initial}
    environment.filters |= {"headline": headline, "key": place_key, "reported": reported}
    return environment
