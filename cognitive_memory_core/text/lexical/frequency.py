"""Frequent characters and words, which say little about the topic of a text."""

from __future__ import annotations

import math
import re

# Modern Chinese by descending frequency, with the particles of chat moved to the front.
COMMON_CHARACTERS = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里吗呢吧啊呀嘛哦嗯哈哪谁怎什么把又"
    "用道行所然家种事成方多经去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长机十民第公此已工使情"
    "明性知全三关点正业外将两高间由问很最重并物手应战向头文体政美相见被利二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通"
    "教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命"
    "山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望"
    "觉术领共确传师观清今切院让识候带导争运"
)
_RANK = {char: rank for rank, char in enumerate(COMMON_CHARACTERS)}
_LEAST = 0.2

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
_FORMULA = re.compile(
    f"{'|'.join(sorted(_FORMULAS.split(), key=len, reverse=True))}|(?<![a-z0-9])(?:{_ENGLISH_FORMULAS})(?![a-z0-9])"
    "|^早$|^行$|\\+1|(\\w)\\1{2,}|23{2,}|[\u2600-\u27bf\U0001f000-\U0001faff]",
    re.IGNORECASE,
)


def without_formulas(text: str) -> str:
    """Return a text without greetings, farewells, thanks, assent, laughter and emoji."""
    return _FORMULA.sub(" ", text)


def _weight(rank: int) -> float:
    return _LEAST + (1.0 - _LEAST) * math.log1p(rank) / math.log1p(len(_RANK))


_WEIGHT = {char: _weight(rank) for char, rank in _RANK.items()}


def telling(char: str) -> float:
    """Return the weight of a character in (0, 1]: below 1 for the few hundred most frequent ones, else 1."""
    return _WEIGHT.get(char, 1.0)


def telling_of(term: str) -> float:
    """Return the product of the weights of a term's characters, in (0, 1]."""
    return math.prod([_WEIGHT.get(char, 1.0) for char in term])
