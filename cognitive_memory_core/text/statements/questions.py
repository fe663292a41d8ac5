"""Detection of the sentences of a message that ask, among others that only surround them."""

from __future__ import annotations

import re

_SENTENCE = re.compile(r"[^。！!？?\n]+[。！!？?\n]*")
_ASKED = re.compile(r"[？?]\s*$")


def asked_sentences(text: str) -> list[str]:
    """Return the sentences that end with a question mark; none if there are none, or if all sentences do."""
    sentences = _SENTENCE.findall(text)
    asked = [one for one in sentences if _ASKED.search(one)]
    return asked if len(asked) < len(sentences) else []
