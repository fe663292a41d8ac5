"""Chooses, without a model, the passages of a chat line that become memories; stricter than the triage filter."""

from __future__ import annotations

import re
from collections.abc import Collection

from ...text.lexical.folding import folded
from ...text.time.time_words import mentions
from .lasting_facts import lasting_clause
from .sentence_filter import asks, has_content, sentences_worth_keeping

MOST = 5  # passages of one message
ENOUGH = 3  # points
WHOLE = 120  # characters up to which the sentences that are kept of a message stay one passage
_READ = 1_000
_SENTENCE_END = re.compile("(?<=[。！!？?\n])(?![。！!？?”」』\n])|(?<=[；;])(?=.{60})")
_TURN = re.compile(" ?(?:改|换成|推迟|取消|算了|不过|但|而是|还是|结果|后来|现在又|不[^，。！？!? ]{1,6}了)")
_ENDS = "。！!；; \n"
_EDGES = " ，,、；;：:\n\t"
_MARKERS = re.compile(r"\[[^\[\]\n]{1,60}\]|https?://\S+")
_PASSING_DAYS = frozenset(("今天", "今日", "今晚", "今早", "现在", "刚才", "刚刚"))
_NO_WORDS = re.compile(r"[\W_]+")
_HAN = re.compile("[一-龥]")

_JOKE = re.compile(
    "[(（](?:不是.?|bushi|狗头|doge|误|划掉|嘘|急|大雾|并不|才怪|开玩笑|逃|滑稽|手动.{0,4})[)）]?|🐶|🙃|🤡"
    "|\\[(?:狗头|doge|滑稽|旺柴|坏笑)\\]"
    "|狗头保命|不是\\)|bushi|开玩笑|逗你|骗你|才怪|信你个鬼|我是[猪狗](?!年)|是我[爹爸儿]|经研究决定|中了.{0,4}百?万|我宣布|盲猜|梦到|愚人节"
    "|磕头|跪下|打死我|杀了|救命|笑死|笑到|好家伙|离谱|再.{1,6}我.{0,2}把你|(?:哈|嘿|h){3}|hh+$|233|草$|绝了"
)
_TAKEN_BACK = re.compile("逗你|骗你的|开玩笑|瞎说|瞎编|打错|说错|当我没说|我乱说|愚人节|没有的事|口误|记错")
_SLIP = re.compile("(?:刚才?|我|上面)?(?:打错|说错|写错|记错|口误|手误)[了的啦]?")
_EARNEST = re.compile("正经|正事|认真|真的|不开玩笑")
_LEANS_ON_ANOTHER = re.compile(
    "^(?:那[个些种位]|这[个些种位](?!月|周|星期|礼拜|学期|季度|群)|[它他她]|前者|后者|对[，, ]|不[，, ]|不是"
    "|是(?![我因为要否])|那不|那是|这是|哦|嗯|啊|[?？]|也是|就是|一样|同上|同意|附议|没放|开 )|那[位个]$"
)
_ERRANDS = "我去买|上麦|爬楼|报忌口|午饭|聚餐|茶水间|会议室|在路上|到家|吃啥|先睡|改名|截图|发我|我发你|轻问|别忘"
_STATES = "收到|好的|没问题|辛苦|感谢|恭喜|来了来了|我也想|符合预期|体感|今天没|正常推进|在干嘛"
_PASSING = re.compile(f"{_ERRANDS}|{_STATES}|(?:一下|看看|继续)$|等[会下]|分钟后|简单(?:说|同步|过)")
_MOOD = re.compile(
    "好专业|啥都|不习惯|只是累|差点|挺喜欢|好哭|太[一-龥]{1,4}了|怪不得|像.{1,6}一样"
    "|[?？].{0,3}$|[吗呢吧][。.！!~～ ]*$|嘛$|😂|😭|🤣|🎉"
)
_RULE = re.compile(
    "以后.{0,16}(?:都|就|别|统一|走|不|要|改|叫)|(?:从|自).{1,6}[起开]|规矩|规定|统一|一律|不许|禁止|不准|必须"
    "|谁[都也](?:别|不)|(?<![差区分级特类告性识])别(?!的|人|处|急|吵|闹|担心|怕|客气|告诉|提|说了|啊|传|忘|动$|想)"
    "|照旧|没有?谁说了算|一起商量|得.{0,8}才|要求|每(?:周|天|月|晚|个?星期|趟)|不能[用吃喝]|自觉|写进"
)
_DECISION = re.compile(
    '定了|定在|决定|敲定|暂定|拍板|改[成到为用去]|改["“《「0-9]|换成|[挪延推]到?[^一-龥]|挪|推迟|延[一期到迟]|取消|顺延|作废|停[一两三]周|恢复|截止|交包|砍[到掉]'
    "|[大小高低快慢涨降升跌减加少多压提]到(?![了的底场家])|否决|通过了|不签|签了|入围|锁了|退回|归零|负责|认领|截至|投票|新增|上线|验收|灰度|反馈|目标|冻结|口径|预计|计划|方案|策略|路径|标准|风险|问题|原因"
    "|发现|报警|迁移|接入|支持|调[整到]|更新|版本|指标|需要|建议|优先|默认"
)
_DISCLOSURE = re.compile(
    "过敏|忌口|不吃|吃素|医生|体检|复查|确诊|医院|挂水|发烧|手术|智齿|色弱|左撇子|疫苗|戒[了烟酒咖]|讨厌|受不了|打死不|最爱|就爱"
    "|offer|入职|辞职|离职|面试|考试|考研|雅思|论文|秋招|开题|答辩|毕业|大学|出差|驻场|值班|换班|请.{0,3}假|退群|退组|负责|认领|归我"
    "|房租|租|搬|生日|室友|表姐|我[妈爸]|外公|外婆|闺女|女儿|儿子|养|[猫狗](?!头)|前东家|以前.{0,6}[在当做]|攒钱|欠(?!佳|缺|妥)|垫|借(?![口此鉴着题])"
    "|不在|来不了|到不了|回来了|高铁|开车|出发|集合|入住|放假"
)
_NUMBER = re.compile(
    "[0-9]+(?:[.:：/x×-][0-9]+)*[%万千块元天周月年号点分米人张间格帧票条行次遍个岁寸套版期ms]*|[一两二三四五六七八九十百千]+[块万千百张间人杯格帧票条位步层趟遍寸折岁个](?!人$)"
)
_NAMED = re.compile(
    '《[^《》]+》|["“「][^"”」]{2,}["”」]|[a-z][a-z0-9_+.-]{2,}(?=.*[一-龥])|[一-龥].*[a-z][a-z0-9_+.-]{2,}'
)
_TROUBLE = re.compile(
    "崩[了溃]|必崩|报错|闪退|卡死|黑屏|没声|编不过|坏了|丢了|修[了好复]|失灵|故障|漏洞|bug|误[判合注]|错位|超时|宕机|断网"
)
_HEARSAY = re.compile("听(?:人|别人|朋友)?说|据说|传闻|八卦|小道消息")
_CAUSE = re.compile("因为|原因|所以|不然|理由|由于|导致|免得|省得|怕.{2,}|结果|其实|原来|但(?!是)|不过")
_WISH = re.compile("帮我记|记一[下个]|记住|记着|提醒我|记得.{3,}|备忘|remember|remind")
_CONTENT = ((10, 1), (18, 1))  # letters and digits from which a passage gets a point
_SHORTEST = 4
_SHORTEST_CORRECTION = 2  # letters besides the word that says that something was wrong
_LETTERS = 3  # of a text without Chinese characters that tell as much as one of those
_THIN = 9  # letters and digits below which only a number, a rule or something personal tells enough
_FIRM = (_RULE, _DISCLOSURE, _NUMBER, _WISH)
_WEIGHTS = (
    (_RULE, 2),
    (_DECISION, 2),
    (_DISCLOSURE, 2),
    (_NUMBER, 1),
    (_NAMED, 1),
    (_TROUBLE, 2),
    (_CAUSE, 1),
    (_WISH, 3),
    (_LEANS_ON_ANOTHER, -3),
    (_HEARSAY, -5),
    (_PASSING, -2),
    (_MOOD, -2),
    (_JOKE, -6),
)


def chosen(message: str, names: Collection[str] = ()) -> list[str]:
    """Return the passages of a message that are worth remembering, verbatim; ``names`` are those of other people.

    Neighbouring sentences stay one passage, so that a reversal (不去…改…) is not split.
    """
    text = message[:_READ]
    if not has_content(text) or is_joke(text):
        return []
    return [text[start:stop].strip(_EDGES) for start, stop in _kept_spans(text, names)][:MOST]


def is_joke(message: str) -> bool:
    """Return whether a message says or shows that it is not meant seriously."""
    return bool(_JOKE.search(folded(message[:_READ])))


def is_short_lived(message: str) -> bool:
    """Return whether a message is about an errand, or a state that ends within the hour."""
    return bool(_PASSING.search(folded(message[:_READ])))


def retracts(message: str) -> bool:
    """Return whether a message says that something said before was a joke or a mistake."""
    return bool(_TAKEN_BACK.search(folded(message[:_READ])))


def corrected_line(message: str, wrong: str) -> str:
    """Return the line ``wrong`` as corrected by ``message``, in one sentence; "" if ``message`` corrects nothing."""
    read = folded(message[:_READ])
    slip = _SLIP.search(read)
    if not slip or len(_NO_WORDS.sub("", read[: slip.start()] + read[slip.end() :])) < _SHORTEST_CORRECTION:
        return ""
    return f"{_SENTENCE_END.split(wrong[:_READ].strip(_ENDS))[-1].strip(_ENDS)} {message[:_READ]}"


def is_serious(message: str) -> bool:
    """Return whether a message says of itself that it is meant seriously."""
    return bool(_EARNEST.search(folded(message[:_READ])))


def content_score(sentence: str, names: Collection[str] = ()) -> int:
    """Return how much a sentence tells, in points; a sentence with ``ENOUGH`` points is worth remembering."""
    read = _MARKERS.sub("", folded(sentence)).strip(_EDGES)
    length = _length(_NO_WORDS.sub("", read))
    is_worthy = bool(sentences_worth_keeping(sentence, names))
    if length < _SHORTEST or (asks(sentence) and not is_worthy):
        return 0
    total = sum(weight for words, weight in _WEIGHTS if words.search(read))
    total += sum(weight for least, weight in _CONTENT if length >= least)
    is_lasting = lasting_clause(sentence, names) is not None
    total += 3 if is_lasting else 0
    total += 1 if is_dated(sentence) else 0
    total += 1 if len(_NUMBER.findall(read)) > 1 else 0
    total -= 2 if length < _THIN and not is_lasting and not any(words.search(read) for words in _FIRM) else 0
    return total + (2 if is_worthy else 0)


def _length(letters: str) -> int:
    return len(letters) if _HAN.search(letters) else len(letters) // _LETTERS


def _kept_spans(text: str, names: Collection[str]) -> list[tuple[int, int]]:
    """Return the spans of the passages worth remembering; neighbouring sentences are joined while they are short.

    A sentence that reverses the one before it (不去…改…) is kept together with it, or neither is kept.
    """
    runs: list[tuple[int, int]] = []
    at = previous = 0
    for end in (*(match.end() for match in _SENTENCE_END.finditer(text)), len(text)):
        is_turn = at > 0 and bool(_TURN.match(text, at))
        is_after_kept = bool(runs) and runs[-1][1] == at
        if content_score(text[at:end], names) >= ENOUGH or (is_turn and is_after_kept):
            start = runs.pop()[0] if is_after_kept and (is_turn or end - runs[-1][0] <= WHOLE) else at
            runs.append((previous if is_turn and start == at else start, end))
        at, previous = end, at
    return runs


def is_dated(sentence: str) -> bool:
    """Return whether a sentence names a day other than the present one."""
    kinds = ("absolute", "yearless", "relative", "open")
    found = (mention for mention in mentions(sentence) if mention.kind in kinds)
    return any(sentence[mention.start : mention.stop] not in _PASSING_DAYS for mention in found)
