"""Words for oneself, and the speaker in front of a statement."""

from __future__ import annotations

import re

MYSELF = frozenset(("我", "俺", "本人", "i", "me", "my", "mine", "myself"))
_CLOCK = "[0-9]{1,2}[:：][0-9]{2}"
_WHEN = (  # the form that our own prompts ask for, and its English one
    f"(?:[ 在于]{{0,2}}(?:[0-9]{{4}}年)?[0-9]{{1,2}}月(?:[0-9]{{1,2}}[日号])?(?:[ ，,]{{0,2}}{_CLOCK})?"
    f"|(?: on)? [a-z]{{3,9}} [0-9]{{1,2}}, [0-9]{{4}}(?:,?(?: at)? {_CLOCK})?,?"
    f"|[ 在于]{{0,2}}[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?: {_CLOCK})?)?"
)
_SAID = re.compile(f"{_WHEN} ?(?:说(?![唱书明话服])|表示|提到|says?|said)(?: that)?[：:，, ]*", re.IGNORECASE)
_BEFORE_A_NAME = re.compile("[^，。！？!?；;：()（）]{0,64}")
_LABEL = r"[^\n：，。；“”()]{1,48}\([^()\s]{1,128}\)(?:〔[^〕]*〕)?"
_SPEAKER = re.compile(rf"^{_LABEL}(?:、{_LABEL})*(?:：(?=“)| 说：)")


def without_speaker(text: str) -> str:
    """Remove the speakers in front of a statement, name(id)：“…” or name(id) 说：…."""
    return _SPEAKER.sub("", text, count=1)


def unsaid(text: str, user_id: str) -> str:
    """Remove "this person said", and a date in it, before a statement: "A(1) 2026年3月5日 说：X" becomes X."""
    for label in _labels(user_id):
        at = text.find(label)
        said = _SAID.match(text, at + len(label)) if at >= 0 and _BEFORE_A_NAME.fullmatch(text, 0, at) else None
        if said:
            told = text[said.end() :]
            return f"{text[: said.start()]}{told}" if told.startswith("自己") else told
    return text


def _labels(user_id: str) -> tuple[str, str]:
    return f"({user_id})", f"（{user_id}）"
