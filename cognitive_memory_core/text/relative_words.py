"""Words that depend on who says them, when or where; an absolute statement has none."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from .characters import folded, lazy
from .spans import MASK, Span, blanked, named, quoted
from .time.time_words import READ, is_time, leaning

Kind = Literal["pronoun", "time", "place"]


@dataclass(frozen=True)
class Offence:
    """One context-dependent word; ``word`` is as written in the text."""

    kind: Kind
    word: str


_PERSONS = (
    "(?:[我你他她它]|咱|俺)们|咱俩?|俺|[我你他她它]俩?|您"
    "|(?<![面应针相反绝核校比配敌查])对方(?![便程法言案向形块糖圆框格阵差针剂太志才])"
    "|[这那]个?人(?![物数群气设格工民选称头力员机体类才口均间生家道马潮性缘脉品])|[这那](?:家伙|货(?![币物车运架品])|谁|位(?![置数于移]))"
    "|(?<![一-龥a-z0-9)）〕])本人|(?<![一-龥])人家|(?<![a-z0-9])ta们?(?![a-z0-9])"
)
_NOBODY = (  # the character is part of a word, saying or title that refers to nobody
    "其[他它](?<!尤其[他它])|吉他|维他|利他|排他|他人|他乡|他国|他杀|他山|他律|无他|犹他|马耳他|他汀|他克莫司|他妈的|他娘的|他奶奶的"
    "|她经济|她力量|她时代|她理财|他趣|他信"
    "|自我(?<![来出源发选]自我)(?!们)|忘我|无我|[超本]我(?<!根本我)(?=[，、。和与]|$)|真我(?<![认当]真我)|敌我|唯我独尊|舍我其谁"
    "|依然故我|故我在|我思|我见犹怜|尔虞我诈|时不我待|卿卿我我|我行我素|我国|我佛|我执|非我莫属|非我即彼|非我族类"
    "|我为人人|人人为我|你中有我|我中有你|你争我夺|你推我让|有你没我|有我没你|自他|他者|他处|他方"
    "|我[靠去晕擦](?![一-龥])|我勒个|我的天(?![一-龥])|我滴?天啊"
    "|我的世界|我推的孩子|我的英雄学院|我不是药神|我是歌手|我们的歌|我爱我家|你的名字(?=[，。、]|$)|你画我猜|你追我赶|你来我往|你死我活"
    "|你情我愿|你侬我侬|不分你我|你一言我一语|[你您]好(?![一-龥])|你好世界|迷你|你我他"
)
_LEADING = "在去来到从往回住给放留搬飞是就还说向朝看把让对和与跟也都又想要会能不没而但等由于爱了着过的天周月年晚午末"
_LEADING_PAIRS = "觉得|感觉|认为|以为|发现|听说|希望|喜欢|讨厌|离开|知道|记得|熟悉|路过|怀念|早上|晚上"
_ALONE = f"(?:(?<![一-龥a-z0-9)）〕])|(?<=[{_LEADING}])|(?<={_LEADING_PAIRS}))"  # not 阿棠那里
_GROUP_WORD = "(?![人岛众落体狗猫鸟羊牛马伙混少年孩小大学])"
_PLACES = (
    f"{_ALONE}[这那](?:里(?![程应约氏弄])|边(?![境界疆缘框锋防际角塞])|儿(?![子女童歌科])|头(?![发像部皮盔疼痛猪牛羊象驴大]))"
    f"|[这此本]个?群{_GROUP_WORD}"
    "|此地(?!无银)|此处|(?<![一-龥])本地人|(?<=[在住到回离是])本地(?=$|[，。！？、；,.!?]|工作|上学|读书|生活|住|的)"
    "|(?<![日基资版样文副脚书课剧成根原标绘读账木唱抄底足赔亏手孤珍译全蓝范正草一记])"
    "本(?:校|公司|店|班(?!次)|市(?!场)|省|县|镇(?!静)|村|小区|宿舍|频道|部门|院|系(?![统列]))"
    "|在(?:附近|隔壁|对面|旁边|楼[上下])"
)
_GROUP_NOUN = f"{_ALONE}群[里内]"  # unambiguous, since an event has its group; the group's name is more precise
_WORD, _END = "(?=[a-z])(?<![a-z0-9_.@/-])", "(?![a-z0-9_@/])"
_ENGLISH_PERSONS = (
    f"{_WORD}(?:i(?='(?:m|ve|ll|d)(?![a-z])| [a-z'])|me|my|mine|myself|you|yours?|yourself|he|him|his|himself"
    f"|she|hers?|herself|we|us|ours?|they|them|theirs?){_END}"
)
_ENGLISH_NOBODY = (
    "(?:war|type|part|phase|class|level|stage|volume|chapter|grade|elizabeth|charles) i(?![a-z])|thank you"
)
_ENGLISH_PLACES = f"{_WORD}(?:here|there(?! (?:is|are|was|were|will|has|have|had|be|may|might|seems?)(?![a-z]))){_END}"
_PERSON = lazy(f"{_PERSONS}|{_ENGLISH_PERSONS}")
_PLACE = lazy(f"{_PLACES}|{_ENGLISH_PLACES}")
_GROUP = lazy(_GROUP_NOUN)
_PATTERNS: tuple[tuple[Kind, re.Pattern[str]], ...] = (("pronoun", _PERSON), ("place", _PLACE), ("place", _GROUP))
_FINE = lazy(f"{_NOBODY}|{_ENGLISH_NOBODY}")
_TALK = lazy("[我你您咱俺]|本人|(?:i|me|my|mine|myself|you|yours?|yourself|we|us|ours?)(?![a-z])")


def is_talk(offence: Offence) -> bool:
    """Return whether an offence is a pronoun of the first or second person; a line of chat may contain one."""
    return offence.kind == "pronoun" and bool(_TALK.match(folded(offence.word)))


def offences(text: str, *, names: Collection[str] = ()) -> tuple[Offence, ...]:
    """Return the words that depend on speaker, day or place, in textual order; () if the statement is absolute.

    Known names (also as ``name(id)``), titles and quotations are not read as words. Only the first 2,000 characters
    count.
    """
    text = text[:READ]
    return tuple(offences_in(text, [*quoted(text), *named(text, names, is_leaning_word)]))


def is_leaning_word(word: str) -> bool:
    """Return whether a word on its own depends on speaker, day or place, or is a time expression."""
    return any(pattern.fullmatch(word) for pattern in (_PERSON, _PLACE, _GROUP)) or is_time(word)


def offences_in(text: str, masked: Iterable[Span], *, with_group: bool = False) -> list[Offence]:
    """Return the offences outside the masked spans, in textual order; with ``with_group`` also words such as 群里."""
    read, found = blanked(text[:READ], masked, MASK), list[tuple[int, Offence]]()
    words = blanked(folded(read), (match.span() for match in _FINE.finditer(folded(read))), MASK)
    for kind, pattern in _PATTERNS if with_group else _PATTERNS[:-1]:
        for match in pattern.finditer(words):
            word = text[match.start() : match.end()]
            # US, ME and MY are acronyms in a text that is not all upper case
            if not (word.isascii() and word.isupper() and len(word) > 1 and not text.isupper()):
                found.append((match.start(), Offence(kind, word)))
    found += [(one.start, Offence("time", text[one.start : one.stop])) for one in leaning(read)]
    return [offence for _, offence in sorted(found, key=lambda one: one[0])]
