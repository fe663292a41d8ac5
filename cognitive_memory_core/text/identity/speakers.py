"""The speaker of a plain line that begins with a name."""

from __future__ import annotations

import re
from collections.abc import Callable

from ... import sentences

_LABELLED = re.compile(r"\s*(?:\[[^\]\n]{0,64}\]\s*)?([^:：\n]{1,200})[:：]")  # a time in brackets may stand before


def is_said_by_hidden(line: str, hide: Callable[[str], str]) -> bool:
    """Return whether a line like ``[10:32] name(id): text`` is labelled with a person whom ``hide`` hides."""
    match = _LABELLED.match(line)
    if match is None:
        return False
    label = match[1].strip()
    return label != sentences.stored_text.SOMEBODY and hide(label) == sentences.stored_text.SOMEBODY
