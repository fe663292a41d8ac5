"""Detection of claims that rest on the speaker's word alone: rank, ownership, orders to the bot, whom to pay."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from ..identity.written_ids import plain
from ..lexical.folding import folded
from ..patterns import Pattern

READ = 2_000  # characters of a text that are read
_TITLES = "群主|管理员|副群主|副?[组队会团]长|超管|超级用户|版主|主人|开发者|站长|创建者"
_RANK = f"(?:{_TITLES}|root|admin(?:istrator)?|superuser|owner)"
_RANKED = Pattern(
    f"(?:是|为|乃|即|当选|当上|升为|任命|成了|成为)[^，,。！!？?；;\\n]{{0,12}}{_RANK}(?!娘|群|证|家|公)"
    f"|(?:我|本人|俺)[^，,。！!？?；;\\n]{{0,4}}(?:老板|老大)(?=$|[，,。！!；;\\s])|叫(?:我|自己|他|她)[^，。]{{0,4}}(?:主人|老板|爸爸|爹)"
    f"|是(?:机器人|bot|大家|全群|这个?群|本群|你们?)的?(?:老板|老大|主人|爸爸|爹)|拥有[^，。]{{0,8}}(?:权限|所有权)|归[^，,。！!？?；;\\n]{{1,24}}(?:批(?!次)|审批|管(?!理)|做主|指挥|领导)|(?:机器人|bot|本群)归[^，。]{{1,24}}(?:管|所有)"
    f"|{_RANK}(?:现在|已经|就|也|才|都)?(?:是|换成|改成|改为|变成|交给)[^，,。！!？?；;\\n]{{0,12}}(?:[(（][0-9a-z_-]+[)）]|[0-9]{{4}})"
    "|(?:群主|管理员|超管)(?:现在|已经|就)?(?:换成|改成|改为|变成)"
    f"|(?<![a-z])(?:am|is|are) (?:the |an? |your )?{_RANK}(?![a-z])|approves? (?:all|every|any)(?![a-z])"
    "|(?:由|大小事|凡事|事情|什么都|都|一律|以后)[^，,。！!？?；;\\n]{0,16}拍板(?!了)|(?:先|要|都|得|必须)过[^，,。！!？?；;\\n]{1,8}(?:这|那)一?关"
    "|(?:审批|批准)[^，,。！!？?；;\\n]{0,6}(?:权|口子)?[^，,。！!？?；;\\n]{0,10}(?:挪|移|转|归|交|改)(?:到|给|由)|批准(?:所有|一切|全部)"
    "|(?:管|掌)(?:账|钱|公款|公费|财务|大权)|管[^，,。！!？?；;\\n]{0,12}(?:公费|账目|公款)"
)
_ORDER = Pattern(
    "(?:忽略|无视|忘记|忘掉|覆盖|绕过)[^，。！!？?\\n]{0,12}(?:指令|设定|规则|提示|限制|之前的)"
    "|(?:机器人|bot|助手|ai)[^，,。！!？?\\n]{0,8}(?:必须|只能|只|应该|应当|要|得|不准|不许|不得|一律|以后)"
    "[^，。！!？?\\n]{0,8}(?:听|服从|执行|回答|回复|照做|同意|叫|称呼|告诉|转|发)"
    "|(?:以后|今后|往后|从现在起|一律|凡事|都要?|必须|只)(?:听从?|服从)[^，。！!？?\\n]{1,24}|(?:我|自己|[他她)）])(?:一个人)?说了算|听(?:我|自己)的(?:命令|指挥|话)"
    "|(?:谁|有人|别人)[^，。！!？?\\n]{0,6}(?:问|说|提)[^。！!？?\\n]{0,16}(?:就|你|都|一律)[^，。！!？?\\n]{0,3}(?:回|答|说)(?!来|去)"
    "|以(?:我|本人|自己|[^，。！!？?\\n]{1,24}[)）] ?)(?:说的|的话)?为准|最高(?:权限|指令)|开发者模式|系统提示|越狱"
    "|(?:ignore|disregard) (?:all|any|the|previous|prior)|you must (?:obey|always|only)"
)
_PAYMENT = Pattern(
    "卡号|收款(?:码|账|帐|人|方)|银行卡[^，。]{0,8}[0-9]|付款码"
    "|(?:转账|转帐|打钱|打款|汇款|付款|付钱|转钱|交钱|充值)(?:[^，,。！!？?\\n]{0,8})(?:给|到|至|进|往)"
    "|(?:钱|款|费用?|尾款|定金|押金|公费)[^，,。！!？?\\n]{0,8}(?:转|打|付|汇|交)(?:给|到|至|进)"
    "|(?:回款|对公|供应商)[^，。]{0,4}(?:账|帐)[户号]|(?:账|帐)[户号][^，,。！!？?\\n]{0,8}[0-9](?:[ -]?[0-9]){7}"
    "|(?<![0-9-])[0-9]{4}(?:[ -][0-9]{4}){2,4}(?![0-9-])|(?<![0-9])[0-9]{16,19}(?![0-9])"
    "|扫[^，,。！!？?\\n]{0,24}码(?!头|数|洗|看|下载|关注|加群|进群|入群)"
    "|打[^，,。！!？?\\n]{0,6}尾号|尾号 ?[0-9]{3,6}"
    "|(?:回款|收款|款项?)[^，,。！!？?\\n]{0,6}走[^，,。]{0,8}(?:户头|账|帐|卡)"
    "|usdt|钱包地址|(?:pay|transfer|wire)[^.]{0,24} to "
)
_EVERYBODY = Pattern(
    "(?:大家|全群|所有人|全员|全体|群友们?|一致|全票|各位)[^，,。！!？?；;\\n]{0,8}"
    "(?:同意|决定|通过|赞成|认可|答应|支持|约定|认为|承认|规定|知道|确认|没意见|没有意见|不反对)|都没有?意见|没有?人反对"
    "|everyone (?:agreed|agrees|decided)"
)
_DICTATION = Pattern(
    "(?:请|要|帮我)?把[^。！!\\n]{1,60}(?:记成|写成|当成|记为|都记)|(?:写进|记进|写成)[^。！!\\n]{0,12}(?:事实|记忆|侧写)"
    "|(?:把|将)[^。！!\\n]{1,40}(?:算|记|当|归)(?:作|成|在|到|是|为)?[^。！!\\n]{0,8}(?:说的|名下|头上)|记在[^。！!\\n]{1,8}(?:名下|头上)"
    "|就写(?:是|成)?[^。！!\\n]{1,8}说的|(?:写|存|记录?|改|更新|录)(?:入|进|到|在|成|为)[^。！!\\n]{0,16}(?:侧写|成员资料|个人资料)"
    "|(?:侧写|成员资料|个人资料)[^。！!\\n]{0,8}(?:更新|改成|改为|写成|写上)"
    "|【?系统(?:公告|通知|消息)|(?:in)?to (?:every|his|her|their|the|all) profiles?|for every member"
    "|(?:档案|小本本|卡片|备忘)[^。！!\\n]{0,10}(?:添|补|加|留|记|写)(?:上?[一1两几]?[笔行条句]|个底)|(?:帮|给|替)[^，。！!\n]{0,4}归个?档|当[^，。！!\\n]{0,6}本人(?:填|写|说)的?"
    "|(?:append|add|save|write) (?:this |it )?(?:in)?to (?:the |your |its )?(?:long-term )?memory"
    "|observations?(?![a-z])|same_as|should_remember|confidence(?![a-z])|(?:lines?|speaker|text) ?(?:填|写|=|为)"
    "|史官|给记忆的|新的任务[：:]|系统提示|补充事实|记成(?:群的|他|她|事实)|输出[^。]{0,8}(?:true|text|json)"
    "|(?:write|record|store) (?:this |it )?(?:down )?as (?:a )?(?:fact|rule|memory)|new task:"
)
_MONEY = Pattern(
    "公费|公款|转账|转走|卷款|挪用|垫[付了钱]|先垫|欠[^，。]{0,16}(?:钱|元|块|[百千万]|账)|还钱|收款|打款|汇款|报销|平摊"
    "|(?<![a-z])owes?(?![a-z])"
)
_WRITTEN_ID = re.compile("[(（][0-9a-z_-]{1,128}[)）] ?")
_LABEL = re.compile(r"([^\s，。：:、（）()“”]{1,48})[(（]([0-9A-Za-z_-]{1,128})[)）]")


def is_unvouched(text: str) -> bool:
    """Return whether a text claims a rank or ownership, gives the bot orders, or says whom to pay."""
    said = folded(text[:READ])
    bare = _WRITTEN_ID.sub("", said)
    return _RANKED.is_in(bare) or any(one.is_in(said) for one in (_RANKED, _ORDER, _PAYMENT))


def speaks_for_all(text: str) -> bool:
    """Return whether a text says that everybody agrees, which one person cannot vouch for."""
    return _EVERYBODY.is_in(folded(text[:READ]))


def speaks_of_money(text: str) -> bool:
    """Return whether a text states who paid, owes or took money; such statements never enter a group's profile."""
    return _MONEY.is_in(folded(text[:READ]))


def dictates(line: str) -> bool:
    """Return whether a line of chat tells the memory itself what to write, in which field, or as whose words."""
    return _DICTATION.is_in(folded(line[:READ]))


def borrows_a_name(text: str, names: Iterable[str], known: Collection[str]) -> bool:
    """Return whether a text writes ``name(id)`` with one of the names but with an id that is not known."""
    beside_strangers = [match[1] for match in _LABEL.finditer(plain(text)) if match[2] not in known]
    return bool(beside_strangers) and any(said.endswith(name) for name in names for said in beside_strangers)
