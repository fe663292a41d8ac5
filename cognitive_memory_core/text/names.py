"""Names and other texts cleaned for display: one line, no hidden characters, no brackets in a name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from .. import sentences
from ..domain.profile import Profile
from ..domain.turn import shortened
from ..errors import CognitiveMemoryError
from .caches import cleared_on_erasure
from .characters import CharacterTable

NAME_LENGTH = 40
_NAME_READ = 1_000  # characters of a longer name that are read
_MOST_MARKS = 3  # accents on one letter; no living script needs more
_ERROR_LENGTH = 300
_PLACEHOLDERS = frozenset(
    [
        "用户",
        "qq用户",
        "匿名",
        "匿名用户",
        "未知",
        "未知用户",
        "unknown",
        "anonymous",
        "null",
        "none",
        "nil",
        "undefined",
    ]
)
_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
_USUAL = re.compile("[\n\t -~\u3001\u3002\u3008-\u3011\u4e00-\u9fa5\uff01-\uff5e]*")  # nothing in it is changed
_BLANKS = "\u115f\u1160\u3164\uffa0\u2800"  # letters and symbols that show nothing, worn as invisible names
_JOINER = "\u200d"
_UNSEEN_MARKS = frozenset("\u034f\u17b4\u17b5\u180b\u180c\u180d\u180f")
_EMOJI = "\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_STRAY_STYLE = re.compile(f"(?<![{_EMOJI}0-9#*\u00a9\u00ae\u203c\u2049\u2122\u2139])\ufe0f")
_STRAY_JOINER = re.compile(f"(?<![{_EMOJI}\ufe0f]){_JOINER}|{_JOINER}(?![{_EMOJI}])")
_OPENING = "(❨❪⦅⟮⸨﴿"
_CLOSING = ")❩❫⦆⟯⸩﴾"


@cleared_on_erasure
@lru_cache(maxsize=5_000)  # the same people speak again and again
def clean_name(name: str, *, limit: int = NAME_LENGTH) -> str:
    """Return the name of a person or group for display: one line of at most ``limit`` characters, or "".

    A user may choose a name to pass as somebody else, and people are written ``name(id)`` everywhere. Therefore a name
    never contains line breaks, direction or hidden characters, or round brackets: brackets of every width become
    〔 and 〕, and "12345(管理员)" cannot be taken for the label of 12345. Placeholders that clients send
    ("QQ用户", "null") yield "".
    """
    line = one_line(name[:_NAME_READ].translate(_BRACKETS))
    line = line[: max(limit, 0)].strip().rstrip(_JOINER)
    start = next((index for index, char in enumerate(line) if unicodedata.category(char)[0] != "M"), len(line))
    line = line[start:].strip()  # an accent at the beginning would combine with the text before it
    return "" if line.casefold() in _PLACEHOLDERS else line


def one_line(text: str, limit: int | None = None) -> str:
    """Clean a text and put it on one line; over ``limit`` characters it is cut and ends in "…"."""
    line = " ".join(clean_text(text).translate(_SPACED).split())
    return line if limit is None else shortened(line, limit)


def clean_text(text: str) -> str:
    r"""Remove non-text: control, format, private and unassigned characters, lone surrogates, excess accents.

    Line ends of every kind become \n; \n, \t and the joiners inside emoji stay. The result is in NFC.
    """
    if _USUAL.fullmatch(text):
        return text
    text = unicodedata.normalize("NFC", _LINE_END.sub("\n", text)).translate(_TEXT)
    text = _STRAY_JOINER.sub("", _STRAY_STYLE.sub("", text))
    if marks := "".join(char for char in set(text) if unicodedata.category(char)[0] == "M"):
        text = re.sub(f"([{marks}]{{{_MOST_MARKS}}})[{marks}]+", r"\1", text)
    return unicodedata.normalize("NFC", text)


def writable_text(text: str) -> str:
    """Join surrogate pairs and replace lone surrogates."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _shown(char: str) -> str:
    """Return a character, or "" if it is not text."""
    if char in ("\n", "\t", _JOINER):
        return char
    is_unseen = unicodedata.category(char)[0] == "C" or char in _UNSEEN_MARKS
    is_variation = "\ufe00" <= char <= "\ufe0e" or "\U000e0100" <= char <= "\U000e01ef"
    return "" if is_unseen or is_variation else char


def _unbracketed(char: str) -> str:
    """Return a character with round brackets, also those inside one such as ⑴, replaced by 〔 and 〕."""
    plain = unicodedata.normalize("NFKC", char)
    if not any(bracket in plain for bracket in _OPENING + _CLOSING):
        return char
    return "".join("〔" if part in _OPENING else "〕" if part in _CLOSING else part for part in plain)


_TEXT = CharacterTable(_shown)
_BRACKETS = CharacterTable(_unbracketed)
_SPACED = str.maketrans(dict.fromkeys(_BLANKS, " "))


_SPOKEN = re.compile(r"\w{2,}")
_LONGEST_SPELLING = 4  # one sign may expand to a whole sentence under NFKC


def plain(text: str) -> str:
    """Normalise a text for id matching: NFKC per character, no invisible characters, all digits as 0 to 9."""
    text = clean_text(text)
    return text if text.isascii() else text.translate(_SPELLED)


def _spelled(char: str) -> str:
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    spelled = unicodedata.normalize("NFKC", char)
    return spelled if len(spelled) <= _LONGEST_SPELLING else " "


_SPELLED = CharacterTable(_spelled)


def short_form(name: str) -> str:
    """Return the leading word of a longer display name: 陈皮 of 陈皮〔已还魂〕."""
    match = _SPOKEN.match(name)
    return match[0] if match else name


def tidy(profile: Profile) -> Profile:
    """Return a profile that a model or an editor wrote with sanitised name, tags and summary.

    A name that looks like a placeholder is kept, because somebody chose it.
    """
    name = clean_name(profile.name) or one_line(profile.name, NAME_LENGTH)
    tags = tuple(tag for tag in map(one_line, profile.tags) if tag)
    return replace(profile, name=name, tags=tags, summary=clean_text(profile.summary).strip())


def described(error: BaseException) -> str:
    """Return an error as one bounded line; errors of other libraries are prefixed with their class."""
    is_own = isinstance(error, CognitiveMemoryError) and str(error)
    return one_line(str(error) if is_own else f"{type(error).__name__}: {error}", _ERROR_LENGTH)


_LABELLED = re.compile(r"\s*(?:\[[^\]\n]{0,64}\]\s*)?([^:：\n]{1,200})[:：]")  # a time in brackets may stand before


def is_said_by_hidden(line: str, hide: Callable[[str], str]) -> bool:
    """Return whether a line like ``[10:32] name(id): text`` is labelled with a person whom ``hide`` hides."""
    match = _LABELLED.match(line)
    if match is None:
        return False
    label = match[1].strip()
    return label != sentences.stored_text.SOMEBODY and hide(label) == sentences.stored_text.SOMEBODY
