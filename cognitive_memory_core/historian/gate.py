"""The gate: only what stands on its own counts as absolute, and nothing may come out that did not go in."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import add
from typing import Literal

from ..domain.event import Statement
from ..domain.people import Anchors, Person
from ..text.frequency import FUNCTION_WORDS
from ..text.lexicon import Offence, offences
from ..text.spared_spans import Spared, named
from ..text.terms import pieces_of
from ..text.timewords import mentions
from ..text.written_ids import mislabelled, plain, spoken, standing, strange_numbers

Fault = Literal["empty", "too_long", "unfounded", "language"]

READ = 2_000  # characters of a text that are looked at
_GIVEN_READ = 32_000  # of all that the model was given
_LONG, _TIMES_HEARD = 500, 3
_JUDGED_TERMS, _LEAST_SHARED = 4, 0.05  # measured: 1 of 152 true rewrites falls below, 93 to 97 of 100 exchanged ones
_HAN = re.compile("[一-鿿㐀-䶿]")
_LATIN = re.compile("[A-Za-z]")
_LATIN_WORD = re.compile("[A-Za-z]{2,}")
_FEW_WORDS = 3
_LABEL = re.compile(r"[(（][0-9A-Za-z_-]{1,128}[)）]")
_LABELLED = re.compile(r"[^()（）\s]{0,40}[(（][0-9A-Za-z_-]{1,128}[)）]\s*[:：]?")
_NO_WORD = re.compile(r"[\W_]+")
_NOTHING = re.compile(
    "无|没有|没|空|略|跳过|忽略|暂无|不适用|同上|(?:这条|该|此|本条|以上)?(?:消息|内容|观察|对话)?(?:中|里)?(?:没有|并无|无|不含|未包含|未发现|不包含)"
    "(?:任何|什么)?(?:新的?|可|值得|需要?)?(?:供|被)?(?:记录|记忆|记住|保存|提取|改写|更新)?的?(?:新)?(?:信息|内容|事实|变化|事项|东西)?"
    "|(?:无需|不需要?|不必|不用|不值得|没必要)(?:被)?(?:记录|记忆|记住|保存|更新|修改|改写|处理)"
    "|none|null|nil|na|n a|nothing|undefined|empty|skip(?:ped)?|pass|no|not applicable"
    "|(?:there (?:is|s) )?(?:nothing|no)(?: new| relevant| useful)?(?: information| info| facts?| content)?"
    "(?: (?:to|worth) (?:add|record|recording|remember|remembering|rewrite|report|note))?"
    "|no (?:changes?|updates?|observations?)(?: needed)?"
)
_REFUSAL = re.compile(
    "(?:非常|很|十分)?(?:抱歉|对不起|不好意思|遗憾)[^。！？]{0,20}?(?:无法|不能|没法|不便|没办法|不可以|拒绝)"
    "|我(?:无法|不能|没法|不便)(?:完成|处理|改写|协助|提供|满足|执行|回答|生成)"
    "|作为(?:一个|一名|一款)?(?:ai|人工智能|大?语言模型|智能助手|助手)"
    "|(?:i m |i am )?(?:very )?sorry[^.!?]{0,40}?(?:can t|cannot|can not|unable|not able|won t)"
    "|(?:as )?(?:an? )(?:ai|artificial intelligence|(?:large )?language model)\\b"
    "|i (?:can t|cannot|can not|am unable to|m unable to|am not able to|won t) "
    "(?:assist|help|comply|process|rewrite|fulfil|provide|do|answer|continue|complete)",
)
_REFUSAL_READ = 160


@dataclass(frozen=True)
class Verdict:
    """What is wrong with one statement of a model; nothing where it may pass.

    ``lost_ids`` are known ids that stood in what was heard and are gone; ``foreign_ids`` are numbers of five or more
    digits that stand nowhere in what the model was given, and known ids behind the name of somebody else. ``faults``
    make a text no rewrite at all.
    """

    offences: tuple[Offence, ...] = ()
    lost_ids: tuple[str, ...] = ()
    foreign_ids: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()

    @property
    def has_drift(self) -> bool:
        """Whether it speaks of somebody else than what was heard: no force lets that pass."""
        return bool(self.lost_ids or self.foreign_ids)

    @property
    def is_usable(self) -> bool:
        """Whether the text may be stored at all, absolute or not."""
        return not (self.has_drift or self.faults)

    @property
    def is_absolute(self) -> bool:
        """Whether the statement stands on its own."""
        return self.is_usable and not self.offences


def judge(text: str, heard: str, context: Sequence[str], anchors: Anchors) -> Verdict:
    """Judge what a model made of ``heard``, an observation, in the light of the other texts that it was given.

    The first 2,000 characters of each text count; a longer one is too long anyway.
    """
    known = _Known(anchors)
    read, given = text[:READ], "\n".join((heard[:READ], *(one[:READ] for one in context)))[:_GIVEN_READ]
    faults = tuple(_faults(text, heard, given, known))
    if "empty" in faults:
        return Verdict(faults=faults)
    written = plain(read)
    lost = known.standing_in(plain(heard[:READ])).difference(known.standing_in(written))
    foreign = (*strange_numbers(written, plain(given), known.ids), *mislabelled(written, known.bearers, known.ids))
    return Verdict(
        offences(read, names=known.names),
        tuple(one for one in known.ids if one in lost),
        tuple(dict.fromkeys(foreign)),
        faults,
    )


def judged(statement: Statement, names: Collection[str]) -> Statement:
    """Mark a statement that still leans on its moment; known names are never offences."""
    if statement.is_absolute and offences(statement.text, names=names):
        return replace(statement, is_absolute=False)
    return statement


class _Known:
    """Whom the anchors name, by ids and by all their names; the group is one of them."""

    def __init__(self, anchors: Anchors) -> None:
        """Read the anchors."""
        place = Person(anchors.place.group_id, anchors.place_name, ("群",))
        self._everybody = [one for one in (anchors.speaker, *anchors.people, place) if one.id]
        self.ids = tuple(dict.fromkeys(one.id for one in self._everybody))
        self.names = tuple(dict.fromkeys(name for one in (*self._everybody, place) for name in _called(one)))

    @cached_property
    def bearers(self) -> dict[str, set[str]]:
        """The ids of those who bear or bore a name."""
        found: dict[str, set[str]] = {}
        for person in self._everybody:
            for name in _called(person):
                found.setdefault(plain(name), set()).add(person.id)
        found["QQ"] = set(self.ids)  # what somebody without a name is called
        return found

    def standing_in(self, written: str) -> set[str]:
        """Give the known ids that stand in a plain text."""
        return set(standing(written, self.ids, self.bearers))


def _called(person: Person) -> Iterator[str]:
    """Give the names of a person, in full and as others say them."""
    for name in (person.name, *person.aliases):
        if name:
            yield name
            yield spoken(name)


def _faults(text: str, heard: str, given: str, known: _Known) -> Iterator[Fault]:
    read = text[:READ]
    if _says_nothing(read, heard):
        yield "empty"
        return
    if len(text) > _LONG and len(text) > _TIMES_HEARD * len(heard):
        yield "too_long"
    own, source = _content(read, known.names), _content(heard[:READ], known.names)
    if _words_of(source) and not _words_of(own):
        yield "empty"
        return
    if _is_translated(own, source, given, known):
        yield "language"
    if _is_unfounded(own, given):
        yield "unfounded"


def _says_nothing(text: str, heard: str) -> bool:
    """Tell an empty answer, a refusal and "nothing new" from an observation that says such words itself."""
    bare = _words_of(_LABELLED.sub("", text[:_REFUSAL_READ]))
    if not bare:
        return not _words_of(text)
    said = _words_of(heard[:READ])
    nothing = _NOTHING.fullmatch(bare) if len(text) <= _REFUSAL_READ else None
    match = nothing or _REFUSAL.match(bare)
    return bool(match) and match[0] not in said


def _words_of(text: str) -> str:
    return _NO_WORD.sub(" ", text).strip().casefold()


def _content(text: str, names: Collection[str]) -> str:
    """Blank what is the same in every rewrite: labels, known names and times."""
    spans = [match.span() for match in _LABEL.finditer(text)]
    spans += [(mention.start, mention.stop) for mention in mentions(text)]
    spared = Spared(len(text), (*spans, *named(text, names, lambda _: False)))
    return spared.blanked(text)


def _is_translated(own: str, source: str, given: str, known: _Known) -> bool:
    """Tell whether the language changed: no Han is left, or Han came where nobody wrote any."""
    if _HAN.search(source):
        return bool(_LATIN.search(own)) and not _HAN.search(own)
    if len(_LATIN_WORD.findall(source)) < _FEW_WORDS or not _HAN.search(own):
        return False
    return not _HAN.search(_content(given, known.names))


def _is_unfounded(own: str, given: str) -> bool:
    """Tell whether a text shares next to nothing with all that was given."""
    terms = {term for term in _terms(own) if term not in FUNCTION_WORDS}
    if len(terms) < _JUDGED_TERMS:
        return False
    return len(terms.intersection(_terms(given))) < _LEAST_SHARED * len(terms)


def _terms(text: str) -> Iterator[str]:
    """Give the words of a text; pairs of neighbouring characters where words are not parted."""
    for run, word in pieces_of(text):
        if word:
            yield word
        else:
            yield from map(add, run, run[1:])
