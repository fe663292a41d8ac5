"""Words by meaning: pairs that contradict each other, words of certainty and intent, and synonyms."""

from __future__ import annotations

from ..patterns import Pattern

_W, _E = "(?<![a-z])", "(?![a-z])"
_CONTRARY_WORDS = (
    ("喜欢|(?<!可)爱(?!人|好)|钟爱|偏爱|中意", "讨厌|反感|厌恶|嫌"),
    (f"{_W}(?:likes?|loves?|enjoys?)", f"{_W}(?:dis|hat(?=e)|loath)"),
    ("(?<!不)同意|赞成|支持|认可", "反对|抵制|驳回|拒绝"),
    (f"{_W}(?:agree|support|favou?r)", f"{_W}(?:disagree|oppos|reject|boycott)"),
    ("允许|(?<!不)可以(?!说)|准许", "禁止|不许|不准|不得(?!不)"),
    (f"{_W}(?:allow|permit)", f"{_W}(?:forbid|forbad|ban{_E}|bann|prohibit)"),
    ("涨|升|增|上调", "跌|降|减|下调"),
    (f"{_W}(?:increas|rais|rose|up{_E})", f"{_W}(?:decreas|lower|fell|drop|down{_E})"),
    ("打开|开启|开[了着]|启用", "关[掉闭了着上]|停用|禁用"),
    (f"{_W}(?:open|enabl|turn(?:ed|s)? on)", f"{_W}(?:clos|disabl|turn(?:ed|s)? off)"),
    ("入职|加入|入群", "离职|辞职|退出|退群|离开"),
    (f"{_W}join", f"{_W}(?:left|leav|quit)"),
    ("结婚|复合|在一起", "离婚|分手"),
    ("赢|获胜|战胜", "输|落败|战败"),
    (f"{_W}(?:won|wins?){_E}", f"{_W}los[et]"),
    ("成功|通过", "失败|[没未]通过|挂科"),
    (f"{_W}(?:succe|pass)", f"{_W}fail"),
    ("买|购", "卖|出售"),
    (f"{_W}(?:buy|bought)", f"{_W}(?:sell|sold)"),
    ("借给|借出", "借走|借来|[跟向][^，。]{1,20}借"),
    (f"{_W}len[dt]{_E}", f"{_W}borrow"),
    ("[变更]好", "[变更][差坏]"),
    (f"{_W}(?:better|improv)", f"{_W}wors"),
    ("左", "右"),
    ("高(?![兴中考铁手])", "低"),
    ("最多|至多|以内|不超过", "最少|至少|超过|不低于"),
    (f"{_W}more{_E}", f"{_W}less{_E}"),
    ("[早先]于|(?:之|以)前|前(?![台端天年途面提女男])", "[晚后]于|(?:之|以)后|后(?![台端天年来面勤悔期])"),
    (f"{_W}(?:before|earlier){_E}", f"{_W}(?:after|later){_E}"),
    ("前[端台]", "后[端台]"),
    ("早上|清晨|上午|凌晨", "晚上|傍晚|下午|深夜"),
    (f"{_W}morning", f"{_W}(?:evening|night|afternoon)"),
    ("决定|确定|敲定|定下", "考虑|打算|计划|犹豫"),
    (f"{_W}(?:decid|confirm)", f"{_W}(?:consider|plan|hesitat)"),
    (
        "已经?|(?<=[一-鿿])了(?![解不])",
        "(?<!不)将[要会]?(?!就)|即将|快要|(?<![需主重只不])要(?=[去来搬换买卖交做办结辞离开考参接送回出打写改])",
    ),
    (f"{_W}(?:already|has|have){_E}", f"{_W}(?:will|going to){_E}"),
    ("总是|经常|天天|常常", "偶尔|很少|难得|几乎不"),
    (f"{_W}(?:always|often){_E}", f"{_W}(?:rarely|seldom|sometimes){_E}"),
    ("必须|一定要|强制", "自愿|随意|可选"),
)
CONTRARIES = tuple((Pattern(left), Pattern(right)) for left, right in _CONTRARY_WORDS)
_MODAL_WORDS = (
    "可能|也许|或许|大概|似乎|好像|估计|说不定|没准|未必",
    f"{_W}(?:maybe|might|may|perhaps|possibly|probably|likely|seems?){_E}",
    "打算|计划|考虑|拟|想(?!到|起|念|法|象|必)|准备(?=[去把买换搬接送辞离])",
    f"{_W}(?:plans?|planning|considering|intends?|wants?){_E}",
    f"据说|听说|传闻|传言|谣传|有人说|{_W}(?:reportedly|rumou?r|allegedly|supposedly)",
    f"取消|放弃|停止|中止|终止|作废|撤回|暂停|戒[掉了烟酒]|{_W}(?:cancel|quit|stop|gave up|abandon)",
    f"只(?<![0-9一二两三四五六七八九十几每这那半]只)(?!是)|仅|唯一|{_W}only{_E}",
    f"几乎|差点|险些|{_W}(?:almost|nearly){_E}",
)
MODALITIES = tuple(map(Pattern, _MODAL_WORDS))
_SYNONYM_WORDS = """
喜欢 爱 喜爱 钟爱 | 住 家 人 | 打算 计划 准备 想 | 可能 也许 或许 大概 | 买 购买 入手 | 去 到 | 大小 尺寸
| 因为 由于 | 但 但是 不过 | 和 跟 与 同 | 元 块 块钱 | 没 没有 未 | 能 可以 能够 | 说 表示 称 | 认为 觉得
| 禁止 不许 不准 不可以 | 在 于 | 常 经常 常常 | 讨厌 反感 | 是 为 | 需要 要 | 交 付 | 换 更换 | 工作 上班
| 告诉 通知 | 会 能 | is are was | doesn't never | has had | lives stays | buys bought
"""
SYNONYMS = tuple(frozenset(words.replace(" ", "\n").split()) for words in _SYNONYM_WORDS.split("|"))
