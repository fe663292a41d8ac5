"""Renders pages, in the language that a browser gets, with the core's sentences translated.

The template engine escapes whatever is filled in, and nothing is marked as safe.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from starlette.datastructures import Headers
from starlette.requests import cookie_parser

import cognitive_memory_core as core

from ..replies import console_en, console_zh
from ..replies.console_core_en import PAIRS
from ..replies.memories import WHOSE, words_beneath

FOLDER = Path(__file__).parent
STATIC = FOLDER / "static"
LANGUAGES: Mapping[str, Mapping[str, str]] = {"zh": console_zh.WORDS, "en": console_en.WORDS}
LANGUAGE_COOKIE = "cognitive_memory_language"
Words = Callable[..., str]
END = "<!--end-->"  # in a template, before the part that is awaited; stored text is escaped and cannot hold it
LONGEST = 1_000  # characters of a sentence that is compared with the templates
_VALUE = re.compile(r"\\{(\w+)\\}")
_ROLE = re.compile(r"(?<=[（(])(?:historian|triage|merge|evolution|embedding|rerank)(?=[）)])")


class Halves:
    """A page whose part above :data:`END` is rendered before the values of the rest are there; blocking."""

    def __init__(self, template: str, values: Mapping[str, object]) -> None:
        """Begin a page with the values of its upper part."""
        wanted = _environment().get_template(template)
        self._context = wanted.new_context(dict(values))
        self._parts = wanted.root_render_func(self._context)

    def above(self) -> str:
        """Render the part above :data:`END`."""
        parts = list[str]()
        while not parts or END not in parts[-1]:
            parts.append(next(self._parts))
        return "".join(parts)

    def below(self, found: Mapping[str, object]) -> str:
        """Render the rest, with the values that its block reads; the template's own macros do not see them."""
        self._context.parent.update(found)
        return "".join(self._parts)


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


def beneath(event: core.Event, zone: tzinfo) -> list[core.Quote]:
    """Return the words on which an event rests, its voice's first; none if its headline says the same."""
    said = sorted(event.quotes, key=lambda quote: quote.sender_id != event.sender_id)
    return said if words_beneath(headline(event), said, zone) else []


def place_key(scope: core.Scope) -> str:
    """Return a place in the form that addresses and forms use, such as "group/10001"."""
    return f"{scope.kind}/{scope.place_id}"


def _in_zone(shown: Callable[[Any, tzinfo], object]) -> Callable[[Context, Any], object]:
    """Return a filter that shows what has an instant in the time zone of the page."""
    return pass_context(lambda context, instant: shown(instant, context["visit"].zone))


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
    environment.filters |= {"hue": hue, "initial": initial, "headline": headline, "key": place_key}
    environment.filters |= {"reported": reported, "attributed": WHOSE.split}
    environment.filters["words_beneath"] = pass_context(
        lambda page, said, quotes: words_beneath(said, quotes, page["visit"].zone)
    )
    for shown in (minute, clock, day, beneath):
        environment.filters[shown.__name__] = _in_zone(shown)
    return environment


def words_for(language: str) -> Words:
    """Return a function that returns the sentence of a key in a language, with its values filled in."""
    words = LANGUAGES[language]

    def sentence(key: str, **values: object) -> str:
        return words[key].format(**values) if values else words[key]

    return sentence


def language_of(headers: Headers) -> str:
    """Return the language that was chosen, else the first known one that the browser asks for, else Chinese."""
    chosen = cookie_parser(headers.get("cookie", "")).get(LANGUAGE_COOKIE, "")
    if chosen in LANGUAGES:
        return chosen
    accepted = (part.partition(";")[0].strip()[:2].lower() for part in headers.get("accept-language", "").split(","))
    return next((language for language in accepted if language in LANGUAGES), "zh")


@dataclass(frozen=True)
class Reported:
    """A sentence of the core as a page shows it; ``is_foreign`` if it is Chinese on a page of another language."""

    text: str
    is_foreign: bool = False


def reported(sentence: str, language: str) -> Reported:
    """Return a sentence of the core in a language, with people's words for a model's role.

    It is marked as foreign if it has no translation.
    """
    english = _in_english(sentence) if language != "zh" and sentence and len(sentence) <= LONGEST else None
    text = _ROLE.sub(lambda role: LANGUAGES[language][f"purpose.{role[0]}"], english or sentence)
    return Reported(text, is_foreign=language != "zh" and bool(sentence) and english is None)


def _in_english(sentence: str) -> str | None:
    for pattern, words in _patterns():
        if match := pattern.fullmatch(sentence):
            values = {name: _in_english(value) or value for name, value in match.groupdict().items()}
            return words.format(**values)
    return None


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    value = r"(?P<\1>[^\\n]{1,200}?)"
    return tuple((re.compile(_VALUE.sub(value, re.escape(chinese))), words) for chinese, words in PAIRS)
