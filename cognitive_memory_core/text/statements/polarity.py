"""The polarity of clauses: which of their words are affirmed or denied, and which clauses are questions.

Different wordings are read alike: 拒绝, 不肯 and 没答应 as denied consent, 难道我会 and 才怪 as a plain denial.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from ..caches import cleared_on_erasure
from ..lexical.folding import folded
from ..lexical.frequency import FUNCTION_WORDS, telling
from ..patterns import Pattern

READ = 2_000  # characters of a text that are read
_NOT, _ALL, _OPEN, _TOLD = "\ue000", "\ue001", "\ue002", "\ue003"
_MARKS = {_NOT: "denies what follows", _ALL: "denies the clause", _OPEN: "leaves it open", _TOLD: "is no question"}
_MAY, _AGREE, _LIKE, _KNOW, _COME = "\ue010", "\ue011", "\ue012", "\ue013", "\ue014"
_CANONICAL = {_MAY: 0.45, _AGREE: 1.0, _LIKE: 0.8, _KNOW: 0.8, _COME: 0.6}
_HAN = "[一-鿿㐀-䶿]"
_END = "(?=$|[，,。！!？? \n])"
_ASKS = "[吗嘛么](?=$|[，,。！!？? \n])"

_REWORDED = tuple(
    (Pattern(source), word)
    for source, word in (
        # --- what only looks like a denial
        ("不错(?!过)", "好"),
        ("(?<![越超通])不过(?!敏|来|去|问|关|期|年|节)|不[仅光但止](?:是)?|不管|不论|无论(?:如何)?|不好意思", " "),
        (
            "没想到|谁能?想到|要不(?![要了])|想不到|没料到|不瞒你说|不知不觉|不由得?|忍不住|免不了|少不了|怪不得|[巴恨]不得|[对了]不起|不断",
            "",
        ),
        (
            "雷打不动|不久|不然|不如|不客气|不妨|没事(?!干)|没关系|没错|不少|不同(?!意)|不时|非常|除非|莫非|未来|出没|[沉淹]没",
            "",
        ),
        ("[特分区类级性告识辨鉴派]别|别(?=人|的|墅|名|称|扭|致|处|家)|无(?=锡|人机|线|限|聊|印良品)", ""),
        ("没少(?=[一-鿿])", "常"),
        ("没问题", "好"),
        ("差不多", ""),
        ("离开|离职|退出|说不定|不一定|未必|没准|不见得|差一?点儿?(?:没|就)?|险些", _OPEN),
        ("舍不得", f"{_NOT}舍得"),
        ("[来赶]不及", f"{_NOT}来得及"),
        # --- questions that state
        (f"不是(?=[^，,。！？!? ]{{1,12}}{_ASKS})|不就是?(?=[^，,。！？!? ]{{1,12}}{_ASKS})", _TOLD),
        ("难道不是", _TOLD),
        ("难道|岂[能敢会]?|哪里?(?:会|能|敢)|哪有(?![^，。]{0,12}[?？])|怎么(?:可能|会(?!事)|能|敢)", _TOLD + _NOT),
        (f"谁(?:会|要|想|敢|稀罕|乐意)(?=[^，,。！？!? ]{{1,16}}[啊呀呢]{_END})", _TOLD + _NOT),
        ("谁不(?=喜欢|想|爱|知道|愿意)", _TOLD),
        ("谁说过?(?=[我俺咱他她])", _TOLD + _NOT),
        ("(?<=[我俺])(?:什么时候|啥时候|几时|何时)(?=[^，。]{0,4}过)", _TOLD + _NOT),
        ("凭什么|凭啥|何必|何苦|干嘛要|用得着|犯得着", _TOLD + _NOT),
        (f"能不(?=[^，。能]{{1,6}}{_ASKS})", _TOLD),
        ("还用[说问]吗?", " "),
        ("鬼才|傻子才", _NOT),
        (f"才怪|才有鬼|个[屁头鬼]{_END}", _ALL),
        # --- two denials
        ("不得不|不可不|不能不(?!行)", _MAY),
        ("不可能不|不会不|不是不(?!行)|不是没有?|并非不|[无没]不|不无|不能没有?|不会没有?", " "),
        ("没有?人不|没有?一[天次个]不|没有不", " "),
        ("非(?P<must>[^，,。！？!? ]{1,8}?)(?:不可|不行)", r"\g<must>"),
        ("不(?P<need>[^，,。！？!? 不]{1,6})不(?:行|成|可(?!以))", r"\g<need>"),
        ("(?:别|不要|勿|莫)忘(?:记|了)?|[不没]否认", " "),
        (
            f"(?P<verb>{_HAN})不(?P<so>[了动懂见起上着开下住成完得清好出进通](?:来|去)?|(?<=[起进出上下回过]不)[来去])",
            rf"{_NOT}\g<verb>\g<so>",
        ),
        (
            f"(?P<verb>{_HAN})得(?P<so>[了动懂见起上着开下住成完清出进通](?:来|去)?|(?<=[起进出上下回过]得)[来去])",
            r"\g<verb>\g<so>",
        ),
        # --- other words for denial and consent
        (
            "(?:没有?|不)(?:答应|同意|接受|愿意|乐意|情愿|赞成|批准|点头)|不[肯愿]|拒绝?",
            f"{_NOT}{_AGREE}",
        ),
        ("回绝了?|婉拒了?|谢绝了?|推掉了?", f"{_NOT}{_AGREE}{_NOT}"),  # the offer that is declined exists
        ("驳回|否决|反对|抵制|不干(?!净)", f"{_NOT}{_AGREE}"),
        ("答应|同意|接受|接了|接下|愿意|乐意|情愿|赞成|批准|(?<![不中])肯(?![定德])", _AGREE),
        ("不(?:太|怎么|大|很)?(?:喜欢|爱|待见)|讨厌|反感|厌恶|受不了|最烦|嫌弃", f"{_NOT}{_LIKE}"),
        ("喜欢|钟爱|偏爱|酷爱|最爱|(?<!可)爱(?=[吃喝看玩听养])|热爱|迷上", _LIKE),
        ("忘[记了掉]?", f"{_NOT}{_KNOW}"),
        ("记得|记住|记牢", _KNOW),
        ("缺席|[不没]有?(?:参加|出席|到场)|放了?[^，。]{0,6}鸽子|鸽了|咕了", f"{_NOT}{_COME}"),
        ("参加|出席|到场", _COME),
        ("取消|作废|泡汤|黄了|告吹|吹了|没成", _ALL),
        (
            "戒[掉了]?(?=[一-鿿])|放弃了?|停止了?|停掉|不再|[不没]打算|不想|懒得|免得|以免|避免|否认|从不|绝不|并未|尚未",
            _NOT,
        ),
        ("不(?:许|准|可以?|能够?|行|会|要(?!紧))|没法儿?|没办法|没能|无法|不得(?!了)|严禁|禁止|甭|勿", f"{_NOT}{_MAY}"),
        (
            "(?<![一-鿿])别|(?<=千万|要求|以后|今后)别|(?<=[日天晚点再])别(?!人|的|墅|名|称|扭|致|处|家|样)|(?<=[请要都你们])别|别(?=[跟给让把再在来去说放用吃喝叫发问告带写讲提动碰看听拿买改删传转打信当])|(?<=[但也就先可那])别(?!人|的|墅|名|称|扭|致|处|家|样)",
            f"{_NOT}{_MAY}",
        ),
        (f"允许|准许|可以|能够?(?![力量源])|(?<![机社开例周大晚宴聚议协])会(?![员议计场面儿])|行{_END}", _MAY),
        # --- plain ones
        ("没有?|[不未无]|非(?=本人|自愿|法)|莫(?=[一-鿿])", _NOT),
        (
            "(?<![a-z])(?:not|never|no|none|nobody|without|cannot|hardly|refuse[sd]?(?: to)?)(?![a-z])|n't(?![a-z])",
            _NOT,
        ),
    )
)
_ANY_REWORDED = Pattern("|".join(re.sub(r"\(\?P<\w+>", "(?:", pattern.source) for pattern, _ in _REWORDED))
_ASKED = Pattern(
    f"[吗么](?=$|[？?])|[？?]|[了没]没有?{_END}|(?P<one>[一-鿿])[{_NOT}不没](?P=one)|是否|{_HAN}不{_END}"
    "|(?<!无论)(?<!不管)(?:谁(?![都也让])|为什么|为啥|多少(?![都也])|哪(?:个|里|儿|天|位|家)(?![都也])|怎么(?![都也样])|几[点号个天](?![都也]))"
)
_A_NOT_A = Pattern("(?P<one>[一-鿿])[不没](?P=one)|(?:了|过)没有?(?=$|[？?，。 ])|(?<=[一-鿿])不(?=$|[？?])")
_PARTS = re.compile(
    '[，,。！!；;：:、…~～\n“”"「」（）()]+|(?<=[？?])|(?<![a-z]) +| +(?![a-z])'
    "|(?=而是|但是?|可是|所以|因为|然后|结果|后来|反而|倒是|否则|虽然|如果)|(?<=[一-鿿])(?=[只却就](?![^一-鿿])|改[去成为到])"
    "|(?<=[一-鿿])(?<![没不未别勿会能要])(?=被(?![子套单褥窝面动]))"
    "|(?<=[一-鿿])(?<![没不未别勿])(?=(?:挪|移|推迟|延期|延后|顺延|提前|延)[到至])"  # 因医生不在挪到18日 denies no move
)
_ALONE = Pattern(f"(?:免谈|没门|休想|做梦|想得美|免了|算了|{_NOT}{_MAY}|{_NOT}可能|想都别想)(?:吧|的)?")
_REJECTED = Pattern("(?:免谈|没门|休想|做梦|想得美|免了|算了|想都别想)(?:吧|的)?")
_TOKEN = re.compile(f"[一-鿿㐀-䶿{''.join((*_MARKS, *_CANONICAL))}]|[a-z]{{2,32}}")
_LEAD = re.compile(
    "[ ]*(?:(?:说|表示|认为|觉得|要求|提醒|希望|更正|坦言|声称|强调|承认|通知|宣布|补充"
    "|解释|提到|回应|其实|坚决)[道过了]?[：: ]*)+"
)
_WISH = re.compile("希望|提议|建议|提出|请|求|要求|想让|规定|否决|同意")
_ENQUIRY = re.compile("[ ]*(?:询问|问(?!题|了医生|世|法|卷|答|候|好)|打听|想知道|请教|求问|好奇|asked)")
_EMPTY = frozenset(
    "的一了在是个这那着得地之也都就还又很真太只已再过到来把给被让于和跟与及们我你您他她它咱俺吗呢吧啊呀嘛哦嗯哈啦呗哇说自己曾其并而要有"
)
_SUFFIX = re.compile("(?:ing|ed|s)$")


@dataclass(frozen=True)
class Clause:
    """The content words of one clause: +1 affirmed, -1 denied, 0 undecided.

    ``asks`` means that the clause is a question, ``is_answered`` that it is a question which a later line may answer,
    ``proposes`` that it names a wish or a proposal, also in the form of a question.
    """

    signs: Mapping[str, int]
    asks: bool = False
    proposes: bool = False
    is_answered: bool = False

    @property
    def denies(self) -> float:
        """The total weight of the denied words."""
        return weight_of(word for word, sign in self.signs.items() if sign < 0)

    def denied(self) -> Clause:
        """Return the clause with the contrary meaning."""
        return Clause({word: -sign or -1 for word, sign in self.signs.items()}, self.asks, self.proposes)


def clauses_of(text: str) -> list[Clause]:
    """Return the clauses of a text that have content, in order; labels and names must have been removed."""
    found: list[Clause] = []
    for part in _PARTS.split(_spelled(text)):
        if found and _ALONE.fullmatch(_reworded(part)):
            found[-1] = found[-1].denied()  # 让我唱歌，免谈
        elif (clause := _clause(part)).signs:
            found.append(clause)
    return found


def dismisses(text: str) -> bool:
    """Return whether a line consists of a rejection of what was said before: 做梦, 免谈."""
    return bool(_REJECTED.compiled.fullmatch(_reworded(_spelled(text).strip("。！!~ "))))


def declines(text: str) -> bool:
    """Return whether a line consists of "no" as an answer to a question or proposal: 不能, 不行."""
    return bool(_ALONE.fullmatch(_reworded(_spelled(text).strip("。！!~ "))))


def weight_of(words: Iterable[str]) -> float:
    """Return the sum of the words' weights; a weight is near 0 for a very frequent word and 1 for a rare one."""
    return sum(_CANONICAL.get(word) or (1.0 if word.isascii() else telling(word) ** 2) for word in words)


def _spelled(text: str) -> str:
    return folded(unicodedata.normalize("NFKC", text[:READ]))[:READ].strip()


@cleared_on_erasure
@lru_cache(maxsize=1024)
def _reworded(part: str) -> str:
    """Replace different forms of denial by one; cached, because most parts of a statement also occur in its lines."""
    if not _ANY_REWORDED.is_in(part):
        return part
    for pattern, word in _REWORDED:
        part = pattern.replaced(part, word)
    return part


def _clause(part: str) -> Clause:
    whole, enquiry = part, _ENQUIRY.match(part)
    lead = enquiry or _LEAD.match(part)
    part = part[lead.end() :] if lead else part
    words = _reworded(_A_NOT_A.replaced(part, _OPEN))
    is_open = _OPEN in words
    asks = bool(enquiry) or (_TOLD not in words and _ASKED.is_in(part))
    return Clause(dict(_signed(words, is_open=is_open or asks)), asks, bool(_WISH.search(whole)))


def _signed(words: str, *, is_open: bool) -> Iterator[tuple[str, int]]:
    """Yield each content word with its sign; words before a denial are undecided: 香菜我不吃."""
    tokens: list[str] = _TOKEN.findall(words)
    has_denial, turned = _NOT in tokens, _ALL in tokens
    sign = 0 if has_denial else 1
    seen: dict[str, int] = {}
    for token in tokens:
        if token == _NOT:
            sign = -sign or -1
        elif token not in _MARKS and token not in _EMPTY and token not in FUNCTION_WORDS:
            word = _SUFFIX.sub("", token) if token.isascii() else token
            new = 0 if is_open else -sign if turned else sign
            seen[word] = new if seen.get(word, new) == new else 0
    yield from seen.items()
