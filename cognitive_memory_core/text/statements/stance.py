"""The stance of a line of chat to a proposal before it: it agrees, objects, asks back, or does none of these."""

from __future__ import annotations

import re
from typing import Literal

from ..lexical.folding import folded
from ..patterns import Pattern

Stance = Literal["agrees", "objects", "asks", "none"]
_READ = 200  # characters of a line
_GAP = "[，,、。.!！~～… ]"
_IN_CLAUSE = "[^，,、。.!！~～ ]"
_ENDS = f"(?={_GAP}|$)"
_DAY = "(?:周|星期|礼拜)[一二三四五六日天末][^，,。 ]{0,4}"


def _either(*sources: str) -> str:
    return f"(?:{'|'.join(sources)})"


_LEAD = (
    "(?:@[^ ]{1,32} ?)?"
    + _either(
        "我们|咱们|我这边|我|俺|这个|那个?|这|也|都|就|才|可(?!以)|真的?|嗯|啊|哦|噢|感觉|觉得|还是",
        "必须|当然|有一说一|完全|绝对|坚决|强烈|举双手|双手(?:双脚)?",
        _GAP,
    )
    + "*"
)
_TAIL = "(?:的|啊|呀|哈|呢|嘞|嗯|哦|噢|吧|啦|滴|哒|嘛|哟|喽|咯|耶|诶|哇|呗)*"
# --- agreement
_SPEECH_ACT = (  # may have an object: 赞成楼上; not 同意个屁, 同意不了, 同意一半, nor 同意的扣1, which calls for votes
    "(?:同意|赞成|附议|支持(?!微信|支付|退|换|[一-鿿]{3,}的)|赞同|认可|认同|服从|遵守|照办)"
    f"(?!{_IN_CLAUSE}{{0,3}}(?:个|不了|[吗么谁？?]|什么|一半))"
    "(?!的?(?:话|人)?[，, ]?(?:请|就|都|麻烦)*(?:扣|举|打|回|发|吱|点|投|签))"
)
_UTTERANCE = _either(  # whole utterances: what follows begins a new clause
    "没有?(?:啥|什么|任何)?(?:意见|异议|问题|毛病)|无异议|不反对|不错|挺好|真好|太好了?|通过|批准|加一|我跟",
    "可以|可|行|中|成|好|得嘞|妥了?|准|批了|收到|知道了?|明白了?|了解了?|懂了?|遵命|得令|安排|是|对|没错",
    "在理|合理|靠谱|同感|必须|当然|一定|随你|没话说|定了|赞|[👍👌👏🙆✅🫡💯🎉]|\\+1[0-9]*",
    "ok|okay|okk|okie|yes|yep|yeah|sure|fine|got it|lgtm|agreed?|sounds good|roger|deal",
)
_APPROVAL = _either(
    "有道理|说[得的](?:对|好|是)|确实|好(?:主意|办法|想法|点子|评|耶|提议|规矩)|爱了|早(?:该|就|想|应该)(?!饭)",
    "终于(?=[!！]|$)|应该的|应当的|该管管|终于有人|就它|听(?:你|您|大家|老大|群主|楼上)的|(?:可以|行|值得)试试",
    "(?:[这那]个?|你)?(?:提议|建议|主意|办法|想法|安排|规矩|方案)(?:挺|很|真|太|蛮|可)?(?:不错|好|可以|行|靠谱|合理)",
    f"(?:那|那么)就[^，,。 吗？?]{{1,8}}{_ENDS}|就?(?:按|照)[^，,。 吗？?]{{1,8}}[来办]{_ENDS}",
    f"(?:就|那就)?(?:这个|这么定|这样定|这么办|这样办|这么干|这样|这么来)(?:了|吧)*{_ENDS}",
)
_JOINING = _either(
    "(?:算|带|加)我(?:一个|一份)|我也(?:是|一样|觉得|认为|这么|这样|想|要|去|来|选|投|喜欢|爱)",
    "[这那](?:个?活|事|差事)[^，,。 ]{0,2}我(?:爱|来|包|干|接|喜欢)",
)
_COMPLIANCE = _either(
    "记(?:住|下|小本本)了?|学到了|我(?:错了|改)|错了|对不起|我的锅|我道歉|我自罚|不敢了",
    "下次(?:一定|会|就)?(?:注意|带|改|不|记得)|以后我?(?:不(?:敢|发|这样)|注意)",
)
_AGREES = Pattern(
    f"{_LEAD}(?:(?:{_UTTERANCE}{_TAIL})+(?:{_ENDS}|(?=我(?!说)|那|马上|这就))"
    f"|{_SPEECH_ACT}|{_APPROVAL}|{_JOINING}|{_COMPLIANCE})"
)
_AGREES_AT_THE_END = Pattern(f"[^吗？?]*{_GAP}(?:好评|赞|支持|同意|附议|没问题|没意见|正好|\\+1|👍|👌)[!！~～。]*")
_VOTE = Pattern("1{1,6}|扣1|(?:\\+1)+|[👍👌👏🙆✅🫡💯🎉]+")
_OTHER_TOPIC = Pattern("(?:对|好|行|是|可以|成|可|中)了")  # 对了 明天…, 好了 修完了, 行了行了
_PROVISO = Pattern(f"但|可是|不过|{_GAP}(?:就|只)是|一半{_ENDS}|(?:可以|好|行|同意)是(?:可以|好|行|同意)")
_CLAUSE = re.compile(f"{_IN_CLAUSE}*")
# --- objection
_NO = _either(
    "不(?:太|是很|怎么|大|想)?(?:同意|赞成|支持|赞同|认可|认同|接受|答应|愿意|乐意|想(?!到|起)|爱|信)",
    "不(?:太|是很|怎么|大)?(?:行|可以|合适|合理|现实|公平|划算|方便)|(?:同意|赞成|支持)不了|不可能|不至于|至于[吗么]",
    f"不(?:好|对|要|服|干|去|来)(?:吧|啊|嘛|了)*{_ENDS}|没(?:同意|答应|必要)|反对(?!派)|抗议|拒绝|否决|免了|算了(?:吧|{_ENDS})",
    f"(?:求|能)?(?:别|不)(?:改|搞|动)(?:吗|$)|别(?:啊|呀|吧|了吧|闹|搞|改)|求别|别{_ENDS}|不是[， ]|保留意见|恕难",
    "凭(?:什么|啥)|干[嘛吗](?:要|非)|为(?:什么|啥)(?:要|非)|为啥啊|何必|没人(?:会|要|想|理)|你说了算",
    "谁(?:同意|答应|定的|规定|理|爱|想出|管得)|疯了|做梦|想得美|休想|没门|扯淡|离谱|过分",
    "维持原样|保持原样|还是(?:原来|以前|之前|原先)[^，,。 ]{0,6}好",
    "(?:有点|太)(?:早|晚|严|狠|贵|麻烦|过分|多|难|久|远|累|苛刻|短|长|急|赶)|[来去到起做]不(?:了|到|来)|没(?:空|时间)",
    f"(?:都|得|还)?有[课事](?:啊|呀|诶|了|来)*{_ENDS}|得上班|要上班|要加班",
    "-1(?![0-9])|👎|(?:no way|nope|disagree|i object)(?![a-z])",
)
_OBJECTS = Pattern(
    f"(?:^|{_GAP}|\\+1|[但可只就]是|不过){_LEAD}(?:{_DAY})?也?{_NO}"
    "|我(?:[来去到]不了|没空|没时间|有课|有事)|太(?:早|晚|麻烦|过分|严|贵|难)了"
    "|(?:同意|支持|赞成|可以|行|好)(?:个[^，,。 人月]|个$|你妹|才怪|什么(?:行|好|可以|同意))"
)
# --- questions, proposals, and what speakers tell of themselves
_ASKS = Pattern(
    "[吗么嘛]$|[？?]|(?P<one>[一-鿿])[不没](?P=one)|(?<!没有)(?<!无论)(?<!不管)谁(?![都也])|什么(?!都)|啥(?!都)"
    "|为何|哪(?!都)|几(?:点|号|个|天|人|位)|多少|怎么(?!都)"
)
_PROPOSES = Pattern(
    "能不能|可不可以|可否|能否|要不要?(?!紧)|不如|好不好|行不行|怎么样|怎样|如何|咋样|是不是(?:该|要|可以)"
    "|(?<![好行是对])吧(?=$|[?？，,。!！ ])"
)
_OF_SELF = Pattern("(?:我(?!们|家|这|觉得|认为|建议|提议)|本人|俺)(?![^，,。]{0,4}(?:每|都|一直|一般|习惯))")


def stance_of(line: str) -> Stance:
    """Return the stance of a line to what was said before it; "none" also for a line that agrees on a condition."""
    said = folded(line[:_READ]).strip()
    if _VOTE.fullmatch(said):
        return "agrees"
    if _OBJECTS.compiled.search(said):
        return "objects"
    if _agrees(said):
        return "none" if _PROVISO.compiled.search(said) else "agrees"
    return "asks" if _ASKS.compiled.search(said) else "none"


def proposes(line: str) -> bool:
    """Return whether a line proposes something to others: 能不能改到周六, 改到周六吧."""
    return bool(_PROPOSES.compiled.search(folded(line[:_READ])))


def tells_of_self(line: str) -> bool:
    """Return whether a line tells what its speaker did, has or plans (周四我要健身); a habit does not count."""
    return bool(_OF_SELF.compiled.search(folded(line[:_READ])))


def _agrees(said: str) -> bool:
    if _OTHER_TOPIC.compiled.match(said):
        return False
    match = _AGREES.compiled.match(said)
    if match is None:
        return bool(_AGREES_AT_THE_END.fullmatch(said))
    rest = _CLAUSE.match(said, match.end())
    return not (rest and _ASKS.compiled.search(rest[0]))
