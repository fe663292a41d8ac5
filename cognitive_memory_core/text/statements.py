"""What a sentence says: relative words, figures, what lasts, and what it asks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Literal

from ..domain.event import EventKind
from .characters import cleared_on_erasure, folded, lazy
from .names import MASK, Span, blanked, named, plain, quoted
from .time.time_rules import LEANS, TimeSpan, day
from .time.time_words import READ, clocks, is_time, leaning, mentions
from .time.vocabulary import worth

Kind = Literal["pronoun", "time", "place"]


@dataclass(frozen=True)
class Offence:
    """One context-dependent word; ``word`` is as written in the text."""

    kind: Kind
    word: str


# --- Chinese -----------------------------------------------------------------------------------------------------

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

# --- English -----------------------------------------------------------------------------------------------------

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


@cleared_on_erasure
@lru_cache(maxsize=10_000)  # the names of a busy bot's groups are looked up for every line
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


_LONGEST_DAY = timedelta(days=1, hours=12)  # an evening extends into the night
_LEAP = datetime(2024, 2, 29)  # noqa: DTZ001  # wall-clock times throughout; a year with a 29 February
FORTNIGHT = 14  # days around a line within which a weekday that it names may be meant
ID_LABEL = re.compile(r"[(（][0-9A-Za-z_-]{1,128}[)）]")
_NUMBER = re.compile(
    "(?:(?P<digits>[0-9]+(?:[.,][0-9]+)*)(?:块(?P<dimes>[0-9]{1,2})(?![0-9]))?"
    "(?:[ ]?(?P<scale>[千万亿]|[kw](?![a-z]))(?P<rest>[1-9一二三四五六七八九](?![0-9]))?)?"
    "|(?P<han>[零〇一二两三四五六七八九十百千万亿]{1,32}))[号日]?",
    re.IGNORECASE,
)
_SCALES = {"千": 1e3, "k": 1e3, "万": 1e4, "w": 1e4, "亿": 1e8}
_WEEKDAY = re.compile("(?:周|星期|礼拜)([一二三四五六日天])(?!期)")
_FEW = 2  # 一 and 两 are in every other word (一起, 两边) and count nothing by themselves


@dataclass(frozen=True)
class Line:
    """A text with the instant at which it was said, in the zone of its place; None if that is unknown."""

    text: str
    when: datetime | None = None


def strange_figures(statement: str, lines: Sequence[Line], names: Collection[str] = ()) -> list[str]:
    """Return the days, times and numbers of a statement, as written in it, that none of its lines has."""
    walls = [line.when and line.when.replace(tzinfo=None) for line in lines]  # equal instants may be different days
    whens = [when for when in walls if when]
    told = _figures(statement, max(whens, default=None), tuple(names))
    given = [_figures(line.text, wall, tuple(names)) for line, wall in zip(lines, walls, strict=True)]
    numbers = {value for one in given for value in one.values}
    clocks = {at for one in given for _, at, _ in one.clocks}
    said_at = {(when.hour % 12) * 60 + when.minute for when in whens}
    times, hours = clocks | said_at, clocks or said_at  # beside a time, the hour in which it was said vouches for none
    spans = [span for one in given for _, of_word in one.days for span in of_word]
    spans += [day(when) for when in whens]
    named_weekdays = {weekday for one in given for weekday in one.weekdays}
    weekdays = named_weekdays | {_weekday(one) for one in spans if one.stop - one.start <= _LONGEST_DAY}
    if named_weekdays:
        near = (when + timedelta(days=step) for when in whens for step in range(-FORTNIGHT, FORTNIGHT + 1))
        spans += [one for one in map(day, near) if _weekday(one) in named_weekdays]
    strange: list[str] = []
    for word, of_word in told.days:  # a day must lie in one of the spans, or a line have its number
        is_known = any(one.start < other.stop and other.start < one.stop for one in of_word for other in spans)
        has_number = any(one.start.day in numbers for one in of_word if one.stop - one.start <= _LONGEST_DAY)
        strange += [word] if of_word and not (is_known or has_number) else []
    strange += [f"周{one}" for one in told.weekdays if one not in weekdays]
    for word, at, is_whole in told.clocks:
        is_hour = any(at // 60 == other // 60 for other in hours) or (at // 60 or 12) in numbers
        if not (at in times or at // 60 * 60 in times or (is_whole and is_hour)):
            strange.append(word)
    days = {float(one.start.day) for one in spans if one.stop - one.start <= _LONGEST_DAY}
    return [
        *strange,
        *(word for word, value in told.numbers if value not in numbers and not (word[-1] in "号日" and value in days)),
    ]


def values_of(text: str, names: Collection[str] = ()) -> frozenset[object]:
    """Return the days, times and numbers of a text, for comparison with those of another one."""
    found = _figures(text, None, tuple(names))
    days = (span for _, spans in found.days for span in spans[:1])
    times = (at for _, at, _ in found.clocks)
    return frozenset((*days, *found.weekdays, *(f":{at}" for at in times), *(value for _, value in found.numbers)))


@dataclass(frozen=True)
class _Figures:
    """The figures of one text, with the words for them; ``values`` also has the numbers too common for ``numbers``."""

    days: tuple[tuple[str, tuple[TimeSpan, ...]], ...]
    weekdays: frozenset[str]
    clocks: tuple[tuple[str, int, bool], ...]
    numbers: tuple[tuple[str, float], ...]
    values: frozenset[float]


@cleared_on_erasure
@lru_cache(maxsize=512)  # the lines of a job and the facts of a profile are compared with each statement made of them
def _figures(text: str, when: datetime | None, names: tuple[str, ...]) -> _Figures:
    rest = plain(text)
    rest = blanked(rest, (*(one.span() for one in ID_LABEL.finditer(rest)), *named(rest, names, is_time)))
    found = [one for one in mentions(rest) if one.kind not in ("now", "vague")]
    dated = [one for one in found if one.kind not in ("open", "habit") or not _WEEKDAY.search(one.text)]
    days: list[tuple[str, tuple[TimeSpan, ...]]] = []
    for one in dated:  # a date without a year may be a year off
        spans = [span for lean in LEANS if (span := one.at(when or _LEAP, lean))]
        steps = [timedelta(days=365 * years) for years in ((0, -1, 1) if one.kind == "yearless" else (0,))]
        of_word = tuple(TimeSpan(span.start + step, span.stop + step) for span in spans for step in steps)
        days.append((rest[one.start : one.stop], of_word))
    weekdays = list(_WEEKDAY.finditer(rest))
    rest = blanked(rest, (*((one.start, one.stop) for one in found), *(one.span() for one in weekdays)))
    times = list(clocks(rest))
    every = list(numbers_in(blanked(rest, [(start, stop) for start, stop, _, _ in times])))
    return _Figures(
        tuple(days),
        frozenset(one[1].replace("天", "日") for one in weekdays),
        tuple((rest[start:stop].strip(), at, whole) for start, stop, at, whole in times),
        tuple((word, value) for word, value in every if word[0].isascii() or value > _FEW),
        frozenset(value for _, value in every),
    )


def numbers_in(text: str) -> Iterator[tuple[str, float]]:
    """Yield the numbers of a text, as written and as values."""
    for found in _NUMBER.finditer(text):
        if found["han"]:
            yield found[0], float(worth(found["han"]))
            continue
        digits = found["digits"].replace(",", "")
        if digits.count(".") > 1:  # a version
            yield found[0], float(digits.replace(".", "")) + 0.5
            continue
        if found["dimes"]:  # 38块5
            digits = f"{digits}.{found['dimes']}"
        factor = _SCALES[found["scale"].lower()] if found["scale"] else 1.0
        rest = float(worth(found["rest"])) * factor / 10 if found["rest"] else 0.0
        yield found[0], round(float(digits) * factor + rest, 6)


def _weekday(span: TimeSpan) -> str:
    return "一二三四五六日"[span.start.weekday()]


Field = Literal["role", "interests", "tools"]  # the sections of a profile that such a clause may enter

LONGEST = 60  # characters of a line of a profile
# A blank beside Latin letters or digits is typography; between Chinese characters it ends a clause.
_CLAUSE_END = re.compile("[，,。！!；;？?\n]+|(?<=[一-龥）)”]) +(?=[一-龥《“（(])")
_LEAD_IN = re.compile("^(?:对了|另外|其实|因为|但是?|不过|而且|还有|说正[事经]的?|跟你们?说|(?i:p?s?)[:：])?[，, ]*")
_HOW = (
    "(?:自己|本人|现在|目前|真的?|其实|确实|也|还|就|都|一直|从小就?|平时|平常|本来|天生|有点|有些|特别|非常|超级?|最|很|挺|太"
    "|可|比较|还是|从来|早就|完全|主要|一般|通常|已经|只|以前|之前|的确|不太|不怎么|不){0,3}"
)
_KIN = (
    "(?:女儿|儿子|闺女|孩子|老婆|老公|媳妇|男朋友|女朋友|对象|爸爸?|妈妈?|哥哥?|姐姐?|弟弟?|妹妹?|外公|外婆|爷爷|奶奶)"
)
_PET = "(?:猫|狗|仓鼠|兔子|鹦鹉|乌龟|鱼|鸟|柯基|柴犬|金毛|橘猫|布偶|英短)"
_CRAFT = (
    "(?:弹|拉|唱|吹|画|写|修|开车|游泳|做饭|做菜|做甜点|编程|滑雪|滑冰|跳|下棋|手语|[日韩英法德俄粤闽][语文]|[一-龥]{1,4}话"
    "|打(?:鼓|球|篮球|羽毛球|乒乓|麻将|字)|剪(?:视频|片|辑)|建模|摄影|织|骑|潜水|木工|电焊)"
)
_TRADE = (
    "程序员|老师|教师|医生|护士|律师|会计|设计师|工程师|插画师|画师|编剧|作家|记者|编辑|司机|厨师|学生|研究生|博士生?|大学生|公务员"
    "|销售|客服|运营|产品经理?|前端|后端|测试|策划|美术|翻译|店长|店员|摄影师|音乐人|主播|配音|自由职业"
)
_TASTES = (
    f"{_HOW}(?:喜欢(?!的$)[^的，]{{2,}}|爱[吃喝看玩听用去逛养][^的，]|[最就]爱[^的，]{{2,}}|讨厌.{{2,}}|受不了.{{2,}}|[最很]烦.{{2,}}"
    "|怕(?:黑|高|水|狗|蛇|虫|鬼|冷|热|辣|吵)|迷上了?.{2,}|习惯.{2,}|偏好.{2,}|上瘾)|.{0,8}过敏|对.{1,12}(?:感兴趣|没兴趣)"
    f"|(?!吃|喝|现在|还|也|就[吃喝]){_HOW}不?(?:能|会|敢|碰)?[吃喝碰](?!了吗|完|饭了?$|亏|力|惊|醋|瘪)[^了过]{{1,}}$|{_HOW}(?:吃[纯全]?素|忌口.+)"
    "|.{0,6}(?:色弱|色盲|左撇子|恐高|晕[车船机]|会晕$|乳糖不耐|近视)|(?:从.{1,6}起)?(?:开始)?戒(?:了|掉)?[烟酒糖咖奶].*"
)
_USES = "用(?:的是|惯了?|不惯)|一直[用使]|平时[用使]|日常[用使]|习惯[用使]|主力机?是|的?(?:电脑|手机|键盘|相机|主力)是"
_TOOLS = f"{_HOW}(?:{_USES}).{{2,}}"
_HOME = (
    f"{_HOW}(?:住(?![院嘴手口])(?:在|的)?.{{2,}}|家(?:住|在|是).{{2,}}|的?老家(?:在|是)?.{{2,}}|搬(?:到|去|来)了?.{{2,}}"
    "|租(?:的|了).{2,}|在.{1,10}(?:上班|工作|读书|读[研博]|上学|念书|实习|教书|读大|定居|长大)|是.{1,5}人$"
)
_WORK = (
    f"|(?:是|当|做)(?:了?.{{0,3}}年)?(?:一?[个名位])?[一-龥a-z]{{0,6}}(?:{_TRADE})$|是[做搞学干教].{{1,8}}的$"
    "|做.{1,8}(?:行业|工作|开发|设计)的?$|的?(?:职业|工作|专业|本职)是?.{2,}|学(?:的是|的|过|了).{2,}|主修.{2,}"
    "|读(?:研|博|大|高|初)[一二三四]?.*|大[一二三四](?![一-龥]*[局哥姐])|研[一二三]|毕业于?.+|从?.{1,10}毕业"
    f"|.{{0,12}}(?:入职|离职|辞职|跳槽|退休|offer)|{_HOW}会{_CRAFT}.*|[一-龥]{{0,4}}每个?(?:天|周|晚|早|月|年|星期)[^了]{{2,}}"
)
_FAMILY = (
    f"|养(?:了|着|的|过).{{2,}}|有[一两三1-9][个只条].{{0,6}}(?:{_KIN}|{_PET})|家(?:里|的|有|里有)?(?:{_PET}).{{1,}}"
    f"|的?{_PET}(?:叫|是).+|的?{_KIN}(?:叫|是|今年|生日|在|的生日).+|的?(?:农历|阴历|阳历)?生日.+"
    "|今年[0-9一二三四五六七八九十]{1,3}(?:岁|了)?|[0-9]{1,2}岁|属[鼠牛虎兔龙蛇马羊猴鸡狗猪]|姓[一-龥]"
    "|叫(?![你他她它我人停车外醒])[^了着]{2,}|的?(?:真名|本名|英文名|网名|外号|小名)(?:是|叫).+)"
)
_ENGLISH_TASTES = (
    "i(?: really| also| still)? (?:like|love|hate|prefer|enjoy|can't stand|don't (?:like|eat|drink))"
    " (?!(?:all |also )?(?:the|th(?:at|is|ose|ese)|its?|y?our|his|her|he|my|how|what|when|being) )(?!not ).{3,}"
    "|i(?:'m| am) (?:allergic|vegetarian|vegan|afraid of|into|fond of).*|my favou?rite .+"
)
_ENGLISH_LIFE = (
    "i(?: currently| still)? (?:live|work|study|studied|grew up|teach|major) .{3,}|i was born .+"
    "|i(?:'m| am) (?:from|an? [a-z]+(?:er|or|ist|ent|ian)\\b).*|i (?:speak|play) .{3,}"
    "|i have (?:a|an|two|three) (?:cat|dog|son|daughter|kid|child).*"
    "|my (?:birthday|name|job|wife|husband|son|daughter|dog|cat|hometown|major) (?:is|works|lives) .+"
)
_TOPICS: tuple[tuple[Field, EventKind, re.Pattern[str]], ...] = (
    ("interests", "preference", re.compile(f"(?:我|俺)(?:{_TASTES})|{_ENGLISH_TASTES}")),
    ("tools", "preference", re.compile(f"(?:我|俺)(?:{_TOOLS})")),
    ("role", "knowledge", re.compile(f"(?:我|俺)(?:{_HOME}{_WORK}{_FAMILY})|{_ENGLISH_LIFE}")),
)
_NOT_LASTING = re.compile(
    "[吗嘛呢么吧][~～。！!…]*$|[?？]|什么|怎么|谁|哪|[你您他她它](?!们?家乡)|我们|咱|如果|要是|假如|的话|除非|假装|梦[见到]"
    "|以为|觉得|感觉|认为|猜|可能|也许|大概|打算|考虑|建议|希望|恨不得|差点|好像|据说|听说|好想|想[要去吃喝买换]|要[去来]|准备"
    "|今天|今晚|刚|现在就|一会儿?|待会|马上|[这上下]次|[这那][个张首条局本边里份件]|(?<![a-z])(?:you|he|she|they|it|if|today)(?![a-z])"
    "|群主|管理|主人|老板|老大|权限|root|admin|owner|爸爸$|[欠借垫赔还]|报销|转账|红包|[0-9一二三四五六七八九十百千万]+[块元]"
)
_RANK_OR_DEBT = re.compile(
    "群主|管理员|超级用户|超管|(?:的|是)主人|欠.{0,160}(?:钱|[块元万]|账)|借.{0,160}[块元万]|还钱|转账给?|垫付"
    "|(?<![a-z])(?:root|admin(?:istrator)?|superuser|owner|owes?|owed)(?![a-z])"
)


@dataclass(frozen=True)
class LastingClause:
    """A clause in which its speaker says something lasting of themselves, as written."""

    text: str
    field: Field
    kind: EventKind


def lasting_clause(said: str, others: Collection[str] = ()) -> LastingClause | None:
    """Return the first clause of a line that begins with its speaker and states something lasting about them, or None.

    Clauses do not count if they ask, suppose, contain a name of ``others``, speak of rank or debts, or depend on a day.
    """
    for part in _CLAUSE_END.split(said):
        clause = _LEAD_IN.sub("", part, count=1).strip()
        read = folded(clause)
        topics: list[tuple[Field, EventKind]] = [(field, kind) for field, kind, words in _TOPICS if words.match(read)]
        if not topics or len(clause) > LONGEST or _NOT_LASTING.search(read):
            continue
        if any(name in clause for name in others):
            continue
        if not any(mention.kind in ("relative", "open", "vague") for mention in mentions(clause)):
            return LastingClause(clause, *topics[0])
    return None


def speaks_of_rank_or_debt(text: str) -> bool:
    """Return whether a text gives somebody a rank or a debt; the rules write neither into a profile."""
    return bool(_RANK_OR_DEBT.search(folded(text)))


_SENTENCE = re.compile(r"[^。！!？?\n]+[。！!？?\n]*")
_ASKED = re.compile(r"[？?]\s*$")


def asked_sentences(text: str) -> list[str]:
    """Return the sentences of a text that end with a question mark; [] if none or all of them do."""
    sentences = _SENTENCE.findall(text)
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
