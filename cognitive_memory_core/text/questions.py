"""What a question asks for: a number, who somebody is, its asker; and whether a line has a number."""

from __future__ import annotations

import re

from .characters import folded, lazy
from .tokens import sentences_of

_ASKED = re.compile(r"[？?][”’」』】〕）)\"']*\s*$")


def asked_sentences(text: str) -> list[str]:
    """Return the sentences of a text that end with a question mark; [] if none or all of them do.

    Marks alone, such as those that a line begins with, are no sentence.
    """
    sentences = [one for one in sentences_of(text) if any(map(str.isalnum, one))]
    asked = [one for one in sentences if _ASKED.search(one)]
    return asked if len(asked) < len(sentences) else []


QUESTION_READ = 600  # characters of a question, or of a line that may answer it
_ASKS = lazy(
    "(?<!没)(?<!没.)(?<!没..)(?<!没...)多少(?!有点|有些)|几[点个次天岁条位成分块楼页张台]|多[大久长远高快贵]|(?<!评)价(?!值)|花了|版本|收费|收钱|bpm"
    "|(?<![a-z])(?:how (?:many|much|long|old|often|far|tall|big)|what (?:time|price|size|percentage|number)|which year)"
    "(?![a-z])"
)
_HOLDS = lazy(
    "[0-9]|[一二两三四五六七八九十百千万半][个点号块元天月年岁次条位成分周%毛张]"
    "|(?<![a-z])(?:one|two|three|four|five|six|seven|eight|nine|ten|twice|dozen|hundred)(?![a-z])"
)


def asks_for_number(text: str) -> bool:
    """Return whether a question asks for a number, a price, an hour or a size.

    If any sentence has a question mark, only sentences with one are examined: the others tell of something else.
    """
    read = folded(text[:QUESTION_READ])
    return any(_ASKS.search(one) for one in asked_sentences(read) or (read,))


def holds_number(text: str) -> bool:
    """Return whether a line contains a number, in figures or in words."""
    return bool(_HOLDS.search(folded(text[:QUESTION_READ])))


_QUESTION_END = r"[\s。．.！!？?~～呀啊呢吗嘛吧不没么了]*$"
_KNOWN = "(?:记得|认得|认识|知道|了解|晓得)"
_IDENTITY = lazy(
    f"(?:我(?:到底|究竟)?是(?:谁|哪位|什么人)|我叫(?:什么|啥)(?:名字?)?|我(?:的)?(?:名字|身份)(?:是|叫)?(?:什么"
    f"|啥)?){_QUESTION_END}"
    f"|(?:还|都)?{_KNOWN}(?:不{_KNOWN})?我(?:是谁|叫什么|叫啥|的名字|多少|什么|哪些)?{_QUESTION_END}"
    "|对我(?:有)?(?:多少|什么|哪些)?(?:的)?(?:了解|印象|认识|记忆)"
    f"|(?:介绍|说说|聊聊|描述|总结|评价)(?:一下)?我(?:自己|这个人)?{_QUESTION_END}"
    f"|我是(?:做什么|干什么|干嘛|干啥)的{_QUESTION_END}|我是(?:个)?(?:什么样|怎样|怎么样)的人"
    f"|^[^，,。！!？?\\s的]{{1,12}}(?:是谁|是什么人|是哪位){_QUESTION_END}"
    f"|^谁是(?!群主|管理|老大|第|最)[^，,。！!？?\\s的]{{1,12}}[呀啊呢？? ]*$"
    r"|\bwho(?:m)? (?:am i|i am)\b|\bremember (?:me|who i am|my name)\s*[?!.]*$|\bwhat(?:'s| is) my name\b"
    r"|\bdo you (?:know|recognize|recognise) me\s*[?!.]*$|\b(?:know|remember)(?: anything| something)? about me\b"
    r"|\btell me about (?:me|myself)\b|\bdescribe me\b"
    r"|^(?:so |and )?who(?:'s| is| was) (?!it\b|there\b|that\b|this\b)[\w.'-]+(?: [\w.'-]+)?\s*[?!.]*$"
)
_ONESELF = lazy(
    "(?<!告诉)(?<!提醒)(?<![帮给跟教让替请陪带自叫借问])(?:我(?!们|国|校|司|方|靠|去|勒|操|晕|的天|想[知问]|问"
    "|记得|觉得|听说|看[看见]?到?[了过]?$)|俺|本人)"
    r"|\b(?:i|my|mine|myself)\b"
    r"|(?<!tell )(?<!show )(?<!give )(?<!help )(?<!let )(?<!remind )(?<!excuse )(?<!ask )\bme\b"
)


def asks_who(said: str) -> bool:
    """Return whether a question asks who somebody is: 我是谁, 你还记得我吗, who is Kay."""
    return bool(_IDENTITY.search(folded(said[:QUESTION_READ]).strip()))


def speaks_of_asker(said: str) -> bool:
    """Return whether a question is about its asker, among others: 我对什么过敏, but not 告诉我谁过敏."""
    return bool(_ONESELF.search(folded(said[:QUESTION_READ])))
