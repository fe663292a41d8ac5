"""Whose mouth a text is: words by which somebody means themselves, and by which somebody reports."""

from __future__ import annotations

import re

MYSELF = frozenset(("我", "俺", "本人", "i", "me", "my", "mine", "myself"))
_GAP = "[^，,。！!？?；;:：()（）]{0,16}?"
_SAYS = re.compile(
    f"{_GAP}(?:说(?!唱|书|明)|[宣声]?称(?!为)|表示|认为|觉得|以为|怀疑|提[到及]|透露|爆料|指[出责控]|转述|转告|告诉"
    "|(?<![a-z])(?:sa(?:ys|id)|claim(?:s|ed)|think(?:s|ing)?|thought|believe[sd]?|t(?:ells?|old)|report(?:s|ed))(?![a-z]))",
    re.IGNORECASE,
)


def reports(text: str, user_id: str) -> bool:
    """Tell whether a text begins a report of what somebody, written with their id, says of others: "A(1) 说 …"."""
    labels = (f"({user_id})", f"（{user_id}）")
    ends = (text.find(label) + len(label) for label in labels if label in text)
    return any(_SAYS.match(text, end) for end in ends)
