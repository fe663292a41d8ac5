"""Feedback to the historian's model about its answers."""

from __future__ import annotations

FEEDBACK = {
    "empty": "没有写出内容；每条观察都要写成一句陈述，不能说没有新信息，也不能拒绝。",
    "too_long": "写得太长；只写这一条观察说了什么，一两句话。",
    "unfounded": "写的不是这条观察的内容；只能写观察里说了的事。",
    "figure": "数字、钟点或日期与原话不同；数字照原样写，日期从说话那天推算，推不出就不写。",
    "quote": "引号里的话不在所依据的行里；引号里照原话写，或者不用引号。",
}
LEANING = {
    "pronoun": "有人称代词{words}，换成 名字(id)。",
    "time": "有相对时间{words}，按消息的时间换成日期；每周的写“每周六”，推不出的写“之前、以后”或省去，不编日期。",
    "place": "有相对地点{words}，换成地点或群的名字。",
}
LOST = "丢了观察里的 id：{ids}；要写成 名字(id)。"
FOREIGN = "写了没有给出的、或不属于那个名字的 id：{ids}；只能用给出的 id。"
