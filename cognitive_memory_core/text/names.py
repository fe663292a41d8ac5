"""Names of people: cleaned, compared, and recognised in a text, with their ids."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import date
from functools import lru_cache

from cognitive_memory_core import sentences

from ..domain.people import Person
from ..domain.turn import shortened
from .caches import cleared_on_erasure
from .characters import CharacterTable
from .patterns import Pattern
from .time.numerals import number

NAME_LENGTH = 40
_NAME_READ = 1_000  # characters of a longer name that are read
_MOST_MARKS = 3  # accents on one letter; no living script needs more
_PLACEHOLDERS = frozenset(
    (
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
    )
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


def clean_name(name: str, *, limit: int = NAME_LENGTH) -> str:
    """Return the name of a person or group for display: one line of at most ``limit`` characters, or "".

    A user may choose a name to pass as somebody else, and people are written ``name(id)`` everywhere. Therefore a name
    never contains line breaks, direction or hidden characters, or round brackets: brackets of every width become
    〔 and 〕, and "12345(管理员)" cannot be taken for the label of 12345. Placeholders that clients send
    ("QQ用户", "null") yield "".
    """
    return _cleaned(name[:_NAME_READ], limit)


@cleared_on_erasure
@lru_cache(maxsize=5_000)  # the same people speak again and again
def _cleaned(name: str, limit: int) -> str:
    line = one_line(name.translate(_BRACKETS))
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
    return unicodedata.normalize("NFC", _without_floods(text))


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


def _without_floods(text: str) -> str:
    """Limit the number of accents per letter."""
    marks = frozenset(char for char in set(text) if unicodedata.category(char)[0] == "M")
    if not marks:
        return text
    kept: list[str] = []
    run = 0
    for char in text:
        run = run + 1 if char in marks else 0
        if run <= _MOST_MARKS:
            kept.append(char)
    return "".join(kept)


_TEXT = CharacterTable(_shown)
_BRACKETS = CharacterTable(_unbracketed)
_SPACED = str.maketrans(dict.fromkeys(_BLANKS, " "))


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
    is_decimal = bool(re.search("[0-9][.]$", before) or re.match("[.][0-9]", after))
    return is_decimal or _is_code(before, after)


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


_LABELLED = re.compile(r"\s*(?:\[[^\]\n]{0,64}\]\s*)?([^:：\n]{1,200})[:：]")  # a time in brackets may stand before


def is_said_by_hidden(line: str, hide: Callable[[str], str]) -> bool:
    """Return whether a line like ``[10:32] name(id): text`` is labelled with a person whom ``hide`` hides."""
    match = _LABELLED.match(line)
    if match is None:
        return False
    label = match[1].strip()
    return label != sentences.stored_text.SOMEBODY and hide(label) == sentences.stored_text.SOMEBODY


MYSELF = frozenset(("我", "俺", "本人", "i", "me", "my", "mine", "myself"))
_NAME_AND_ID = re.compile(r"[^\s，。：；、“”()]{1,48}\([0-9a-z_-]{1,128}\)")


def is_hearsay(text: str, people: Iterable[Person], speakers: Collection[str]) -> bool:
    """Return whether a text names a member who is not among the speakers, by id or by a name that no speaker bears."""
    return any(ids.isdisjoint(speakers) for ids in members_named(text, people))


def members_named(text: str, people: Iterable[Person]) -> list[set[str]]:
    """Return for each member whom a text names the ids that the name may mean; names of one character do not count."""
    written, bearers, named = plain(text).casefold(), dict[str, set[str]](), list[set[str]]()
    for person in people:
        if f"({person.id})" in written:
            named.append({person.id})
        for name in (plain(one).casefold() for one in (person.name, *person.aliases)):
            for form in {name, short_form(name)}:
                bearers.setdefault(form, set()).add(person.id)
    bare = _NAME_AND_ID.sub(" ", written)
    return [*named, *(ids for form, ids in bearers.items() if len(form) > 1 and form in bare)]
