"""Questions who somebody is, and questions about the asker, recognised by their words."""

from __future__ import annotations

from ..characters import folded
from ..patterns import Pattern

READ = 400  # characters of a question that are read

_END = r"[\s。．.！!？?~～呀啊呢吗嘛吧不没么了]*$"
_KNOWN = "(?:记得|认得|认识|知道|了解|晓得)"
_IDENTITY = Pattern(
    f"(?:我(?:到底|究竟)?是(?:谁|哪位|什么人)|我叫(?:什么|啥)(?:名字?)?|我(?:的)?(?:名字|身份)(?:是|叫)?(?:什么"
    f"|啥)?){_END}"
    f"|(?:还|都)?{_KNOWN}(?:不{_KNOWN})?我(?:是谁|叫什么|叫啥|的名字|多少|什么|哪些)?{_END}"
    "|对我(?:有)?(?:多少|什么|哪些)?(?:的)?(?:了解|印象|认识|记忆)"
    f"|(?:介绍|说说|聊聊|描述|总结|评价)(?:一下)?我(?:自己|这个人)?{_END}"
    f"|我是(?:做什么|干什么|干嘛|干啥)的{_END}|我是(?:个)?(?:什么样|怎样|怎么样)的人"
    f"|^[^，,。！!？?\\s的]{{1,12}}(?:是谁|是什么人|是哪位){_END}"
    f"|^谁是(?!群主|管理|老大|第|最)[^，,。！!？?\\s的]{{1,12}}[呀啊呢？? ]*$"
    r"|\bwho(?:m)? (?:am i|i am)\b|\bremember (?:me|who i am|my name)\s*[?!.]*$|\bwhat(?:'s| is) my name\b"
    r"|\bdo you (?:know|recognize|recognise) me\s*[?!.]*$|\b(?:know|remember)(?: anything| something)? about me\b"
    r"|\btell me about (?:me|myself)\b|\bdescribe me\b"
    r"|^(?:so |and )?who(?:'s| is| was) (?!it\b|there\b|that\b|this\b)[\w.'-]+(?: [\w.'-]+)?\s*[?!.]*$"
)
_ONESELF = Pattern(
    "(?<!告诉)(?<!提醒)(?<![帮给跟教让替请陪带自叫借问])(?:我(?!们|国|校|司|方|靠|去|勒|操|晕|的天|想[知问]|问"
    "|记得|觉得|听说|看[看见]?到?[了过]?$)|俺|本人)"
    r"|\b(?:i|my|mine|myself)\b"
    r"|(?<!tell )(?<!show )(?<!give )(?<!help )(?<!let )(?<!remind )(?<!excuse )(?<!ask )\bme\b"
)


def prepare() -> None:
    """Compile the patterns ahead of the first question; takes about ten milliseconds."""
    for pattern in (_IDENTITY, _ONESELF):
        pattern.compiled  # noqa: B018  # compiled on first access


def asks_who(said: str) -> bool:
    """Return whether a question asks who somebody is: 我是谁, 你还记得我吗, who is Kay."""
    return bool(_IDENTITY.compiled.search(folded(said[:READ]).strip()))


def speaks_of_asker(said: str) -> bool:
    """Return whether a question is about its asker, among others: 我对什么过敏, but not 告诉我谁过敏."""
    return bool(_ONESELF.compiled.search(folded(said[:READ])))
