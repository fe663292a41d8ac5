"""The intent of a question, recognised by its words."""

from __future__ import annotations

from typing import Literal

from ..lexical.folding import folded
from ..patterns import Pattern

Intent = Literal["identity", "code", "preference", "experience", "knowledge", "general"]
READ = 400  # characters of a question that are read

_END = r"[\s。．.！!？?~～呀啊呢吗嘛吧不没么了]*$"
_KNOWN = "(?:记得|认得|认识|知道|了解|晓得)"
_IDENTITY = (
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
_CODE = (
    r"```|`[^`\n]+`|=>|==|!=|&&|\|\||\w+\(\)|[a-z_]\w*\.[a-z_]\w*\(|\b\w+(?:error|exception)\b|\btraceback\b"
    r"|\bstack ?trace\b"
    r"|\bsegfaults?\b|\bdef \w+\(|\bimport \w+$|\b(?:select|insert|update|delete) .* (?:from|into|set)\b"
    r"|\b0x[0-9a-f]{4,}\b"
    r"|\b(?:python|javascript|typescript|java|kotlin|rust|golang|c\+\+|c#|php|ruby|html|css|sql|regex|regexp|json"
    r"|yaml"
    r"|git|npm|pnpm|pip|docker|kubernetes|k8s|linux|bash|asyncio|numpy|pandas|django|flask|fastapi|nginx|redis|mysql"
    r"|postgres(?:ql)?|sqlite|webpack|vue|react|api|sdk|cors|compil(?:e|er|es|ing|ation)|debug(?:ging|ger)?)(?![a-z])"
    "|代码|编程|报错|异常栈|堆栈|正则|编译|调试|函数|变量|语法错误|(?:for|while) ?循环|死循环|数组|多线程|线程池"
    "|协程|脚本|接口文档|空指针|死锁|数据库(?:语句|查询|索引)|命令行"
)
_PREFERENCE = (
    "喜欢|喜好|偏好|偏爱|最爱|爱(?:吃|喝|看|听|玩|用|穿|去|好|不爱)|讨厌|口味|忌口|兴趣|不(?:吃|喝|爱|感冒)|想吃"
    "|习惯|平时(?:都|最)?[吃喝看听玩用穿]|怕(?:不怕)?(?:辣|冷|热|黑|高|吵|苦|甜|狗|猫|虫)|宁愿|更愿意|钟爱"
    "|受不了|中意|吃不吃|喝不喝"
    r"|\b(?:like|likes|liked|dislike|dislikes|love|loves|hate|hates|enjoy|enjoys|prefer|prefers|preferred"
    r"|preferences?"
    r"|favou?rites?|hobby|hobbies|fond of|keen on|into|allerg(?:y|ies)|tastes?)\b"
)
_NOT_LIKING = (
    r"\b(?:what|how|who|that|this|looks?|feels?|sounds?|just|something|anything|people|stuff|things|seems?) (?:is "
    r"|was |does it )?like\b"
    r"|\b(?:would|'d) like to\b|\bwhat (?:is|was|does|did) .{1,40}? (?:look |feel |sound )?like\s*[?!.]*$"
    r"|\b(?:go|going|went|ran|run|running|come|came|got|get|move|moved|turned|looked|looking|put|break|broke) into\b"
)
_EXPERIENCE = (
    "(?:怎么|咋|如何|怎样)(?:样)?(?:才)?(?:解决|处理|修|搞定|弄好|弄的|搞的|办|应对|恢复|救)|(?:解决|处理|搞定"
    "|修好)(?:了吗|的吗|办法|方案|方法)"
    "|(?:遇到|碰到|碰上|经历|试|用|踩|走|做|去|学)过|踩(?:了|的)?坑|经验|教训|翻车|(?:后来|最后|结果)(?:怎么|咋)"
    "|(?:怎么|咋)(?:弄|搞)的|办法(?:吗|没)|修好|解决的"
    r"|\bhow (?:did|do|can|could|should|would) (?:we|you|i|they|he|she|\w+) (?:\w+ )?(?:fix|solve|handle|deal"
    r"|resolve|repair|recover|cope|get (?:over|rid of|out of))"
    r"|\b(?:ran|run) into\b|\b(?:experience|experiences|lessons?|workaround|pitfalls?|troubleshoot\w*)\b"
    r"|\bwhat (?:went wrong|worked|helped)\b"
    r"|\b(?:has|have|had) (?:anyone|anybody|you|we|someone) (?:ever )?(?:\w+ed|seen|done|had|been|dealt)\b"
    r"|\b(?:anyone|anybody|somebody|someone) (?:ever )?(?:tried|used|dealt|visited)\b"
)
_KNOWLEDGE = (
    "什么是|什么叫|是(?:个)?什么(?:意思|东西|概念|原理|规则)?[呀啊呢？?]*$|(?:什么|啥)意思|含义|定义|原理|概念"
    "|解释|科普|为什么|为啥|区别|差别|规则|规定|规矩|群规|流程"
    "|怎么理解|怎么(?:算|定义|规定)|百科|知识"
    r"|\b(?:what(?:'s| is| are) (?:a|an|the)\b(?! (?:time|date|plan|weather|matter|name)\b)|mean|means|meaning"
    r"|explain|explanation|definition"
    r"|define|difference between|how does .+ work|how do .+ work|why (?:is|are|does|do)|rules?|facts? about)\b"
    r"|\bwhat are \w+\s*[?!.]*$"
)
_RULES: tuple[tuple[Intent, Pattern], ...] = (
    ("identity", Pattern(_IDENTITY)),
    ("code", Pattern(_CODE)),
    ("preference", Pattern(_PREFERENCE)),
    ("experience", Pattern(_EXPERIENCE)),
    ("knowledge", Pattern(_KNOWLEDGE)),
)
_NOT_TASTES = Pattern(_NOT_LIKING)
_ONESELF = Pattern(
    "(?<!告诉)(?<!提醒)(?<![帮给跟教让替请陪带自叫借问])(?:我(?!们|国|校|司|方|靠|去|勒|操|晕|的天|想[知问]|问"
    "|记得|觉得|听说|看[看见]?到?[了过]?$)|俺|本人)"
    r"|\b(?:i|my|mine|myself)\b"
    r"|(?<!tell )(?<!show )(?<!give )(?<!help )(?<!let )(?<!remind )(?<!excuse )(?<!ask )\bme\b"
)


def prepare() -> None:
    """Compile the patterns ahead of the first question; takes about ten milliseconds."""
    for pattern in (*(pattern for _, pattern in _RULES), _NOT_TASTES, _ONESELF):
        pattern.compiled  # noqa: B018  # compiled on first access


def intent_of(said: str) -> Intent:
    """Return the first intent whose words occur in a question, "general" if there is none."""
    text = folded(said[:READ]).strip()
    for intent, pattern in _RULES:
        if pattern.compiled.search(_NOT_TASTES.compiled.sub(" ", text) if intent == "preference" else text):
            return intent
    return "general"


def speaks_of_asker(said: str) -> bool:
    """Return whether a question is about its asker, among others: 我对什么过敏, but not 告诉我谁过敏."""
    return bool(_ONESELF.compiled.search(folded(said[:READ])))
