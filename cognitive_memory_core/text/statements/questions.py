"""Detection of the sentences of a message that ask a question, if other sentences surround them."""

from __future__ import annotations

import re

_SENTENCE = re.compile(r"[^。！!？?\n]+[。！!？?\n]*")
_ASKED = re.compile(r"[？?]\s*$")


def asked_sentences(text: str) -> list[str]:
    """Return the sentences of a text that end with a question mark; [] if none or all of them do."""
    sentences = _SENTENCE.findall(text)
    asked = [one for one in sentences if _ASKED.search(one)]
    return asked if len(asked) < len(sentences) else []
