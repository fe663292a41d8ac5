"""Removal of what a model adds to a summary without being asked."""

from __future__ import annotations

from .names_and_quotations import TextMask, quoted
from .patterns import lazy
from .terms import sentences_of

_MOST_OFFERS = 3
_STOP = lazy("(?<=[.] )")
_BOLD = lazy(r"\*\*([^*]{1,200})\*\*")
_HEADING = lazy("^#{1,6} |(?<= )#{2,6} ")
_BULLET = lazy("(?:^| )[-*•·] (?=[^ ])")
_LISTED = lazy("[-*•·] |[^。；]{0,40}[：:] ?[-*•·] ")
_PREFACE = lazy(
    "(?:(?:好的?|当然(?:可以)?|没问题|明白了?|收到|[Ss]ure|[Oo]kay|[Cc]ertainly|[Oo]f course)[，,。！!. ]{1,3})?"
    "(?:(?:以下|下面|这里|这)(?:就?是|为)[^。：:]{0,20}(?:摘要|总结|概括)[^。：:]{0,10}[：:]"
    "|(?:[Hh]ere(?:'s| is)|[Bb]elow is)[^.:：]{0,40}summary[^.:：]{0,20}[：:]"
    "|(?:聊天|对话|群聊|前文)?(?:内容)?(?:(?:摘要|总结|小结)[：:]|摘要[ ；])|[Ss]ummary[：:]) ?"
)
_OFFER = lazy(
    "(?:^|(?<=[。！!.?？ ]))"
    "(?:希望(?:[这以][^。]{0,20})?对[你您][^。]{0,20}(?:帮助|有用)|如(?:果|需|有)[^。！!]{0,30}(?:告诉|告知|联系)我"
    "|[Hh]ope this helps|[Ll]et me know[^.!]{0,60})[。！!.~ ]{0,3}$"
)
_TOLD = lazy(
    "(?:你们?|您)(?:现在|必须|只能|只准|要|得|应|需|将|从|是|不|别|就|都|的)"
    "|(?<![A-Za-z])[Yy]ou (?:are|must|will|should|shall|may|can|have|now)(?![a-z])"
)


def bare_summary(text: str) -> str:
    """Return a one-line summary without Markdown, preface and offers, and without sentences that instruct the reader.

    A sentence with an unquoted 你 ("you") instructs the reader, because a summary refers to people by name.
    """
    plain = _without_marks(text)
    preface = _PREFACE.match(plain)
    said = plain[preface.end() :] if preface else plain
    for _ in range(_MOST_OFFERS):
        said = _OFFER.sub("", said)
    parts = (part for one in sentences_of(said) for part in _STOP.split(one))
    return "".join(part for part in parts if not _is_told(part)).strip().lstrip("；")


def _without_marks(text: str) -> str:
    plain = _HEADING.sub("", _BOLD.sub(r"\1", text)).strip()
    if plain == text and not _LISTED.match(plain):
        return plain
    return _BULLET.sub("；", plain)


def _is_told(sentence: str) -> bool:
    return bool(_TOLD.search(TextMask(len(sentence), quoted(sentence)).blanked(sentence)))
