"""What people are called in a text: the forms of a name, and whom a form may mean."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from ..domain.people import Person
from .characters import cleared_on_erasure
from .cleaning import plain
from .names import clean_name, short_form
from .terms import FUNCTION_WORDS, telling
from .time.time_words import mentions

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
    found = _bearers(text, people).items()
    return {form: next(iter(of.values())) for form, of in found if len(of) == 1 and not mentions(form)}


def _bearers(text: str, people: Iterable[Person]) -> dict[str, dict[str, Person]]:
    """Map each name in a normalised text to all who have or had it, by id."""
    found: dict[str, dict[str, Person]] = {}
    for person in people:
        for form in (form for name in (person.name, *person.aliases) for form in callnames(name) if form in text):
            found.setdefault(form, {})[person.id] = person
    return found


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


def is_hearsay(text: str, people: Collection[Person], speakers: Collection[str]) -> bool:
    """Return whether a text names a member who is not among the speakers, by id or by a name that no speaker bears."""
    return any(ids.isdisjoint(speakers) for ids in members_named(text, people))


def members_named(text: str, people: Collection[Person]) -> list[set[str]]:
    """Return for each member whom a text names the ids that the name may mean."""
    written = callname(plain(text))
    named = [{person.id} for person in people if f"({person.id})" in written]
    return [*named, *map(set, _bearers(_NAME_AND_ID.sub(" ", written), people).values())]


def ids_of(named: Iterable[str], people: Iterable[Person]) -> tuple[str, ...]:
    """Return the names and ids that a model listed; a name that only one person has is replaced by that person's id."""
    listed = tuple(named)
    by_name = people_by_name(callname("\n".join(listed)), people)
    return tuple(by_name[callname(one)].id if callname(one) in by_name else one for one in listed)
