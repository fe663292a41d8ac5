"""Detection of empty model answers: no text, a refusal, or "nothing new" where a rewrite was requested."""

from __future__ import annotations

import re

from ..patterns import lazy

_READ = 160  # characters of an answer; a refusal is at its beginning
_TELLING = 4  # characters; shorter answers occur in ordinary sentences
_LABELLED = re.compile(r"[^()（）\s]{0,40}[(（][0-9A-Za-z_-]{1,128}[)）]\s*[:：]")
_NO_WORD = re.compile(r"[\W_]+")
_NOTHING = lazy(
    "无|没有|没|空|略|跳过|忽略|暂无|不适用|同上"
    "|(?:这条|该|此|本条|以上)?(?:消息|内容|观察|对话)?[中里]?(?:没有|并无|无|不含|未包含|未发现|不包含)(?:任何|什么)?(?:新的?|可|值得|需要?)?"
    "[供被]?(?:记录|记忆|记住|保存|提取|改写|更新)?的?新?(?:信息|内容|事实|变化|事项|东西)?"
    "|(?:无需|不需要?|不必|不用|不值得|没必要)被?(?:记录|记忆|记住|保存|更新|修改|改写|处理)"
    "|none|null|nil|na|n a|nothing|undefined|empty|skip(?:ped)?|pass|no|not applicable"
    "|(?:there (?:is|s) )?(?:nothing|no)(?: new| relevant| useful)?(?: information| info| facts?| content)?"
    "(?: (?:to|worth) (?:add|record|recording|remember|remembering|rewrite|report|note))?"
    "|no (?:changes?|updates?|observations?)(?: needed)?"
)
_REFUSAL = lazy(
    "(?:非常|很|十分)?(?:抱歉|对不起|不好意思|遗憾).{0,20}?(?:无法|不能|没法|不便|没办法|不可以|拒绝)"
    "|我(?:无法|不能|没法|不便)(?:完成|处理|改写|协助|提供|满足|执行|回答|生成)"
    "|作为(?:一个|一名|一款)?(?:ai|人工智能|大?语言模型|智能助手|助手)"
    "|(?:i m |i am )?(?:very )?sorry.{0,40}?(?:can t|cannot|can not|unable|not able|won t)"
    "|(?:as )?(?:an? )(?:ai|artificial intelligence|(?:large )?language model)(?![a-z])"
    "|i (?:can t|cannot|can not|am unable to|m unable to|am not able to|won t) "
    "(?:assist|help|comply|process|rewrite|fulfil|provide|do|answer|continue|complete)"
)


def says_nothing(text: str, heard: str) -> bool:
    """Return whether a model's answer ``text`` to the observation ``heard`` is empty, a refusal or "nothing new".

    False if the observation says so in the same way. A leading name with its id and a colon is ignored.
    """
    answer = _words_of(_LABELLED.sub("", text[:_READ]))
    if not answer:
        return not _words_of(text)
    said = _words_of(_LABELLED.sub("", heard))
    if len(text) <= _READ and _NOTHING.fullmatch(answer):
        return not (_NOTHING.fullmatch(said) or (len(answer) >= _TELLING and answer in said))
    return bool(_REFUSAL.match(answer)) and not _REFUSAL.search(said)


def _words_of(text: str) -> str:
    return _NO_WORD.sub(" ", text).strip().casefold()
