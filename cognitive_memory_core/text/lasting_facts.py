"""What a line says of its speaker that lasts, and whether a text speaks of rank or debt."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Literal

from .characters import folded
from .time.time_words import mentions

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
_TOPICS: Mapping[Field, re.Pattern[str]] = {
    "interests": re.compile(f"(?:我|俺)(?:{_TASTES})|{_ENGLISH_TASTES}"),
    "tools": re.compile(f"(?:我|俺)(?:{_TOOLS})"),
    "role": re.compile(f"(?:我|俺)(?:{_HOME}{_WORK}{_FAMILY})|{_ENGLISH_LIFE}"),
}
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


def lasting_clause(said: str, others: Collection[str] = ()) -> tuple[str, Field] | None:
    """Return the first clause of a line that begins with its speaker and states something lasting about them, or None.

    The clause is as it was written; with it comes the section of a profile that it belongs in.
    Clauses do not count if they ask, suppose, contain a name of ``others``, speak of rank or debts, or depend on a day.
    """
    for part in _CLAUSE_END.split(said):
        clause = _LEAD_IN.sub("", part, count=1).strip()
        read = folded(clause)
        field: Field | None = next((one for one, words in _TOPICS.items() if words.match(read)), None)
        if field is None or len(clause) > LONGEST or _NOT_LASTING.search(read):
            continue
        if any(name in clause for name in others):
            continue
        if not any(mention.kind in ("relative", "open", "vague") for mention in mentions(clause)):
            return clause, field
    return None


def speaks_of_rank_or_debt(text: str) -> bool:
    """Return whether a text gives somebody a rank or a debt; the rules write neither into a profile."""
    return bool(_RANK_OR_DEBT.search(folded(text)))
