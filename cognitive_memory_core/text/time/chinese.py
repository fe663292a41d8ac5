"""Time expressions in Chinese: 上周三, 三月初, 两天前."""

from __future__ import annotations

import re

from .calendar_spans import DAY, TimeSpan, day, days, month
from .time_rules import (
    Rule,
    TimeFrame,
    ago,
    between,
    counted_day,
    date_or_month,
    lately,
    numbered_day,
    open_weekday,
    part_of,
    quarter,
    rule,
    some_weekday,
    some_weekend,
    stepped,
    whole_year,
    years_from_now,
)
from .vocabulary import PARTS_OF_DAY, WEEKDAYS

# each piece of a pattern repeats within bounds, so that a text costs what it is long
_PART = f"(?P<part>{PARTS_OF_DAY}|[早晚夜](?![点饭餐会宵班自高退场些起安间市场年期]))?"
_MONTH_PART = "(?P<part>上旬|中旬|下旬|初(?![一二三始次])|中(?![旬午文国学心间考秋专等])|底(?![薪层线下])|末)"
_YEAR_PART = (
    "(?:的?(?P<part>上半年|下半年|[春夏秋冬][天季]|第?[一二三四1-4]季度|q[1-4](?![0-9a-z])|年?初(?![一二三中次始级])"
    "|年?中(?![学文国考秋等午期级餐])|年?[底末](?![薪层线下])))?"
)
_CN = "[零一二三四五六七八九十百两]"
_ARABIC_DAY = "(?:3[01]|[12][0-9]|0?[1-9])"
_CN_DAY = "(?:三十一?|二十[一二三四五六七八九]?|十[一二三四五六七八九]?|[一二三四五六七八九])"
_MONTH = "(?<![0-9.十一二三四五六七八九百两几每])(?P<m>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九]) ?月份?"
_UNSAID_DAY = (  # 十二月二十五, and 三月五 only where it cannot be a name: 三月七 is one
    "(?:三十一?|二十[一二三四五六七八九]?|十[一二三四五六七八九]?)(?![日号月十一二三四五六七八九百千万个块元点岁人天年次分条张])"
    "|[一二三四五六七八九](?=那[天晚]|说的|早上|上午|中午|下午|晚上|[之以]?[前后](?![端台]))"
)
_IN_MONTH = (
    f"(?: ?(?:(?P<d>{_ARABIC_DAY}|{_CN_DAY}) ?[日号]|(?P<unsaid>{_UNSAID_DAY})"
    f"|(?P<bare>{_ARABIC_DAY})(?![0-9年月个%万元块人次点]|[.:][0-9]))"
    f"(?:[到至~—、-](?P<d2>{_ARABIC_DAY})(?![0-9月年点]|[.:][0-9])[日号]?)?|{_MONTH_PART}"
    f"|的?(?P<end>头|最后)(?P<n>几|[0-9]{{1,2}}|{_CN}{{1,2}})天)?"
)
_SHORT_YEAR = "[0-9]{2}(?=年(?:[0-9一二三四五六七八九十]{1,2}月|[初底末](?![一二三次始级薪层线下])))"  # 25年底
CALENDAR_YEAR = f"(?<![0-9])(?P<y>[0-9]{{4}}|[零一二三四五六七八九]{{4}}|{_SHORT_YEAR}) ?年"
RELATIVE_YEAR = "(?P<ry>大前|前|去|今|明|后|本)年"
_WEEK_WORD = "(?:周|星期|礼拜)"
_ON_DAY = (
    "(?P<on>一(?![直起定共次些样般切下度步个位年半旦边])|[二三四五六](?![天次个种份篇场章遍家十])"
    "|日(?![常报程志益均记])|天(?![气天空数使]))(?!局)"
)
_ALONE = "(?<![一二两三四五六七八九十几半整每0-9个上下本这隔逢])"
_UNIT = "(?P<unit>小时|钟头|分钟|秒钟?|天|星期|礼拜|周|(?<=[个半])月|年)"
_AMOUNT = f"(?P<n>(?<![0-9.第])[0-9]{{1,3}}|(?<![0-9.第]){_CN}{{1,4}}|半) ?个?(?P<half>半?){_UNIT}(?P<more>半?)"
_FEW = (
    "(?:(?<!十)(?:好几|几|数|若干)|(?<![0-9零一二三四五六七八九十百两第])[一两二三四五六七八][两三四五六七八九])个?"
    f"{_UNIT}"
)
_BEFORE = "多?(?:之|以)?前(?![后端台])"
_AFTER = "(?P<ahead>多?(?:之|以)?后(?![悔来面端]))"
_SPAN_UP_TO_NOW = "(?:最近|近|过去|这|(?P<ahead>未来|接下来|今后|往后))的?这?"
_WHICH = "(?P<which>上上|上|这|本|下下|下)"
_NO_NUMBERED_DAY = (
    "[场线楼机位窗桌店门馆院厅电球员选车床字码键厂井房钻文首服坑仓舱口笔标宿舍群考公寓技师人参玩家种称令角色脚本]"
)
_LATELY = (
    "最近|近来|近日|近期|[这那前]阵子|前一阵子?|[这那前]一?段(?:时间|日子)|[前近]些(?:天|日子|年)|这些(?:天|日子|年)"
    "|前不久|不久(?:之|以)?前"
)
_SOON = (
    "改天|改日|过(?:几|两|些)天|过(?:阵子|段时间|一阵)|回头|待会儿?|等会儿?|等下|稍后|晚些时候|早些时候|[这过]会儿"
    "|不久(?:之|以)?后|上一?[次回](?![序数要])|下一?[次回](?![序数要合])"
)
_SOON_HERE = (
    "(?<![机班车铁交巴船])晚点(?=[再来去到发说给聊见回吃把将补打交还告联做弄出])|(?<![了过玩等坐睡待歇多])一会儿?(?=[再就去要来见])"
    "|(?:(?<![一-龥])|(?<=[我你他她它们在去来到从是就还说把让和跟也都又想要会不没但等由于了的]))"
    "那(?:天|晚|年(?![轻龄代级])|时候?|会儿|几天|两天)"
)
_SO_FAR = "(?:[到截]至?|截止)?(?:目前|现?如今|当前)(?:为止)?|当下(?![午周])|至今(?:为止)?|迄今(?:为止)?"
_EVERY = (
    "每(?:隔|逢)?[一两二三四几0-9]?个?(?:天|日|周|星期|礼拜|月|年|季度|晚|早|夜)[一二三四五六日天末]?的?(?:[年月]?[初底末]|中旬)?"
    f"(?:(?:1[0-2]|[1-9])月)?(?:(?:{_ARABIC_DAY}|{_CN_DAY})[日号])?"
    f"|[逢隔]{_WEEK_WORD}[一二三四五六日天末]?|[一二两三四五六七八九十几0-9]{_WEEK_WORD}[一两二三四五六][次天场节回遍]"
)
_OTHER_WORDS = (  # 晚上周杰伦, 以后天天, 日本周边: the character belongs to the preceding word
    "晚上|早上|马上|路上|网上|线上|身上|手上|头上|桌上|墙上|以上|加上|天上|世上|地上|楼上|车上|船上|班上|床上|岸上|会上"
    "|台上|山上|海上|基本上|事实上|楼下|天下|以下|余下|剩下|手下|留下|地下|乡下|当下|线下|名下|私下|脚下|之下|放下|一下"
    "|版本|样本|成本|资本|日本|文本|剧本|课本|书本|脚本|基本|根本|副本|标本|原本|绘本|账本|读本"
    "|以前|之前|目前|提前|面前|眼前|从前|先前|空前|生前|午前|之后|以后|然后|最后|随后|午后|今后|先天后天|而后"
    "|过去|失去|出去|回去|进去|聪明|光明|文明|透明|证明|声明|附近|将近|接近|临近|超过|经过|通过|不过|路过|度过|难过|错过"
    "|如今|当今|至今|迄今"
)
_LOOK_ALIKES = (  # words and names that contain a time word
    "[今明后]天见(?![面到过了我你您他她它一])[一-龥]{0,3}[店馆]|后天(?:性|免疫|形成|培养|努力|习得|因素)|明日方舟|明日香|今日头条|今日说法|昨日重现|昨日青空|明天会更好|明天系"
    "|五月天|六月雪|七月与安生|十月革命|八月长安|四月是你的谎言|三月的狮子|十月怀胎|周一围|周末愉快|三月兔|今日份"
    f"|(?:十[一二]?|[一二三四五六七八九])月(?!{_UNSAID_DAY}){_CN_DAY}(?![日号月十一二三四五六七八九])"
    "|(?<!大)年初[一二三四五六]|现在(?:时态?|完成时|进行时|分词)|回头(?:客|率|路|草|是岸|看(?!看)|一看|想想)|改日期"
    "|最近(?:邻|公共|发展区|端|点对|的?(?:一?[家个座条站]|地铁|车站|公交|出口|医院|药店|超市|便利店|商场|机场|餐厅))"
    "|(?<=[离距])[一-龥a-z0-9]{1,10}最近|最近的?[0-9一二三五十两]{1,4}[条个次行页篇章名场局张轮版]|当周(?:周?[一二三四五六日末])?"
    "|(?:@|问问?|告诉|叫|提醒|[找请帮])周末|周末(?:是谁|这?个?[人货家]|老师|同学|[说问][他她]|的(?:生日|老家|电话|微信|猫|狗))"
    "|刚刚(?:好|够)|等下(?:[午周次班课雨雪车])|等会[议员长]|[接招款优看虐善]待会"
    "|当前(?:版本|页|目录|用户|窗口|进程|文件|任务|状态|分支|节点|路径|会话|行|项|值|线程|模型)"
)


def _weekdays(match: re.Match[str], frame: TimeFrame) -> TimeSpan:
    """Read 周一到周五."""
    first = open_weekday(WEEKDAYS[match["on"]], frame)
    return days(first, first + (WEEKDAYS[match["till"]] - WEEKDAYS[match["on"]]) % 7 * DAY)


CHINESE: tuple[Rule, ...] = (
    rule(
        "relative",
        f"(?P<day>大前|前|昨|今|明|大后|后)(?:天(?![赋真])|日(?!之[后子星])|(?<=[昨今明后])儿(?!子)个?){_PART}",
        counted_day,
    ),
    rule("relative", "(?P<day>昨|今|明|(?<![一-龥])前)(?P<part>早|晚|夜|晨)上?(?![餐饭宵班])", counted_day),
    rule("relative", "今明两?[天日]", lambda _, frame: days(frame.today, frame.today + DAY)),
    rule(
        "relative",
        f"{_WHICH}[一1]?个?(?:季度(?!会员|卡)"
        f"|(?P<unit>{_WEEK_WORD})(?![杰边围]|期(?![中末]))(?:(?P<end>末)|{_ON_DAY}{_PART})?)",
        stepped,
    ),
    rule("habit", f"{_ALONE}{_WEEK_WORD}{_ON_DAY}[到至~—-]{_WEEK_WORD}?(?P<till>[一二三四五六日天])", _weekdays),
    rule("open", f"{_ALONE}{_WEEK_WORD}{_ON_DAY}{_PART}", some_weekday),
    rule("open", f"{_ALONE}周末(?!尾(?!声))", some_weekend),
    rule("dated", f"{_WHICH}(?:[一1]?个月份?|月份?(?![亮光球色饼嫂经台])){_IN_MONTH}", date_or_month),
    rule(
        "relative",
        "(?<![个0-9零一二三四五六七八九十])月(?P<part>[初底末])(?![一二三薪层])",
        lambda match, frame: month(frame.today, part_of(match)),
    ),
    rule("relative", f"{RELATIVE_YEAR}的?这个?时候", years_from_now),
    rule("dated", f"(?:{CALENDAR_YEAR} ?|{RELATIVE_YEAR}的?)?{_MONTH}(?![球亮饼台嫂]){_IN_MONTH}", date_or_month),
    rule("dated", f"(?:{CALENDAR_YEAR}|{RELATIVE_YEAR})(?![轻龄级制薪]|代(?!购)){_YEAR_PART}", whole_year),
    rule(
        "relative",
        "(?<![0-9零一二三四五六七八九十几年])(?P<part>[上下]半年(?!级)|年[初中底末](?![一二三考秋级]))",
        whole_year,
    ),
    rule("yearless", "(?:(?<![0-9零一二三四五六七八九十百每几两个])|(?=第))第?(?P<q>[一二三四1-4])季度", quarter),
    rule("open", f"(?<![0-9第#.a-z年月-])(?P<d>{_ARABIC_DAY})[日号](?!{_NO_NUMBERED_DAY}){_PART}", numbered_day),
    rule("relative", f"{_FEW}(?:{_BEFORE}|{_AFTER})", between(5, 2)),
    rule("relative", f"{_AMOUNT}(?:{_BEFORE}|{_AFTER})", ago),
    rule("relative", f"(?P<ahead>再过){_AMOUNT}(?:多?(?:之|以)?后(?![悔来面端]))?", ago),
    rule(
        "relative",
        f"(?<![之的试赛学假发婚节业本课会演展期产院开])前[几两](?!个?小时|分钟|秒|个?钟头)个?{_UNIT}",
        between(5, 1),
    ),
    rule("relative", f"{_SPAN_UP_TO_NOW}{_FEW}", between(5, 0)),
    rule("relative", f"{_SPAN_UP_TO_NOW}{_AMOUNT}", lately),
    rule("relative", "刚才|刚刚|方才", lambda _, frame: TimeSpan(frame.now - DAY / 12, frame.now + DAY / 1440)),
    rule("now", f"现在|此刻|此时此刻|{_SO_FAR}", lambda _, frame: day(frame.today)),
    rule("vague", f"{_LATELY}|{_SOON}"),
    rule("vague", _SOON_HERE),
    rule("decoy", f"{_OTHER_WORDS}|{_LOOK_ALIKES}|{_EVERY}"),
)
