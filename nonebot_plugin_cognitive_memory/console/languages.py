"""The languages of the pages, and which of them a browser gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from starlette.datastructures import Headers
from starlette.requests import cookie_parser

from ..replies import console_en, console_zh

LANGUAGES: Mapping[str, Mapping[str, str]] = {"zh": console_zh.WORDS, "en": console_en.WORDS}
COOKIE = "cognitive_memory_language"
Words = Callable[..., str]


def words_for(language: str) -> Words:
    """Return a function that returns the sentence of a key in a language, with its values filled in."""
    words = LANGUAGES[language]

    def sentence(key: str, **values: object) -> str:
        return words[key].format(**values) if values else words[key]

    return sentence


def language_of(headers: Headers) -> str:
    """Return the language that was chosen, else the first known one that the browser asks for, else Chinese."""
    chosen = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
    if chosen in LANGUAGES:
        return chosen
    accepted = (part.partition(";")[0].strip()[:2].lower() for part in headers.get("accept-language", "").split(","))
    return next((language for language in accepted if language in LANGUAGES), "zh")
