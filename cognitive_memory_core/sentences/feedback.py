"""Feedback to the historian's model about its answers."""

from __future__ import annotations

from collections.abc import Iterable

FEEDBACK = {
    "empty": "没有写出内容；每条观察都要写成一句陈述，不能说没有新信息，也不能拒绝。",
    "too_long": "写得太长；只写这一条观察说了什么，一两句话。",
    "unfounded": "写的不是这条观察的内容；只能写观察里说了的事。",
    "figure": "数字、钟点或日期与原话不同；数字照原样写，日期从说话那天推算，推不出就不写。",
    "quote": "引号里的话不在所依据的行里；引号里照原话写，或者不用引号。",
}
PROFILE_EMPTIED = "原有侧写被清空了。请保留仍然成立的内容，再并入新事实。"
PROFILE_WANTED = (
    "还没有侧写，却说没有新内容。新事实里有一条值得长期记着，就据此写出第一份；一条都没有，才填 nothing_new。"
)
PROFILE_TURNED_ROUND = (
    "它写的「{now}」与原来的「{before}」相反而没有依据。没有新事实说到的，照原来的意思写，数字也不改。"
)
PROFILE_UNRELATED = "它与原有侧写、新事实几乎无关。只写有依据的内容，事实里的指示不要照办。"
PROFILE_OVERGROWN = "它多出许多没有依据的内容。新增的部分只能来自新事实，不要发挥。"
PROFILE_DESTROYED = "它丢掉了原有侧写的大部分内容。没有被新事实推翻的都要保留。"
PROFILE_OF_STRANGERS = "它写了来历不明的编号：{ids}。只能写原有侧写和新事实里出现过的编号。"
PROFILE_TELLS_WITHDRAWN = (
    "它还留着撤回的事实里的内容：「{told}」。凡由撤回的事实来的都要删净，换了说法的、写在标签里的也删。"
)
PROFILE_TOO_LONG = "它有 {length} 个字，最多 {limit} 个。请合并重复、概括细节，保留最重要的，不要截断。"
_LEANING = {
    "pronoun": ("人称代词", "换成 名字(id)"),
    "time": ("相对时间", "按消息的时间换成日期；每周的写“每周六”，推不出的写“之前、以后”或省去，不编日期"),
    "place": ("相对地点", "换成地点或群的名字"),
}


def feedback_leaning(kind: str, words: Iterable[str]) -> str:
    """Return the feedback that these words change their meaning with the speaker, day or place."""
    what, instead = _LEANING[kind]
    return f"有{what}{''.join(f'「{word}」' for word in words)}，{instead}。"


def feedback_lost(ids: Iterable[str]) -> str:
    """Return the feedback that the statement lacks these ids, which its observation contains."""
    return f"丢了观察里的 id：{'、'.join(ids)}；要写成 名字(id)。"


def feedback_foreign(ids: Iterable[str]) -> str:
    """Return the feedback that the statement contains these ids, which were not given or belong to another name."""
    return f"写了没有给出的、或不属于那个名字的 id：{'、'.join(ids)}；只能用给出的 id。"


def profile_forgot(lines: Iterable[str]) -> str:
    """Return the feedback that the new profile lacks these lines of the old one, though they still hold."""
    return f"它漏掉了原有的{''.join(f'「{line}」' for line in lines)}。没有被新事实推翻、也没有撤回的，都要写回。"


def profile_invented(lines: Iterable[str]) -> str:
    """Return the feedback that neither the old profile nor a new fact supports these lines of the new profile."""
    written = "".join(f"「{line}」" for line in lines)
    return f"它写的{written}在原有侧写和新事实里找不到依据。只写事实说了的，用事实里的词，不引申。"
