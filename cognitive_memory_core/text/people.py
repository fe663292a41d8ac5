"""People in texts: their ids, what they are called, their present names in stored events, and redaction."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import tzinfo
from functools import lru_cache

from .. import sentences
from ..domain.event import Event, Label, exchange, label_of
from ..domain.turn import Person
from .characters import cleared_on_erasure
from .names import NAME_LENGTH, blanked, clean_name, defused, is_whole, plain, short_form
from .statements import is_leaning_word, numbers_in
from .terms import FUNCTION_WORDS, telling
from .time.time_words import mentions

BARE_ID = 5  # characters; a shorter id is recognised, and hidden, only in brackets: it may be a day or a count
_TOKEN = re.compile("[0-9A-Za-z_-]{1,128}")
_LABEL = re.compile(r"\(([0-9A-Za-z_-]{1,128})\)")
_NUMBER = re.compile("[0-9]+(?:[ ,][0-9]{3,4}(?![0-9]))*")  # 138 0013 8000 and 12,000 are one number
_GAP = re.compile("[ ,]")


@cleared_on_erasure
@lru_cache(maxsize=20_000)  # covers the names of a busy bot's groups, which every statement needs
def name_forms(name: str) -> tuple[str, ...]:
    """Return a name in full, as a prompt shows it, and in the short form that people use; each distinct form once."""
    return tuple(dict.fromkeys(form for form in (name, defused(name), short_form(name)) if form))


def ids_by_name(people: Iterable[Person], *texts: str) -> dict[str, set[str]]:
    """Map each form of people's names, former ones too, to the ids of all who have it; only forms in the texts."""
    found: dict[str, set[str]] = {}
    for person in people:
        for form in (form for name in (person.name, *person.aliases) for form in map(plain, name_forms(name))):
            if any(form in text for text in texts):
                found.setdefault(form, set()).add(person.id)
    return found


def ids_in(text: str, ids: Iterable[str], names: Iterable[str]) -> list[str]:
    """Return the ids that occur in a text: as ``name(id)``, or alone if at least :data:`BARE_ID` characters long.

    An id inside a known name does not count: a name cannot impersonate another person's id.
    """
    for name in names:
        if name in text and _TOKEN.search(name):
            text = text.replace(f"{name}(", "(")
    tokens = frozenset(_TOKEN.findall(text))
    return [one for one in ids if (len(one) >= BARE_ID and one in tokens) or f"({one})" in text]


def foreign_ids(
    text: str, given: Iterable[str], ids_by_name: Mapping[str, Collection[str]], ids: Collection[str]
) -> list[str]:
    """Return the numbers of five or more digits that nothing given has, and those of ``ids`` behind others' names.

    ``given`` are all texts of the input, read only if a number is none of the ``ids``; they have a number also with
    gaps or in thousands (1.2万). ``ids_by_name`` maps each name to the ids of all who have or had it; the longest name
    that ends at a bracket counts.
    """
    undated = blanked(text, ((one.start, one.stop) for one in mentions(text)))
    known, long = {*ids}, {match[0]: _GAP.sub("", match[0]) for match in _NUMBER.finditer(undated)}
    strange = {written: number for written, number in long.items() if len(number) >= BARE_ID and number not in known}
    if strange:
        source = "\n".join(given)
        known |= {f"{value:.0f}" for _, value in numbers_in(source)}
        for match in _NUMBER.finditer("\n".join((source, *ids_by_name))):
            known |= {_GAP.sub("", match[0]), *_GAP.split(match[0])}
    wrong = [
        number
        for written, number in strange.items()
        if number not in known and not known.issuperset(_GAP.split(written))
    ]
    for match in _LABEL.finditer(text):
        ending = [name for name in ids_by_name if is_whole(text, match.start() - len(name), name)]
        if ending and match[1] in ids and match[1] not in ids_by_name[max(ending, key=len)]:
            wrong.append(match[1])
    return list(dict.fromkeys(wrong))


MYSELF = frozenset(("我", "俺", "本人", "i", "me", "my", "mine", "myself"))
SHORTEST_NAME = 2  # characters; a shorter name calls nobody, and is hidden only before its id
_SHORTEST_NUMBER = 5  # digits; a shorter number is a year, an amount or a time
_CHINESE = (
    "今天 明天 昨天 后天 前天 今晚 明晚 昨晚 早上 上午 中午 下午 晚上 凌晨 周末 早安 晚安 午安 你好 您好 哈喽 "
    "再见 拜拜 谢谢 哈哈 嘿嘿 呵呵 "
    "大家 朋友 同学 老师 老板 老婆 老公 妈妈 爸爸 哥哥 姐姐 弟弟 妹妹 宝宝 宝贝 先生 女士 同事 家人 孩子 别人 "
    "某人 路人 群主 群友 管理 管理员 "
    "机器人 喜欢 开心 快乐 生日 吃饭 睡觉 上班 下班 学习 工作 游戏 电影 音乐 手机 电脑 东西 事情 问题 时间 "
    "一直 一起 一样 一点 真的 "
    "应该 不会 不要 不能 不想 不用 需要 希望 记得 忘记 告诉 看到 听说 出来 回来 过来 起来 下来 上次 下次 最近 "
    "以前 以后 之前 之后 然后 那么 "
    "这么 多少 为什么 怎么样 好的 好吧 好像 可能 其实 比较 非常 特别 天气 春天 夏天 秋天 冬天 月亮 太阳 世界 "
    "生活 "
)
_ENGLISH = (
    "today tomorrow yesterday morning evening night hello hi hey bye ok okay yes no please thanks love like "
    "good bad "
    "happy sad day time life world home work game music admin bot user guest friend man woman boy girl baby sir "
    "new old test one two go get make know think want need see come may will can june march april august"
)
_COMMON = frozenset((*_CHINESE.split(), *_ENGLISH.split()))
_LONGEST_PART = 4
_FULL = 3  # characters of a family name and a given name: 林晓雨
_FAMILY_NAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许邓冯韩曹曾彭萧肖蔡潘田董袁于余叶蒋杜苏魏程吕丁沈任姚卢傅钟姜崔谭廖范汪陆金石戴"
    "贾韦夏邱方侯邹熊孟秦白江阎薛尹段雷黎史龙陶贺顾毛郝龚邵万钱严覃武"
)
_BEGINNING = re.compile("[一-鿿]{3,}")


def callname(text: str) -> str:
    """Normalise a name, or a text that may contain names, for comparison."""
    return unicodedata.normalize("NFKC", text).casefold()


@cleared_on_erasure
@lru_cache(maxsize=8192)  # the people of a place are looked through again and again
def callnames(name: str) -> tuple[str, ...]:
    """Return the forms by which a person of this name is addressed: the full name and its leading word.

    A form of one character, a small number or a word in general use is left out.
    """
    whole = clean_name(name)
    spellings = dict.fromkeys((callname(whole), callname(short_form(whole))))
    return tuple(one for one in spellings if _calls(one))


@cleared_on_erasure
@lru_cache(maxsize=8192)
def parts(name: str) -> tuple[str, ...]:
    """Return the parts of a Chinese name that suffice to recognise the person: 海棠 of 海棠未眠, 晓雨 of 林晓雨.

    A part must have a rare character: 一点 and 电子 consist of frequent ones, because they are ordinary words.
    """
    begun = _BEGINNING.match(callname(clean_name(name)))
    if begun is None:
        return ()
    han = begun.group()
    found = [han[:length] for length in range(min(len(han) - 1, _LONGEST_PART), SHORTEST_NAME - 1, -1)]
    found += [han[1:]] if len(han) == _FULL and han[0] in _FAMILY_NAMES else []
    return tuple(part for part in found if _calls(part) and any(telling(char) == 1.0 for char in part))


def _calls(name: str) -> bool:
    if len(name) < SHORTEST_NAME or (name.isdecimal() and len(name) < _SHORTEST_NUMBER):
        return False
    return not (name in FUNCTION_WORDS or name in MYSELF or name in _COMMON)


_READ = 2_000  # characters of a text
_BEFORE = "(?:^|(?<=[\\s，。：:；;、！!？?“「（(@和跟与给对让叫请帮替问向]))"
_NAME_AND_ID = re.compile(r"[^\s，。：；、“”()]{1,48}\([0-9a-z_-]{1,128}\)")
_LABELLED = re.compile(r"\s?[(（〔\[]")  # what follows a name that has an id or a note already


def people_by_name(text: str, people: Iterable[Person]) -> Mapping[str, Person]:
    """Map each name in a normalised text (:func:`callname`) to the only person who has or had it."""
    candidates: dict[str, dict[str, Person]] = {}
    for person in people:
        forms = {form for name in (person.name, *person.aliases) for form in callnames(name) if form in text}
        for form in forms:
            candidates.setdefault(form, {})[person.id] = person
    return {form: next(iter(of.values())) for form, of in candidates.items() if len(of) == 1 and not mentions(form)}


def labelled(text: str, people: Iterable[Person]) -> str:
    """Return a text in which a name without an id is written ``name(id)``, if only one known person is called so.

    A name counts at the beginning of a clause and behind words such as 和 and 给; elsewhere it may be part of a word.
    The names of a person whose id is in the text already are left as they are.
    """
    normalised = callname(text)
    by_name = {name: person for name, person in people_by_name(normalised, people).items() if person.id}
    if not by_name or len(normalised) != len(text) or len(text) > _READ:
        return text
    written, parts, end = plain(text), list[str](), 0
    longest_first = sorted(by_name, key=len, reverse=True)
    # no letter or digit may follow a Latin name, anything a Chinese one
    listed = "|".join(re.escape(name) + (r"(?![0-9A-Za-z_])" if name[-1].isascii() else "") for name in longest_first)
    for found in re.finditer(f"{_BEFORE}({listed})", normalised):  # the longest name counts, also where it has its id
        person = by_name[found[1]]
        if f"({person.id})" not in written and not _LABELLED.match(text, found.end()):
            parts += (text[end : found.start()], person.label)
            end = found.end()
            written += f"({person.id})"
    return "".join((*parts, text[end:]))


def is_hearsay(text: str, people: Iterable[Person], speakers: Collection[str]) -> bool:
    """Return whether a text names a member who is not among the speakers, by id or by a name that no speaker bears."""
    return any(ids.isdisjoint(speakers) for ids in members_named(text, people))


def members_named(text: str, people: Iterable[Person]) -> list[set[str]]:
    """Return for each member whom a text names the ids that the name may mean."""
    written, bearers, named = callname(plain(text)), dict[str, set[str]](), list[set[str]]()
    for person in people:
        if f"({person.id})" in written:
            named.append({person.id})
        for form in (form for name in (person.name, *person.aliases) for form in callnames(name)):
            bearers.setdefault(form, set()).add(person.id)
    bare = _NAME_AND_ID.sub(" ", written)
    return [*named, *(ids for form, ids in bearers.items() if form in bare)]


def ids_of(named: Iterable[str], people: Iterable[Person]) -> tuple[str, ...]:
    """Return the names and ids that a model listed; a name that only one person has is replaced by that person's id."""
    listed = tuple(named)
    by_name = people_by_name(callname("\n".join(listed)), people)
    return tuple(by_name[callname(one)].id if callname(one) in by_name else one for one in listed)


_NAME = re.compile(rf"[^\s，。：:、()（）]{{1,{NAME_LENGTH}}}")
QUOTE_LENGTH = 240  # characters shown of one line, as of a line of the log


def name_and_id(user_id: str, name: str) -> str:
    """Return a person as ``name(id)``, the name cleaned, so that no name can pass for somebody else's label."""
    return label_of(user_id, clean_name(name))


def spoken(event: Event, label: Label = name_and_id, zone: tzinfo | None = None, *, longest: int = QUOTE_LENGTH) -> str:
    """Return an event as its quotes in order, each with its speaker as ``label`` writes them.

    An event without quotes, stored before there were any, is shown as the word of its sender.
    """
    if event.quotes:
        return exchange(event.quotes, label, zone, longest=longest)
    speaker = label(event.sender_id, event.sender_name) if event.sender_id else ""
    name, (before, has_label, _) = clean_name(event.sender_name), event.text.partition(f"({event.sender_id})")
    if not speaker or (has_label and (before == name if name else _NAME.fullmatch(before))):
        return event.text
    return sentences.context.SAID_BY.format(speaker=speaker) + event.text


NAMELESS = "QQ"  # what stands before the id of a person whose name was not known
_BRACKETED = re.compile(r"[(（]([^()（）\s]{1,128})[)）]")


def ids_in_brackets(texts: Iterable[str]) -> frozenset[str]:
    """Return the texts in brackets in these texts; each may be an id behind a name, but need not be."""
    return frozenset(match[1] for text in texts for match in _BRACKETED.finditer(text))


def with_current_names(text: str, people: Mapping[str, Person]) -> str:
    """Return a statement with the present name in each ``name(id)`` of a known person.

    The first label in which a person's name was replaced also shows the replaced name. A name that the person never had
    is kept, and so is a name without an id.
    """
    pieces: list[str] = []
    at = 0
    told: set[str] = set()
    for match in _BRACKETED.finditer(text):
        person = people.get(match[1])
        if person is None:
            continue
        name, worn = clean_name(person.name), [clean_name(one) for one in (person.name, *person.aliases)]
        names = {*worn, *map(defused, worn), NAMELESS} - {""}
        before = text[at : match.start()]
        ending = [one for one in names if before.endswith(one) and is_whole(before, len(before) - len(one), one)]
        written = max(ending, key=len, default="")
        if written in ("", name):
            continue
        pieces += [text[at : match.start() - len(written)], name, match[0]]
        if written != NAMELESS and person.id not in told:
            pieces.append(sentences.context.CALLED_THEN.format(name=written))
        told.add(person.id)
        at = match.end()
    return "".join((*pieces, text[at:]))


_LETTERS = "0-9A-Za-z\u00c0-\u024f\u0370-\u052f"  # of scripts that put blanks between words
_ANY_ID = r"(?=[A-Za-z_.:@-]{0,64}[0-9])[0-9A-Za-z_.:@-]{1,64}"


Finder = Callable[[str], frozenset[str]]


def finder(words: Iterable[str]) -> Finder:
    """Return a function that finds which of the words occur in a text, whose time hardly depends on their number."""
    known = frozenset(words) - {""}
    lengths: dict[str, set[int]] = {}  # by the first two characters
    for word in known:
        lengths.setdefault(word[:2], set()).add(len(word))

    def found(text: str) -> frozenset[str]:
        pieces = (text[at : at + length] for at in range(len(text)) for length in lengths.get(text[at : at + 2], ()))
        return known.intersection({*pieces, *text}) if known else known

    return found


_NOTHING = finder(())


@dataclass(frozen=True)
class Redaction:
    """Replaces ids and names by 某位成员, and leaves other people's text unchanged.

    A name is hidden without an id only if :func:`hides_alone` allows it and no other person has it, and never
    before another person's id: otherwise a chosen name could blank out everybody's sentences.
    """

    ids: Finder = _NOTHING
    names: Finder = _NOTHING
    shared: frozenset[str] = frozenset()
    at_hand: frozenset[str] = frozenset()

    @classmethod
    def of(cls, ids: Iterable[str], names: Iterable[str], shared: Iterable[str] = ()) -> Redaction:
        """Create a redaction of people by ids and names.

        Names in ``shared``, which other people have as well, are hidden only beside an id.
        """
        return cls(finder(ids), finder(name.strip() for name in names), frozenset(map(str.strip, shared)))

    def hiding(self, ids: Iterable[str]) -> Redaction:
        """Return a redaction of the same names, with these ids instead of its own."""
        return replace(self, ids=finder(ids))

    def knowing(self, names: Iterable[str]) -> Redaction:
        """Return a redaction that hides these names, too; meant for a few names that were just seen."""
        return replace(self, at_hand=self.at_hand | {name.strip() for name in names if name.strip()})

    def __call__(self, text: str) -> str:
        """Return the text with ids and names hidden."""
        ids = self.ids(text)
        names = {*self.names(text), *(name for name in self.at_hand if name in text)}
        alone = [name for name in names if name not in self.shared and hides_alone(name)]
        if not ids and not alone:
            return text
        return _pattern(_ordered(ids), _ordered(alone), _ordered(names if ids else ())).sub(
            lambda match: match[0] if match["other"] else sentences.context.SOMEBODY, text
        )


def hides_alone(name: str) -> bool:
    """Return whether a name may be hidden without an id beside it; not a number, a smiley or a word like 我."""
    has_letter = any(char.isalpha() and not char.isnumeric() for char in name)
    is_word = is_leaning_word(name) or name in sentences.context.SOMEBODY
    return len(name) >= SHORTEST_NAME and has_letter and not is_word


def _ordered(words: Iterable[str]) -> tuple[str, ...]:
    """Sort the words by length, longest first, so that no part of a longer name remains."""
    return tuple(sorted(words, key=lambda word: (-len(word), word)))


@cleared_on_erasure
@lru_cache(maxsize=512)
def _pattern(ids: tuple[str, ...], alone: tuple[str, ...], names: tuple[str, ...]) -> re.Pattern[str]:
    """Compile a pattern that finds ids and names; a name before another person's id matches as the group ``other``."""
    theirs = rf"[(（](?:{_any_of(ids)})[)）]"
    numbers = _any_of(one for one in ids if len(one) >= BARE_ID)
    words = "|".join(map(_whole, alone)) or "(?!)"
    return re.compile(
        rf"(?:{_any_of(names)}){theirs}|(?P<other>(?:{words})(?!{theirs})[(（]{_ANY_ID}[)）])|(?:{words})(?:{theirs})?"
        rf"|(?<![0-9A-Za-z])(?:{numbers})(?![0-9A-Za-z])|(?<=[(（])(?:{_any_of(ids)})(?=[)）])"
    )


def _any_of(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, words)) or "(?!)"


def _whole(name: str) -> str:
    """Build a pattern for a name that does not match inside a longer word of spaced scripts."""
    before = f"(?<![{_LETTERS}])" if re.match(f"[{_LETTERS}]", name) else ""
    after = f"(?![{_LETTERS}])" if re.search(rf"[{_LETTERS}]\Z", name) else ""
    return before + re.escape(name) + after
