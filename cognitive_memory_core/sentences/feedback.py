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
