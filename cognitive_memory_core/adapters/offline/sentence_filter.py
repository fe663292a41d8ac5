"""Selects what in a chat is worth remembering, and its kind, by rules."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from ...domain.event import EventKind
from ...text.lexical.folding import folded
from ...text.statements.episodes import is_episode
from ...text.time.time_words import mentions

MOST = 5  # sentences per message
_SHORTEST = 4  # letters and digits
_DATED_LENGTH = 6
_WISHED_LENGTH = 5
_READ = 1_000

# The pieces of a message.

_MARKERS = re.compile(r"\[[^\[\]\n]{1,60}\]|(?:https?|ftp)://\S+|^(?:@\S{1,40}\s+)+")
_SENTENCE_END = re.compile("[。！!；;\n]+|(?<=[?？])(?=[^?？])")
_CLAUSE_END = re.compile("([，,]|(?<=[一-龥！？!?。]) +(?=[一-龥]))")
_QUOTED = re.compile("「[^「」]*」|“[^“”]*”|《[^《》]*》")
_NO_WORDS = re.compile(r"[\W_]+")
_LEAD_IN = re.compile(
    "(?:(?:那|请|麻烦|你|再)?(?:[帮给替]我)?(?:记住|记下来?|记[个着好]|记一[下个条笔]|备忘)(?:一下)?[:：，,。!！ ]*)?"
    "(?:(?:说正事|说正经的|正事|补一句|顺便说?|另外|对了|宣布一下|先说个事|说个事|那个|哦对|还有)[:：，,。!！ ]+)?"
)

# What is never kept.

_COMMAND = re.compile("[/!！#$]|\\.[a-z]")
_PLEASANTRY = re.compile(  # removed word by word: a repeated group of these alternatives could backtrack without end
    "大家好|各位好|早上好|晚上好|中午好|生日快乐|有人吗|不好意思|对不起|[你您]好|早安|晚安|在吗|在不|谢谢|多谢|感谢|辛苦|收到|好的|可以|没事|抱歉|再见"
    "|加油|恭喜|欢迎|笑死|大家|各位|老师|good ?(?:morning|night)|hello|thanks|okay|yes|thx|lol|hi|ok|no"
    "|[哈嘿呵嘻hw236草牛强赞早好嗯哦噢行拜了啊呀吧哇你们]"
)
_ORDER = re.compile(  # texts that try to set a rule for the bot
    "(?:忽略|无视|忘记|忘掉|覆盖).{0,12}(?:指令|设定|规则|提示|之前|以上|前面|上面|限制)"
    "|(?:以后|今后|往后|从现在(?:开始|起)).{0,12}(?:听我|听从|服从|命令|权限|当我是|先问我|你(?:就|都|得|要)?(?:是|必须|只能|不准|不许|叫|听))"
    "|(?:都|只|先|必须|要)听我(?:的|说)?|不管谁问|你(?:现在|必须|只能|不准|不许|将)(?:是|听|扮演|服从|回答|成为|作为)|扮演"
    "|我(?:才|就)?是.{0,8}(?:管理员|主人|开发者|超级用户|root|superuser|admin)|管理员.{0,6}(?:命令|权限|都听)|叫我(?:主人|爸爸|爹)"
    "|开发者模式|越狱|提示词|系统提示|system ?prompt|jailbreak|(?:system|assistant|developer) ?[:：]"
    "|<[/|]?(?:system|assistant|user|tool|message|memory|cognitive)"
    "|(?:ignore|disregard|forget) (?:(?:all|any|the|your) ){0,3}(?:previous|prior|above|earlier|instructions|rules)"
    "|you are now|from now on,? you|pretend (?:to be|you)|act as "
)
_QUESTION = re.compile(
    "[?？] *$|[吗嘛呢么][~～。！!…]*$|([一-龥])[不没]\\1|[了过齐好完到的]没$|是不是|有没有|知不知道|可不可以"
    "|为什么|为啥|干嘛|怎么办|多少|多久|几点|几号|周几|(?<!没)(?<!没有)(?:什么|啥|谁|哪|怎么|咋)(?!都|也|的都|时候都|[里个儿]都|[里个儿]也|次)"
    "|^(?:what|who|whom|whose|where|when|why|how|which) "
)
_BANTER = re.compile("^(?=.*[你您](?!们))(?!.*我)")

# What is kept.

_WISH = re.compile("记住|记一下|记下来|记得|记[个着好]|帮我记|别忘|提醒|备忘|remember|remind|don't forget")
_TASTE = re.compile(
    "喜欢|最爱|爱[吃喝看玩听用]|就爱|讨厌|受不了|不碰|不[吃喝](?!完|了)|吃素|忌口|过敏|偏好|戒[了烟酒咖掉]|从.{1,8}起戒|上瘾|迷上|粉丝|口味|嗓子会?痒"
    "|怕[黑高水狗蛇虫鬼生]|习惯|宁愿|想吃|最烦|恐高|晕[车船]|会晕|色弱|色盲|左撇子"
    "|(?<![a-z])(?:like|love|hate|prefer)s?(?![a-z])|allergic|vegetarian|vegan|favou?rite"
)
_SELF = re.compile(
    "(?:我|俺|(?<![a-z])i(?![a-z])|(?<![a-z])my(?![a-z])).{0,10}?"
    "(?:是(?!不是|说)|叫|姓|今年|岁|属|住|家在|老家|在.{1,8}(?:上班|工作|读|上学|值班|出差|住)|上班|工作|毕业|读[研博大本高]|大[一二三四]|研[一二三]"
    "|学[过了的]|养|攒|报了|考|入职|辞职|离职|跳槽|换班|搬|买|收了|租|结婚|分手|生日|老婆|老公|媳妇|男朋友|女朋友|对象|女儿|儿子|闺女|爸|妈|外公|外婆"
    "|爷爷|奶奶|室友|医生|确诊|手术|住院|复查|体检|吃药|耳|牙|offer|打算|准备|计划|想(?:学|去|换|买|考|投|做)|要去|决定|负责|写的|做的|垫|借|欠|改名|请.{0,3}假|开车"
    "|am |'m |work|live|study|born|moved?|have a|got a|will |going to|wife|husband|son|daughter|dog|cat)"
)
_SETTLED = re.compile(
    '定了|定在|决定|敲定|暂定|说好|拍板|改[成到为去在用名叫]|[改换]["“《「0-9]|换成|[挪延推].{0,6}(?:到|号|周|期|后|迟)|延一周|提前到|取消|顺延|作废|停[一两三]周|恢复'
    "|截止|交[包稿]|ddl|deadline|上线|发布|入住|退房|开馆|集合|放假|开会|周会|例会|面试|答辩|开题|考试|出发|报名|以后.{0,16}(?:都|就|别|统一|走|不|要)"
    "|从[今明后这下].{0,4}[起开]|规矩|规定|统一|一律|不许|禁止|谁[都也](?:别|不)|按.{1,8}(?:做|来|算)|砍[到掉]|通过|否决|负责|拒绝|不签|签了|中了|入围|锁了"
    "|从.{1,8}[涨降跌升]到|一共|总共|加起来|合计|^(?:会议)?(?:记录|纪要|通知|公告)"
    "|moved? to|changed? to|postponed|cancell?ed|decided|agreed"
)
_FACT = re.compile(
    "生日|电话|手机号|微信|邮箱|地址|公司|单位|学校|专业|职业|网名|真名|本名|叫我|房租|工资|人均|一晚|押[一二三]付|原因是|是因为|包号|端口|路径|平摊|垫付|我垫|保底"
    "|[0-9]{2,9} ?[块元万]|[一二两三四五六七八九十百千万]{1,6} ?[块元万](?=[ ，。]|$)|birthday|phone|e-?mail|address"
)
_CLAIM = re.compile(
    "[^，,。！？!? ]{0,6}(?:[是在有会不没叫住欠偷骗借爱买卖考学读曾说]|喜欢|讨厌|以前|当过|过敏|生日"
    "|结婚|离职|入职|辞职|答应|同意|了$)"
)
_WORTHY = (_TASTE, _SELF, _SETTLED, _FACT)

# The kind of a sentence.

_HOLDS = re.compile(
    "是|叫|姓|住在?|位于|生日|毕业于|就读|工作|职业|专业|电话|邮箱|地址|微信|属于|等于|意思|表示|版本|端口|网址|规矩|规定|岁|养|每[天周月年]"
    "|(?<![a-z])(?:is|are|lives?|works?|means)(?![a-z])"
)
_DATED = re.compile("[0-9]{4}年[0-9]{1,2}月")


def sentences_worth_keeping(message: str, names: Collection[str] = ()) -> list[str]:
    """Return the sentences of a message that are worth remembering, without questions.

    ``names`` are those of other people: claims about them are kept too.
    """
    text = message[:_READ]
    if not has_content(text):
        return []
    sentences = (_without_questions(sentence) for sentence in _sentences(text))
    return [sentence for sentence in sentences if sentence and _is_worth_keeping(sentence, names)][:MOST]


def has_content(message: str) -> bool:
    """Return whether a message has content: it is not a command, an order about the bot's rules, or a mere courtesy."""
    said = _plain(message[:_READ])
    return not _COMMAND.match(said) and not _ORDER.search(said) and _is_substantial(said, _SHORTEST)


def asks(sentence: str) -> bool:
    """Return whether any clause of a sentence is a question."""
    return any(_asks(clause) for clause in _CLAUSE_END.split(sentence)[::2])


def statement_length(message: str) -> int:
    """Return the number of letters and digits in a message's statements, without questions, greetings and commands."""
    text = message[:_READ]
    said = _plain(text)
    if _COMMAND.match(said) or _ORDER.search(said):
        return 0
    content = (_NO_WORDS.sub("", _plain(_without_questions(sentence))) for sentence in _sentences(text))
    return sum(len(_PLEASANTRY.sub("", words)) for words in content)


def kind_of(text: str) -> EventKind:
    """Return a text's kind: "preference", "knowledge" (it holds), or "event" (it happened or will happen)."""
    said = folded(text)
    if _TASTE.search(said):
        return "preference"
    return "knowledge" if _HOLDS.search(said) and not (_DATED.search(said) or is_episode(said)) else "event"


def _plain(text: str) -> str:
    return folded(_MARKERS.sub(" ", text)).strip()


def _is_substantial(said: str, shortest: int) -> bool:
    core = _NO_WORDS.sub("", said)
    return len(core) >= shortest and bool(_PLEASANTRY.sub("", core))


def _sentences(text: str) -> Iterator[str]:
    for piece in _SENTENCE_END.split(text):
        sentence = piece.strip()
        lead_in = _LEAD_IN.match(folded(sentence))
        yield sentence[lead_in.end() if lead_in else 0 :]


def _without_questions(sentence: str) -> str:
    """Remove the questions from a sentence."""
    pieces = _CLAUSE_END.split(sentence)
    content = [
        (clause, mark) for clause, mark in zip(pieces[::2], [*pieces[1::2], ""], strict=True) if not _asks(clause)
    ]
    return "".join(clause + mark for clause, mark in content).strip(" ，,")


def _asks(clause: str) -> bool:
    return bool(_QUESTION.search(_QUOTED.sub("", folded(clause)).strip()))


def _is_worth_keeping(sentence: str, names: Collection[str]) -> bool:
    said = _plain(sentence)
    if not _is_substantial(said, _SHORTEST):
        return False
    if _WISH.search(said):
        return _is_substantial(said, _WISHED_LENGTH)
    if _BANTER.match(said):
        return False
    return any(words.search(said) for words in _WORTHY) or _is_dated(said) or _claims(said, names)


def _is_dated(said: str) -> bool:
    kinds = (mention.kind for mention in mentions(said))
    return _is_substantial(said, _DATED_LENGTH) and any(
        kind in ("absolute", "yearless", "relative", "open") for kind in kinds
    )


def _claims(said: str, names: Collection[str]) -> bool:
    """Return whether a sentence claims something about a person whose name is among ``names``."""
    found = ((name, said.find(folded(name))) for name in names)
    return any(at >= 0 and _CLAIM.match(said, at + len(name)) for name, at in found)
