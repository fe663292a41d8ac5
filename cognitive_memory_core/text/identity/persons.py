"""Attribution of statements: first-person words, and words that introduce reported speech."""

from __future__ import annotations

import re
from collections.abc import Iterable

MYSELF = frozenset(("我", "俺", "本人", "i", "me", "my", "mine", "myself"))
_CLOCK = "[0-9]{1,2}[:：][0-9]{2}"
_WHEN = (  # the form that our own prompts ask for, and its English one
    f"(?:[ 在于]{{0,2}}(?:[0-9]{{4}}年)?[0-9]{{1,2}}月(?:[0-9]{{1,2}}[日号])?(?:[ ，,]{{0,2}}{_CLOCK})?"
    f"|(?: on)? [a-z]{{3,9}} [0-9]{{1,2}}, [0-9]{{4}}(?:,?(?: at)? {_CLOCK})?,?"
    f"|[ 在于]{{0,2}}[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?: {_CLOCK})?)?"
)
_GAP = "(?:[^，,。！!？?；;:：()（）]|(?<=[0-9])[:：](?=[0-9])){0,16}?"
_RULES = "(?:条|个|新|一条|一个|几条|死)?(?:群规|家规|规[矩则定])"
_SAYS = re.compile(
    f"{_WHEN}{_GAP}(?:(?<![小传学游])说(?![唱书明话])|[宣声]?称(?!为)|表示|认为|觉得|以为|怀疑|提[到及议]|透露|爆料|指[出责控]|告诉|转述|转告"
    "|转[发贴帖](?!给)|引用|复述|重申|强调|要求(?![高严低])|宣布|通知|建议|规定|(?<![疑学访顾慰])问(?![题卷世候])"
    f"|[定立]下?了?{_RULES}|听[^，,。！!？?；;:：]{{1,80}}?[说讲提](?![话课座])"
    "|(?<![a-z])(?:sa(?:ys|id)|claim(?:s|ed)|think(?:s|ing)?|thought|believe[sd]?|t(?:ells?|old)|report(?:s|ed)|ask(?:s|ed)"
    "|announce[sd]|forward(?:s|ed)|heard|suggest(?:s|ed)|demand(?:s|ed))(?![a-z]))",
    re.IGNORECASE,
)

_SAID = re.compile(f"{_WHEN} ?(?:说(?![唱书明话服])|表示|提到|says?|said)(?: that)?[：:，, ]*", re.IGNORECASE)
_BEFORE_A_NAME = re.compile("[^，。！？!?；;：()（）]{0,64}")


_OTHERS = re.compile(
    "(?<![其吉维利排])(?:他(?![乡日山人杀律迷])|她)|(?<![a-z'])(?:he|she|they|him|them|his|hers?|theirs?)(?![a-z])",
    re.IGNORECASE,
)
_OWN = re.compile(
    "我|俺|咱|本人|自己|老子|老娘|(?<![a-z'])(?:i|me|my|mine|myself|we|us|our|ours|ourselves)(?![a-z])", re.IGNORECASE
)

_VOICE = re.compile(
    r"(?![听据])[^\s：:“”()（）]{1,48}[(（]([0-9A-Za-z_-]{1,128})[)）](?:〔[^〕]*〕)? ?(?:说|表示)?[：:]"
)
_LABEL = r"[^\n：，。；“”()]{1,48}\([^()\s]{1,128}\)(?:〔[^〕]*〕)?"
_SPEAKER = re.compile(rf"^{_LABEL}(?:、{_LABEL})*(?:：(?=“)| 说：)")


def without_speaker(text: str) -> str:
    """Remove the speakers in front of a statement, name(id)：“…” or name(id) 说：…."""
    return _SPEAKER.sub("", text, count=1)


def opening_voice(text: str) -> str:
    """Return the id of the person whose words a text begins to quote, as name(id)：… or name(id) 说：…; else ""."""
    voice = _VOICE.match(text)
    return voice[1] if voice else ""


def reports(text: str, user_id: str) -> bool:
    """Return whether a text says that the person with this id tells something: "A(1) 说 …".

    Forwarded statements, requests and announcements count, too.
    """
    return any(_SAYS.match(text, text.find(label) + len(label)) for label in _labels(user_id) if label in text)


def unsaid(text: str, user_id: str) -> str:
    """Remove "this person said", and a date in it, before a statement: "A(1) 2026年3月5日 说：X" becomes X."""
    for label in _labels(user_id):
        at = text.find(label)
        said = _SAID.match(text, at + len(label)) if at >= 0 and _BEFORE_A_NAME.fullmatch(text, 0, at) else None
        if said:
            told = text[said.end() :]
            return f"{text[: said.start()]}{told}" if told.startswith("自己") else told
    return text


def speaks_of_others(text: str) -> bool:
    """Return whether a line has a third-person pronoun and no first-person word."""
    return bool(_OTHERS.search(text)) and not _OWN.search(text)


def leads(text: str, user_id: str, known: Iterable[str]) -> bool:
    """Return whether the id of this person is the first of the ``known`` ids that a text contains as ``name(id)``."""
    places = {one: min((text.find(label) for label in _labels(one) if label in text), default=-1) for one in known}
    first = min((at for at in places.values() if at >= 0), default=-1)
    return first >= 0 and places.get(user_id) == first


def _labels(user_id: str) -> tuple[str, str]:
    return f"({user_id})", f"（{user_id}）"
