"""Names and other texts cleaned for display: one line, no hidden characters, no brackets in a name."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

from .. import sentences
from ..domain.profile import Profile
from ..domain.turn import shortened
from ..errors import CognitiveMemoryError
from .characters import CharacterTable, cleared_on_erasure

NAME_LENGTH = 40
_NAME_READ = 1_000  # characters of a longer name that are read
_MOST_MARKS = 3  # accents on one letter; no living script needs more
_ERROR_LENGTH = 300
_NOBODY = ("unknown", "anonymous", "null", "none", "nil", "undefined")
_PLACEHOLDERS = frozenset(("用户", "qq用户", "匿名", "匿名用户", "未知", "未知用户", *_NOBODY))
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
    return label != sentences.context.SOMEBODY and hide(label) == sentences.context.SOMEBODY


Span = tuple[int, int]
MASK = "\u9f98"  # stands for what is not read as words: a character next to which no word begins or ends
_QUOTED = re.compile(
    "《[^《》]*》|“[^“”]*”|「[^「」]*」|『[^『』]*』|【[^【】]*】"
    '|"[^"\n]*"|`[^`\n]*`|(?:https?|ftp)://[!-~]+|(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,255}'
    "|(?<![A-Za-z0-9.-])(?:[A-Za-z0-9-]{1,63}[.]){1,4}(?:com|org|net|cn|io|ai|app|dev|tv|xyz|edu|gov)(?![A-Za-z0-9])"
)
_LABEL = re.compile(r"[(（][^()（）\s]{1,128}[)）]")

_QUOTATION = re.compile(r"[^“”]{0,60}[：:]\s*“(.+)”[^“”]{0,40}$", re.DOTALL)


def blanked(text: str, spans: Iterable[Span], by: str = " ") -> str:
    """Return a text of the same length, with each character of the spans replaced."""
    chars = list(text)
    for start, stop in spans:
        chars[start:stop] = by * (min(stop, len(chars)) - start)
    return "".join(chars)


def quoted(text: str) -> Iterator[Span]:
    """Yield the spans of titles, quotations and addresses, including their delimiters."""
    return (match.span() for match in _QUOTED.finditer(text))


def named(text: str, names: Collection[str], is_word: Callable[[str], bool]) -> Iterator[Span]:
    """Yield the spans of known names, each including an id that follows it.

    A part of a longer Latin word or number is no name. A name that is one character, only digits, or an ordinary word
    (a person called 昨天) counts only as ``name(id)``: otherwise choosing a word as a name would disable that word.
    """
    for name in names:
        if name not in text or not name.strip():
            continue
        needs_label, start = len(name) == 1 or name.isdecimal() or is_word(name), text.find(name)
        while start >= 0:
            stop = start + len(name)
            label = _LABEL.match(text, stop)
            is_part = _clings(text[start - 1 : start], name[0]) or _clings(name[-1], text[stop : stop + 1])
            if not is_part and (label or not needs_label):
                yield start, label.end() if label else stop
            start = text.find(name, stop)


def is_whole(text: str, start: int, name: str) -> bool:
    """Return whether a name stands at this index of a text and is not only the end of a longer word."""
    before = text[max(start - 1, 0) : max(start, 0)]
    clings = before.isalnum() if len(name) == 1 else _clings(before, name[:1])
    return start >= 0 and text.startswith(name, start) and not clings


def _clings(left: str, right: str) -> bool:
    return left.isascii() and right.isascii() and left.isalnum() and right.isalnum()


def unquoted(statement: str) -> str:
    """Return the words inside the quotation marks if a statement is one quotation, else the statement."""
    quoted = _QUOTATION.match(statement)
    return quoted[1] if quoted else statement


_SWAPPED = {
    "‹": "<＜﹤≮〈\u2329⟨❬❮❰⧼˂ᐸ≺",
    "›": ">＞﹥≯〉\u232a⟩❭❯❱⧽˃ᐳ≻",
    "〔": "[［﹇【︻〚⟦⁅❲",
    "〕": "]］﹈】︼〛⟧⁆❳",
    "'": "`｀\u1fefˋ",
}
_HARMLESS = str.maketrans({char: harmless for harmless, chars in _SWAPPED.items() for char in chars})
_FULL_WIDTH = str.maketrans("‹›", "＜＞")
_CHAT_TOKEN = re.compile("(?<=‹)[|｜]|[|｜](?=›)")
_AMPERSANDS = frozenset("&＆﹠")
_ENTITY = re.compile("[&＆﹠][#＃﹟]?\\w{1,32}[;；﹔︔\u037e]?")


def defused(text: str) -> str:
    """Return a text as one line that can neither close its block nor pass for another part of a prompt.

    Angle and square brackets of every width and lookalike are replaced by harmless ones, and backticks by
    quotes: no tag, chat-template token, [INST], 【系统】, [CQ:…] or code fence remains, nor does NFKC restore one.
    The first sign of &lt; and similar entities is replaced, so that decoding entities restores none either. There is no
    list of forbidden words to evade. Signs are replaced, not escaped: the text does not grow, a second
    pass changes nothing, and no reader can unescape it. The caller must write a prefix before the line,
    so that it cannot begin with "system:".
    """
    line = one_line(text).translate(_HARMLESS)
    return _ENTITY.sub(_unread, line) if _AMPERSANDS.intersection(line) else line


def full_width(text: str) -> str:
    """Return a defused text with full-width angle brackets, for a block whose fence is made of other signs.

    A reader who normalises the block gets plain angle brackets, which form no fence and no chat-template token,
    because the bar beside a bracket is replaced too. A second pass changes nothing.
    """
    line = defused(text)
    return _CHAT_TOKEN.sub("¦", line).translate(_FULL_WIDTH) if "‹" in line or "›" in line else line


def _unread(entity: re.Match[str]) -> str:
    """Replace the & of an HTML entity if decoding it yields a sign that :func:`defused` replaces, or another &."""
    for written in {entity[0], unicodedata.normalize("NFKC", entity[0])}:  # a reader may decode before it normalises
        read = html.unescape(written)
        if read != written and (read[:1] in {"", "&"} or read.translate(_HARMLESS) != read):
            return f"⅋{entity[0][1:]}"
    return entity[0]
