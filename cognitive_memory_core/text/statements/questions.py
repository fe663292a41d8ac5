"""Detection of sentences that ask a question, if other sentences surround them, and of questions of what is allowed."""

from __future__ import annotations

import re

_SENTENCE = re.compile(r"[^。！!？?\n]+[。！!？?\n]*")
_ASKED = re.compile(r"[？?]\s*$")
_ASKS_LEAVE = re.compile(
    "能不能|可不可以|可否|准不准|许不许|让不让|行不行|允许|(?:能|可以|准|让|许)[^，。,.]{1,24}[吗嘛么]"
    "|(?<![a-z])(?:can|may|could|should) (?:i|we|you)(?![a-z])|allowed",
    re.IGNORECASE,
)


def asked_sentences(text: str) -> list[str]:
    """Return the sentences of a text that end with a question mark; [] if none or all of them do."""
    sentences = _SENTENCE.findall(text)
    asked = [one for one in sentences if _ASKED.search(one)]
    return asked if len(asked) < len(sentences) else []


def asks_leave(text: str) -> bool:
    """Return whether a text asks what is allowed."""
    return bool(_ASKS_LEAVE.search(text))
