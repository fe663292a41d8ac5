"""The people known in a place, and the names that identify one of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property

from ...domain.people import JobContext, Person
from ...text.identity.name_cleaning import clean_name
from ...text.statements.lexicon import is_leaning_word

_BARE_ID = 5  # length from which an id is recognised without a name beside it
_TOKEN = re.compile("[0-9A-Za-z_-]{1,128}")
_SPOKEN = re.compile(r"\w{2,}")
_NUMERALS = re.compile("[零〇一二三四五六七八九十百千万两0-9]+")
_EVERYBODYS_WORDS = """
大家 自己 别人 有人 没人 管理员 群主 机器人 老师 老板 同学 妈妈 爸爸 哥哥 姐姐 弟弟 妹妹 宝宝 朋友 学生 打工人
可以 什么 怎么 知道 不知道 没有 不是 喜欢 讨厌 开心 难过 高兴 快乐 谢谢 你好 哈哈 晚安 早安
加油 吃饭 睡觉 上班 下班 猫猫 狗狗 ok no yes hi test bot admin love
"""
_COMMON = frozenset(_EVERYBODYS_WORDS.split())


class KnownPeople:
    """The people of one place with the names under which they are known there."""

    def __init__(self, job_context: JobContext, others: Iterable[Person] = ()) -> None:
        """Collect the people of the job context and others present, each possibly under several names."""
        known: dict[str, dict[str, None]] = {}
        for person in (*others, job_context.speaker, *job_context.people):
            known.setdefault(person.id, {}).setdefault(clean_name(person.name))
        self._called = {user_id: [name for name in names if name] for user_id, names in known.items()}
        self.place = Person(job_context.place.group_id, clean_name(job_context.place_name) or "群")

    @cached_property
    def names(self) -> frozenset[str]:
        """Return what the people and the place are called, in full and in short form."""
        called = {name for names in self._called.values() for name in names}
        return frozenset(called | set(map(_short_form, called)) | {self.place.name})

    @cached_property
    def by_name(self) -> Mapping[str, Person]:
        """Return the names, full or short, that identify exactly one person and are no ordinary words, with the person.

        A name that passed from one person to another identifies neither of them.
        """
        ids_by_name: dict[str, set[str]] = {}
        for user_id, names in self._called.items():
            for name in {*names, *map(_short_form, names)}:
                ids_by_name.setdefault(name, set()).add(user_id)
        alone = {name: ids for name, ids in ids_by_name.items() if len(ids) == 1 and _is_identifying(name)}
        return {name: Person(next(iter(ids)), name) for name, ids in alone.items()}

    @cached_property
    def _names_like_ids(self) -> list[str]:
        return sorted((name for name in self.names if _TOKEN.search(name)), key=len, reverse=True)

    def person(self, user_id: str) -> Person:
        """Return the person with this id, under the first of their known names or without a name."""
        names = self._called.get(user_id)
        return Person(user_id, names[0] if names else "")

    def ids_in(self, text: str) -> tuple[str, ...]:
        """Return the ids of the known people that occur in a text, with or without a name.

        Digits inside a display name are not taken for an id: otherwise a person could pass for another whose number
        they put into their own name.
        """
        for name in self._names_like_ids:
            text = text.replace(f"{name}(", "(")
        tokens = frozenset(_TOKEN.findall(text))
        return tuple(user_id for user_id in self._called if _occurs(user_id, text, tokens))

    def is_of_place(self, text: str) -> bool:
        """Return whether a text is about the group: it begins with the group's label."""
        return bool(self.place.id) and text.startswith(self.place.label)


def _occurs(user_id: str, text: str, tokens: frozenset[str]) -> bool:
    return (len(user_id) >= _BARE_ID and user_id in tokens) or f"({user_id})" in text


def _short_form(name: str) -> str:
    """Return the short form of a decorated name: 陈皮 of 陈皮〔已还魂〕, 饺子 of 饺子🥟."""
    spoken = _SPOKEN.match(name)
    return spoken[0] if spoken else name


def _is_identifying(name: str) -> bool:
    """Return whether a name identifies a person wherever it occurs: it is no number and no ordinary word."""
    is_plain = len(name) > 1 and not _NUMERALS.fullmatch(name) and any(char.isalnum() for char in name)
    return is_plain and name.casefold() not in _COMMON and not is_leaning_word(name)
