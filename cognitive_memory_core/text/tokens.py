"""What a text costs a model, and where it may be cut."""

from __future__ import annotations

import re

_SENTENCE = re.compile(r"[^。！？!?\r\n]*(?:[。！？!?]+[”’」』】）)\"']*|\r\n|[\r\n]|$)")


def token_count(text: str) -> int:
    """Estimate the tokens of a text."""
    wide = len(text) - len(text.encode("ascii", "ignore"))
    return wide + (len(text) - wide + 2) // 3


def sentences_of(text: str) -> list[str]:
    """Split a text after 。！？!? and at line ends; joined together the parts are the text again."""
    return [part for part in _SENTENCE.findall(text) if part]
