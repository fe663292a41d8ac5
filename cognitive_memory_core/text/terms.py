"""Terms of a text: how it is folded, cut into words and pairs of characters, and weighed; texts without formulas."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable
from datetime import date
from functools import cache, lru_cache
from importlib import import_module
from importlib.metadata import version
from operator import add
from threading import Lock

from .characters import CharacterTable, cleared_on_erasure, lazy

# Modern Chinese by descending frequency, with the particles of chat moved to the front.
COMMON_CHARACTERS = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里吗呢吧啊呀嘛哦嗯哈哪谁怎什么把又"
    "用道行所然家种事成方多经去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长机十民第公此已工使情"
    "明性知全三关点正业外将两高间由问很最重并物手应战向头文体政美相见被利二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通"
    "教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命"
    "山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望"
    "觉术领共确传师观清今切院让识候带导争运"
)
_LEAST = 0.2
_WEIGHT = {
    char: _LEAST + (1.0 - _LEAST) * math.log1p(rank) / math.log1p(len(COMMON_CHARACTERS))
    for rank, char in enumerate(COMMON_CHARACTERS)
}
_ENGLISH = (
    "a about all am an and any are as at be been but by can could did do does for from had has have he her him his "
    "how i if in into is it its just me my no not of on or our out she so some that the their them then there "
    "these they this to up us was we were what when where which who whom whose why will with would you your"
)
_CHINESE = (
    "什么 怎么 怎样 我们 你们 他们 她们 它们 咱们 这个 那个 哪个 这些 那些 哪些 这样 那样 这里 那里 哪里 哪儿 "
    "一个 一下 没有 有没 还是 不是 是不 就是 可以 时候 自己 现在 知道 觉得 因为 所以 但是 如果 已经 还有 有人"
)
FUNCTION_WORDS = frozenset((*_ENGLISH.split(), *_CHINESE.split()))
# Words of questions about a conversation, independent of its topic.
_ASKING = (
    "according agree agreed describe described discuss discussed discusses discussing discussion discussions elaborate "
    "explain explained introduce introduced mention mentioned mentions opinion opinions participants regarding said "
    "say says summarise summarize summary talk talked talking think thinks thought thoughts view views "
    "讨论 聊过 聊到 提到 提过 说过 谈到"
)
ASKING_WORDS = frozenset(_ASKING.split())
# Greetings, farewells, thanks, apologies, assent and praise. Of the lines of two chats that the list was not written
# beside, it makes 2.6 and 3.3 % more need no memories, rightly; of 1,483 questions of four sets it meets none.
_FORMULAS = (
    "早上好 上午好 中午好 下午好 晚上好 早安 午安 晚安 早啊 早呀 哈喽 哈啰 嗨 拜拜 再见 回见 回头见 明天见 "
    "谢谢 多谢 感谢 谢了 谢啦 辛苦了 辛苦啦 辛苦 不客气 没关系 没事 对不起 抱歉 不好意思 恭喜 加油 "
    "好的 好滴 好哒 好嘞 好吧 行吧 可以的 没问题 收到 了解 明白 知道了 嗯 哦 确实 是的 对的 不错 厉害 真棒 太棒了 笑死"
)
_ENGLISH_FORMULAS = (
    "hi|hello|hey|good (?:morning|afternoon|evening|night)|gm|gn|bye|goodbye|see (?:you|ya)|thanks?|thank you|thx|ty|"
    "welcome|sorry|ok|okay|okk?|sure|got it|yes|yeah|yep|no|nope|nice|great|cool|lol|haha\\w*|wow|congrats"
)
_FORMULA = lazy(
    f"{'|'.join(sorted(_FORMULAS.split(), key=len, reverse=True))}|(?<![a-z0-9])(?:{_ENGLISH_FORMULAS})(?![a-z0-9])"
    "|^早$|^行$|\\+1|(\\w)\\1{2,}|23{2,}|[\u2600-\u27bf\U0001f000-\U0001faff]",
    re.IGNORECASE,
)


def without_formulas(text: str) -> str:
    """Return a text without greetings, farewells, thanks, assent, laughter and emoji."""
    return _FORMULA.sub(" ", text)


def telling(char: str) -> float:
    """Return the weight of a character in (0, 1]: below 1 for the few hundred most frequent ones, else 1."""
    return _WEIGHT.get(char, 1.0)


def telling_of(term: str) -> float:
    """Return the product of the weights of a term's characters, in (0, 1]."""
    weight = 1.0
    for char in term:
        weight *= _WEIGHT.get(char, 1.0)
    return weight


FIRST_HAN, LAST_HAN = "\u3400", "\u9fff"
_SHORTEST = 4  # minimum letters of a word that is stemmed
_LONGEST = 32
_stemming = Lock()  # a stemmer keeps state while it works on a word


def prepare() -> None:
    """Load the libraries of both languages."""
    index_terms("龍 words")


def forms_version() -> str:
    """Return the versions of both libraries, because another version may produce other forms."""
    return "/".join(map(version, ("opencc", "snowballstemmer")))


@cleared_on_erasure
@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return the stem of a lower-case English word; other words, codes and short words are unchanged."""
    if not (_SHORTEST <= len(word) <= _LONGEST and word.isascii() and word.isalpha()):
        return word
    with _stemming:
        return _stemmer()(word)


@cache
def _simplifier() -> Callable[[str], str]:
    return import_module("opencc").OpenCC("t2s").convert


@cache
def _stemmer() -> Callable[[str], str]:
    return import_module("snowballstemmer.english_stemmer").EnglishStemmer().stemWord


def indexed_text(speaker: str, at: date, said: str) -> str:
    """Join speaker, day (in ISO and in Chinese notation) and text by line breaks; the index stores this form."""
    return f"{speaker}\n{at.isoformat()[:10]}\n{at.month}月{at.day}日\n{said}"


_READ = 8_000  # characters of a text that are read
_INDEXED = 4_000  # terms of a text: 2,000 characters of Chinese
ASKED = 256  # terms of a question that are read: a question may stand at the end of a long message
SEARCHED = 64  # of them that are searched: the rarest
LEAST_TELLING = 0.5  # minimum weight of a single character searched beside pairs
_WORD_LENGTH = 64
_FIRST_WITHOUT_ACCENTS = "\u2000"
_HAN = "\U00020000", "\U000323af"
_RUNNING_ON = f"々-〇ぁ-ゖゝ-ゟァ-ヺー-ヿㄅ-ㄯㇰ-ㇿ㐀-䶿一-鿿가-힣\uf900-\ufaff{_HAN[0]}-{_HAN[1]}"
_WORD = f"[^\\W_{_RUNNING_ON}]+"
_PIECE = lazy(f"([{_RUNNING_ON}]+)|({_WORD}(?:[-._'@+]{_WORD})*)")
_PARTS = re.compile(r"[^\W_]+")
_CODE = re.compile(r"([^\W\d_]{2,})(\d{2,})|(\d{2,})([^\W\d_]{2,})|(\d{2,})x(\d{2,})")


def index_terms(text: str) -> list[str]:
    """Return the terms of a text with repetitions: characters, pairs, words and emoji."""
    terms: list[str] = []
    for run, word in pieces_of(text):
        terms += (*run, *map(add, run, run[1:])) if run else _words(word)
        if len(terms) >= _INDEXED:
            break
    return terms[:_INDEXED]


def query_terms(text: str, *, characters: bool = False) -> list[str]:
    """Return the distinct terms of a question in order: pairs and words, or single characters if there are no pairs.

    Very frequent terms and question words are used only if there are no others. With ``characters`` single characters
    are added beside the pairs, except the most frequent: short lines of chat may share characters
    without sharing a pair.
    """
    pieces = pieces_of(text)
    has_pairs = any(len(run) > 1 for run, _ in pieces)
    terms: list[str] = []
    for run, word in pieces:
        if word:
            terms += [term for term in _words(word) if len(term) > 1] or [word]
        elif not has_pairs:
            terms += run
        else:
            terms += map(add, run, run[1:])
            terms += [char for char in run if characters and telling(char) >= LEAST_TELLING]
    asked = list(dict.fromkeys(terms))
    idle = _idle_terms()
    return ([term for term in asked if term not in idle] or asked)[:ASKED]


def pieces_of(text: str) -> list[tuple[str, str]]:
    """Split a text into (run, word) pairs: one is a run of unspaced script or a word, the other is ""."""
    folded = unicodedata.normalize("NFKC", text[:_READ]).casefold()
    return _PIECE.findall(folded.translate(_FOLDED))


@cache
def _idle_terms() -> frozenset[str]:
    return frozenset(map(stem, FUNCTION_WORDS | ASKING_WORDS))


def _words(word: str) -> list[str]:
    """Return a word's stem, then its parts' stems: v2.3.1 as v231, v2, 3 and 1; 84bpm also as 84 and bpm."""
    if word.isalpha() or word.isdecimal():
        return [stem(word[:_WORD_LENGTH])]
    parts = [stem(part[:_WORD_LENGTH]) for part in _PARTS.findall(word)]
    terms = ["".join(parts)[:_WORD_LENGTH], *parts] if len(parts) > 1 else parts
    for part in parts:
        if halves := _CODE.fullmatch(part):
            terms += filter(None, halves.groups())
    return terms


def _folded(char: str) -> str:
    """Fold a character: no accents, simplified Chinese, an emoji becomes a word, other signs separate words."""
    category = unicodedata.category(char)
    if category[0] == "M":
        return ""
    if category == "So":
        return f" u{ord(char):x} "
    if category[0] not in "LN":
        return char if char in "-._'@+" else " "
    if FIRST_HAN <= char <= LAST_HAN or char >= _HAN[0]:
        return _simplifier()(char)
    return unicodedata.normalize("NFKD", char)[0] if char < _FIRST_WITHOUT_ACCENTS else char


_FOLDED = CharacterTable(_folded)
