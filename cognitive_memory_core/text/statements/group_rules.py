"""Detection of lines that set, end or forbid something in a group, commands to a bot, and orders about its memory."""

from __future__ import annotations

from ..lexical.folding import folded
from ..patterns import Pattern

_READ = 300  # characters of a text
_RULES = Pattern(
    "规矩|群规|以后|今后|往后|从(?:今|这|下|明)|每(?:天|周|晚|月|次|个?月|年|逢)|照旧|改(?:到|成|为|在|期|约)|挪(?:到)?|顺延"
    "|不(?:许|准|要|能|得|可|让)|别(?:再|往|发|用|在|忘)|禁止|严禁|统一|一律|必须|务必|记得|注意|取消|恢复|暂停|停(?:一|两|三)|投票|定(?:在|了|成|个)"
    "|就叫|叫做|约定|习惯|一般都|大家都|谁[^，。！!？?谁]{1,8}谁"
    "|(?<![a-z])(?:rule|from now on|always|never|every (?:day|week|month))(?![a-z])"
)
_LAYS_DOWN = Pattern(
    "立[^，。,]{0,3}规矩|群规|规矩[：:是]|(?:以后|今后|往后|从此)[^，。！!？?]{0,16}(?:都|别|不|统一|一律|必须|要|只|谁|每|改|先|在)"
    "|从(?:今|这|下|明|本)[^，。！!？? ]{0,5}起|谁[都也](?:别|不)|不许|不准|不得|禁止|严禁|一律|必须|务必"
    "|(?:[周例月早晚]会|开会|每[周月天])[^，。！!？?]{0,8}(?:改|挪|换|停|照旧|取消|顺延|定)"
    "|(?<![a-z])(?:from now on|new rule|(?:nobody|everyone|no one) (?:may|must))(?![a-z])"
)
_OPEN = Pattern("[?？吗]|能不能|要不要|是不是|行不行|(?<![一-龥])我(?!们)")
_FORBIDS = Pattern(
    "不(?:许|准|要|能|得|可以|可|让|再|往|说|谈|讨论|收|带|用|在|发|艾特|剧透|受理)|别|勿|莫|禁|忌|严禁|谢绝|避免|只(?:有|能|许|准)|必须|务必|统一|一律"
    "|(?<![a-z])(?:no|not|never|don't|must|forbidden)(?![a-z])"
)
_ENDS = Pattern(
    "取消|作废|废(?:除|止|掉|了)|不算数?了|不(?:用|必|需要)再?|不再|停(?:办|用|掉|了|止|更)|算了|解散|撤(?:了|掉|销)|到此为止"
    "|不[^，,。！!？? ]{1,10}了(?=$|[，,。！!~～ ])|(?:改|换|挪|搬|移)(?:成|为|到|在|去|[周明后下])|放开|解禁"
    "|可以[^，,。！!？? ]{0,10}了"
    "|(?<![a-z])(?:cancel|no longer|abolish|drop the rule|not any ?more)"
)
_COMMAND = Pattern(r"[/／][^\s/／]|[.!#][a-z]+(?:\s|$)")
_OF_MEMORY = Pattern(
    "(?:删(?:除|掉|了|光)?|清(?:空|除|掉|零)|忘(?:掉|记|了)?|抹(?:掉|去|除)|重置|覆盖|改写|作废)[^，。！!？?\\n]{0,8}"
    "(?:记忆|群记忆|记录|设定|规则|规矩|所有|全部|一切|memory|memories)"
    "|(?:把|将)[^，。！!？?\\n]{0,12}(?:记忆|群记忆|规则|规矩)[^，。！!？?\\n]{0,8}(?:删|清|忘|抹|改|作废)"
    "|(?:记忆|记住|记下|写进记忆|写入记忆)[：:，,、]|请?(?:记住|记下|牢记)[^，。！!？?\\n]{0,4}(?:以后|今后|从|我|管理)"
    "|(?:delete|erase|wipe|forget|reset) (?:all|every|the|your)[^.!?\\n]{0,20}(?:memor|rule|belief)"
)


def sets_rules(text: str) -> bool:
    """Return whether a line of chat may set, change or end a rule of a group."""
    return bool(_RULES.compiled.search(folded(text[:_READ])))


def lays_down_rule(text: str) -> bool:
    """Return whether a line states what the group does from then on, rather than asks, or tells somebody's own plan."""
    read = folded(text[:_READ])
    return bool(_LAYS_DOWN.compiled.search(read)) and not _OPEN.compiled.search(read)


def ends_rules(text: str) -> bool:
    """Return whether a line of chat says that something is cancelled, stopped or replaced."""
    return bool(_ENDS.compiled.search(folded(text[:_READ])))


def forbids(text: str) -> bool:
    """Return whether a statement forbids or demands something."""
    return bool(_FORBIDS.compiled.search(folded(text[:_READ])))


def is_command(text: str) -> bool:
    """Return whether a line begins like a command to a bot."""
    return bool(_COMMAND.compiled.match(folded(text[:_READ]).strip()))


def orders_memory(text: str) -> bool:
    """Return whether a line tells a bot what to remember or to forget."""
    return bool(_OF_MEMORY.compiled.search(folded(text[:_READ])))
