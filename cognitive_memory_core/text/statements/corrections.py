"""Words that mark a correction or change of an earlier statement."""

from __future__ import annotations

import re

_CORRECTION = re.compile(
    "改(?!编|革)|其实|(?<!是)不是(?!不)|不对|更正|已经|取消|推迟|挪|换成|延|现在|不再|[打记说搞]错|作废|恢复|停|不[^，。]{0,4}了"
    "|(?<![a-z])(?:actually|instead|moved|changed|cancel(?:s|l?ed)?|no longer|correction|postponed|not)(?![a-z])",
    re.IGNORECASE,
)


def puts_right(text: str) -> bool:
    """Return whether a text contains a word of correction or change; such a text may still correct nothing."""
    return bool(_CORRECTION.search(text))
