"""Ids written in a text: known ones, unknown ones, and ones that follow another person's name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date

from ..lexical.characters import CharacterTable
from ..patterns import Pattern
from ..time.numerals import number
from .name_cleaning import clean_text

BARE_ID = 5  # characters; an id of at least this length is recognised without a name
_TOKEN = re.compile("[0-9A-Za-z_-]{1,128}")
_LABEL = re.compile(r"\(([0-9A-Za-z_-]{1,128})\)")
_SPOKEN = re.compile(r"\w{2,}")
_LONGEST_SPELLING = 4  # one sign may expand to a whole sentence under NFKC
_ADDRESS = re.compile("https?://[!-~]+")
_NUMBER = re.compile("[0-9]+(?:[ ,][0-9]{3,4}(?![0-9]))*")
_GAP = re.compile("[ ,]")
_UNIT = Pattern(
    "[ +]?[多余来]?(?:元(?![旦宵])|[块万亿千百人个名位字年月日天周时分秒米里公斤克吨升瓦度次]"
    "|[条张份只行步倍票套页集章级层件台辆首篇帧像点%‰°℃]"
    "|(?:px|[kmg]i?b|[kcm]?m|[km]?g|[kmg]?hz|mah|rpm|fps|bpm|usd|rmb|cny|[kmgwhsvbl]|ms|words|people|users|lines|steps)(?![a-z0-9]))"
)
_CODE_BEFORE = re.compile("([A-Za-z]{1,16})[_-]?$")
_CODE_AFTER = re.compile("[A-Za-z]{2,}")
_ID_WORDS = frozenset(("qq", "id", "uid", "uin", "user", "group", "wx", "vx", "account", "at"))
_ROUND = Pattern(
    "([0-9]{1,9}(?:[.][0-9]{1,6})?|[一二两三四五六七八九十百]{1,5})[ ]?([万千亿kKwW])"
    "([一二三四五六七八九](?![千百万]))?"
)
_WORTH = {"千": 1_000, "k": 1_000, "万": 10_000, "w": 10_000, "亿": 100_000_000}


def plain(text: str) -> str:
    """Normalise a text for id matching: NFKC per character, no invisible characters, all digits as 0 to 9."""
    text = clean_text(text)
    return text if text.isascii() else text.translate(_SPELLED)


def short_form(name: str) -> str:
    """Return the leading word of a longer display name: 陈皮 of 陈皮〔已还魂〕."""
    match = _SPOKEN.match(name)
    return match[0] if match else name


def ids_in(text: str, ids: Iterable[str], names: Iterable[str]) -> list[str]:
    """Return the ids that occur in a plain text: as ``name(id)``, or alone if at least :data:`BARE_ID` characters long.

    An id inside a known name does not count: a name cannot impersonate another person's id.
    """
    for name in names:
        if name in text and _TOKEN.search(name):
            text = text.replace(f"{name}(", "(")
    tokens = frozenset(_TOKEN.findall(text))
    return [one for one in ids if (len(one) >= BARE_ID and one in tokens) or f"({one})" in text]


def unnamed(text: str, ids_by_name: Mapping[str, Collection[str]]) -> str:
    """Remove from a plain text each name before the id of a person who has it: its digits are no id."""
    for name in sorted(ids_by_name, key=len, reverse=True):
        if _TOKEN.search(name) and f"{name}(" in text:
            for user_id in ids_by_name[name]:
                text = text.replace(f"{name}({user_id})", f"({user_id})")
    return text


def strange_numbers(text: str, source: str, known: Collection[str]) -> list[str]:
    """Return numbers of five or more digits in a plain text that may be ids but are not in ``source`` or ``known``.

    ``source`` is the whole input, plain; ``known`` are further known ids. Amounts with a unit, dates,
    decimals and parts of addresses, codes and versions are not ids unless they are in brackets.
    """
    found = [match for match in _NUMBER.finditer(_ADDRESS.sub(" ", text)) if len(match[0]) >= BARE_ID]
    found = [match for match in found if match[0] not in known]
    if not found:
        return []
    given = {*_numbers_of(source), *known}
    text = _ADDRESS.sub(" ", text)
    strange = (one for match in found for one in _strange(match, text, given))
    return list(dict.fromkeys(strange))


def mislabelled(text: str, ids_by_name: Mapping[str, Collection[str]], ids: Collection[str]) -> list[str]:
    """Return those of ``ids`` that follow, in a plain text, a name that only other people have.

    ``ids_by_name`` maps a name to the ids of all who have or had it. The longest name that ends at the bracket counts.
    """
    longest = max(map(len, ids_by_name), default=0)
    found = (match for match in _LABEL.finditer(text) if match[1] in ids)
    wrong = [match[1] for match in found if _is_of_others(text, match, ids_by_name, longest)]
    return list(dict.fromkeys(wrong))


def _spelled(char: str) -> str:
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    spelled = unicodedata.normalize("NFKC", char)
    return spelled if len(spelled) <= _LONGEST_SPELLING else " "


def _is_of_others(text: str, match: re.Match[str], ids_by_name: Mapping[str, Collection[str]], longest: int) -> bool:
    stop = match.start()
    for start in range(max(stop - longest, 0), stop):
        name = text[start:stop]
        if name in ids_by_name and not _is_tail(text, start, name):
            return match[1] not in ids_by_name[name]
    return False


def _is_tail(text: str, start: int, name: str) -> bool:
    """Return whether a name is only the end of a longer word."""
    before = text[start - 1 : start]
    if len(name) == 1:
        return before.isalnum()
    return before.isascii() and name[0].isascii() and before.isalnum() and name[0].isalnum()


def _numbers_of(source: str) -> Iterator[str]:
    """Yield each number of a text without separators, each of its parts between separators, and 12000 for 1.2万."""
    for match in _NUMBER.finditer(source):
        pieces = _GAP.split(match[0])
        yield "".join(pieces)
        yield from pieces
    for match in _ROUND.finditer(source):
        yield str(_worked_out(match))


def _worked_out(match: re.Match[str]) -> int:
    worth = _WORTH[match[2].lower()]
    rest = number(match[3]) * worth // 10 if match[3] else 0
    try:
        return round((float(match[1]) if match[1].isascii() else number(match[1])) * worth) + rest
    except ValueError:  # 三五万 is not a single number
        return 0


def _strange(match: re.Match[str], text: str, given: Collection[str]) -> Iterator[str]:
    pieces = _GAP.split(match[0])
    whole = "".join(pieces)
    if whole in given or _is_no_id(match, text, whole):
        return
    long = [piece for piece in pieces if len(piece) >= BARE_ID]
    if long:
        yield from (piece for piece in long if piece not in given)
    elif any(piece not in given for piece in pieces):
        yield whole


def _is_no_id(match: re.Match[str], text: str, whole: str) -> bool:
    before, after = text[max(match.start() - 20, 0) : match.start()], text[match.end() : match.end() + 20]
    if before.endswith("(") and after.startswith(")"):
        return False
    if before[-1:] in ("¥", "$", "€", "£") or _UNIT.compiled.match(after.lower()) or _is_day(whole):
        return True
    return _is_decimal(before, after) or _is_code(before, after)


def _is_decimal(before: str, after: str) -> bool:
    return bool(re.search("[0-9][.]$", before) or re.match("[.][0-9]", after))


def _is_code(before: str, after: str) -> bool:
    word = _CODE_BEFORE.search(before)
    if word:
        return word[1].casefold() not in _ID_WORDS
    return bool(_CODE_AFTER.match(after))


def _is_day(digits: str) -> bool:
    """Return whether eight, twelve or fourteen digits begin with a date between 1900 and 2100."""
    if len(digits) not in (8, 12, 14) or not "1900" <= digits[:4] <= "2100":
        return False
    try:
        date(int(digits[:4]), int(digits[4:6]), int(digits[6:8]))
    except ValueError:
        return False
    return True


_SPELLED = CharacterTable(_spelled)
