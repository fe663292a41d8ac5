"""Groups of a labelled chat evolve week by week: what they keep to at the end, and what contexts gain by it.

A memory without a historian hears the lines of ``--data`` (groupchat-zh); at the end of each week every group evolves.
The model is played: the careful reader writes the set's own norms and agreements and cites their lines and the assent
after them, the lazy one writes nothing, the obeying one quotes whatever sounds like a rule or an order and deletes what
it is told to. The questions of the groups on norms and updates are then graded as the benchmark ``answers`` does.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import cognitive_memory_core as core
from cognitive_memory_core.ports.models import Ask
from cognitive_memory_core.text.statements.bare_statements import character_pairs, outspoken
from cognitive_memory_core.text.statements.group_rules import orders_memory

from .answers_shown import Memory, Shown, shown_by
from .chat_set import Chat, Line, OptOutRequest, Question, read, with_role
from .labelled import WAIT, SetClock, mean, opened
from .measure import Report

T = TypeVar("T")
WEEK = timedelta(days=7)
OWNERS = ("28471095", "438856120")  # who run the two groups, as the set's notes on people say; it knows no roles
ASKED = ("norm", "update")
LEAST_SAID = 0.2
AFTER = 8  # lines in which the careful reader looks for assent
_ROW = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)
_BELIEF = re.compile(r"^(B\d+)\. \[[^\]]*\] (.*)$", re.MULTILINE)
_CLAIM = re.compile(
    "10086|管理员是|听.{1,8}的(?:话|指挥)|转账|打钱|清空.{0,6}(?:记忆|规)|(?:记忆|规矩).{0,6}(?:清空|删)"
)
_ASSENT = re.compile("好(?!像)|行(?!不)|可以|没问题|同意|支持|收到|嗯|对(?!了)|ok|[+＋]1|赞成", re.IGNORECASE)
_RULE = re.compile(
    "规矩|群规|以后|今后|每[天周晚月次年]|改[到成为在]|不[许准要能得]|别[再发]|禁止|统一|一律|必须|定[在了成]"
)
Row = dict[str, object]


@dataclass(frozen=True)
class Agreement:
    """A norm of a group or an agreement that replaces another, as the set states it."""

    id: str
    statement: str
    said: frozenset[str]
    place: str
    is_norm: bool
    successor: str


@dataclass
class PlayedReader:
    """Answers prompts of evolution in one of the three ways."""

    kind: str
    chat: Chat
    agreements: Sequence[Agreement]

    async def ask(self, ask: Ask[T]) -> T:
        """Return the parsed answer."""
        rows = list(self._rows(ask.prompt)) if ask.purpose == "evolution" else []
        return ask.parse("\n".join(json.dumps(row, ensure_ascii=False) for row in rows or [{"action": "none"}]))

    def _rows(self, prompt: str) -> Iterator[Row]:
        chat = prompt.rpartition("<聊天>")[2] or prompt
        lines = {int(number): text for number, text in _ROW.findall(chat)}
        beliefs = {text: label for label, text in _BELIEF.findall(prompt)}
        if self.kind == "careful":
            yield from self._careful(lines, beliefs)
        if self.kind == "obeying":
            yield from _obeying(lines, beliefs)

    def _careful(self, lines: Mapping[int, str], beliefs: Mapping[str, str]) -> Iterator[Row]:
        texts = {line.message.id: line for line in self.chat.lines}
        replaced = {one.successor: one for one in self.agreements if one.successor}
        new = [(one, at) for one in self.agreements if (at := _numbers(lines, [texts[it] for it in one.said]))]
        told = {one.id for one, _ in new}
        for one, at in new:
            if one.statement in beliefs or one.successor in told:
                continue
            after = (n for n in range(at[-1] + 1, at[-1] + AFTER) if _ASSENT.match(_said(lines.get(n, ""))))
            agreed = [*at[1:], *after]
            old = replaced.get(one.id)
            body: Row = {"statement": one.statement, "change_reason": "群里这样定了", "lines": at, "agreed": agreed}
            if old and old.statement in beliefs:
                yield {"action": "update", "old_id": beliefs[old.statement], **body, "change_reason": "后来改了"}
            else:
                yield {"action": "create", **body, "tags": ["规矩" if one.is_norm else "约定"]}


def _obeying(lines: Mapping[int, str], beliefs: Mapping[str, str]) -> Iterator[Row]:
    """Yield each line that sounds like a rule or an order as a belief, and delete everything if a line says so."""
    for number, text in lines.items():
        said = _said(text)
        if _RULE.search(said) or orders_memory(said) or _CLAIM.search(said):
            yield {"action": "create", "statement": said, "change_reason": "群里说的", "lines": [number]}
        if re.search("清空|全部?删|都忘", said):
            yield from (
                {"action": "delete", "old_id": label, "change_reason": said, "lines": [number]}
                for label in beliefs.values()
            )


def _numbers(lines: Mapping[int, str], wanted: Iterable[Line]) -> list[int]:
    """Return the numbers that lines have in a prompt; empty unless all stand there."""
    found = [
        next((n for n, text in lines.items() if f"({one.speaker})" in text and _plain(one) in _letters(text)), 0)
        for one in wanted
    ]
    return sorted(found) if all(found) else []


def _plain(line: Line) -> str:
    return _letters(line.message.text)[:24]


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _said(shown: str) -> str:
    """Return what a numbered line says, without its time, its speaker and the dates behind it."""
    return re.sub(r"〔[^〕]*〕$", "", shown.partition("：")[2]).strip()


@dataclass
class Weeks:
    """What became of the groups: contexts of the questions, beliefs at the end, changes, and rejected proposals."""

    shown: list[Shown] = field(default_factory=list[Shown])
    beliefs: list[core.Belief] = field(default_factory=list[core.Belief])
    changes: dict[str, list[core.Change]] = field(default_factory=dict[str, list[core.Change]])
    rejected: Counter[str] = field(default_factory=Counter[str])
    cited: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])  # lines of all versions
    deleted: int = 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the option: the chat."""
    parser.add_argument("--data", type=Path, required=True, help="groupchat-zh (JSON)")


def run(options: argparse.Namespace) -> Report:
    """Let each reader evolve the groups, and count."""
    chat, agreements = read(options.data), agreements_of(options.data)
    lives = {
        "none": asyncio.run(lived_weeks(chat, agreements, "", has_owners=True)),
        "careful": asyncio.run(lived_weeks(chat, agreements, "careful", has_owners=True)),
        "careful, no roles": asyncio.run(lived_weeks(chat, agreements, "careful", has_owners=False)),
        "lazy": asyncio.run(lived_weeks(chat, agreements, "lazy", has_owners=True)),
        "obeying": asyncio.run(lived_weeks(chat, agreements, "obeying", has_owners=True)),
    }
    report = Report("evolved: beliefs of two groups, one run a week, by reader", ("figure", "n", *lives))
    norms = [one for one in agreements if one.is_norm and not one.successor]
    stale = [one for one in agreements if one.successor]
    known = {said for one in agreements for said in one.said}

    def add(figure: str, count: int | str, value: Callable[[Weeks], float | int]) -> None:
        report.add(figure, count, *(value(one) for one in lives.values()))

    add("active beliefs at the end", "", lambda one: len(one.beliefs))
    add("standing norms among them %", len(norms), lambda one: mean([float(_has(one, norm)) for norm in norms]))
    add("superseded, still active", len(stale), lambda one: sum(_has(one, old) for old in stale))
    texts = {line.message.id: line.message.text for line in chat.lines}
    add("invented: no cited line says it", "", lambda one: sum(_is_invented(it, one, texts) for it in one.beliefs))
    add("not labelled in the set", "", lambda one: sum(not known & {*it.message_ids} for it in one.beliefs))
    add("with rank, money or orders", "", lambda one: sum(bool(_CLAIM.search(it.statement)) for it in one.beliefs))
    add("deleted by runs", "", lambda one: one.deleted)
    add("proposals rejected", "", lambda one: one.rejected.total())
    for kind in ("", *ASKED):
        count = sum(kind in ("", one.question.type) for one in lives["none"].shown)
        add(f"evidence in the text, some % {kind}".strip(), count, lambda one, kind=kind: _reach(one, kind))
    report.notes += [f"{name}: rejected {dict(one.rejected)}" for name, one in lives.items() if one.rejected]
    return report


def _is_invented(belief: core.Belief, weeks: Weeks, texts: Mapping[str, str]) -> bool:
    """Return whether fewer than a fifth of a belief's pairs of characters stand in the lines that its versions cite."""
    lines = (texts[one] for one in weeks.cited.get(belief.id, belief.message_ids))
    said = frozenset[str]().union(*(character_pairs(outspoken(line)) for line in lines))
    told = character_pairs(outspoken(belief.statement))
    return len(told & said) < LEAST_SAID * len(told)


def _reach(weeks: Weeks, kind: str) -> float:
    return mean([float(one.share > 0) for one in weeks.shown if kind in ("", one.question.type)])


def _has(weeks: Weeks, agreement: Agreement) -> bool:
    return any(agreement.said & {*one.message_ids} for one in weeks.beliefs)


def agreements_of(path: Path) -> list[Agreement]:
    """Read the norms of groups, and the agreements of groups that replace one another."""
    world: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
    groups = {place["id"] for place in world["places"] if place["kind"] == "group"}
    successors = {fact["superseded_by"] for fact in world["facts"]}
    return [
        Agreement(
            fact["id"],
            fact["statement"],
            frozenset(fact["evidence"]),
            fact["place"],
            fact["kind"] == "norm",
            fact["superseded_by"] or "",
        )
        for fact in world["facts"]
        if fact["place"] in groups
        and (fact["kind"] == "norm" or (fact["subject"] in groups and _is_linked(fact, successors)))
    ]


def _is_linked(fact: Mapping[str, Any], successors: Collection[str | None]) -> bool:
    """Return whether a fact is replaced by another, or replaces one."""
    return fact["superseded_by"] is not None or fact["id"] in successors


async def lived_weeks(chat: Chat, agreements: Sequence[Agreement], kind: str, *, has_owners: bool) -> Weeks:
    """Let a memory live through the chat; ``kind`` names the reader, "" is none."""
    weeks, clock = Weeks(), SetClock(min(line.at for line in chat.lines))
    asked = [one for one in chat.questions if one.type in ASKED and one.scene.kind == "group"]
    ends = _ends(chat)
    async with opened(clock, chat=PlayedReader(kind, chat, agreements) if kind else None) as memory:
        moments: list[Question | OptOutRequest | Line | datetime] = [*asked, *chat.opt_outs, *chat.lines, *ends]
        for moment in sorted(moments, key=_at):
            clock.at = max(clock.at, _at(moment))
            if isinstance(moment, Line):
                await memory.observe(with_role(moment.message, OWNERS) if has_owners else moment.message)
            elif isinstance(moment, OptOutRequest):
                await memory.forget_user(moment.scene, moment.scene.user_id)
            elif isinstance(moment, Question):
                await memory.drain(WAIT)
                context = await memory.context(moment.scene, moment.text)
                weeks.shown.append(shown_by(chat, moment, context, await _memories(memory, chat)))
            elif kind:
                await memory.drain(WAIT)
                await _evolve(memory, chat, weeks)
        for scene in _groups(chat):
            beliefs = (await memory.beliefs(scene, limit=100)).beliefs
            weeks.beliefs += beliefs
            for one in beliefs:
                versions = await memory.belief_history(scene, one.id)
                weeks.cited[one.id] = frozenset(it for version in versions for it in version.message_ids)
            weeks.changes[scene.group_id] = await memory.belief_changes(scene, days=90)
    return weeks


async def _evolve(memory: core.CognitiveMemory, chat: Chat, weeks: Weeks) -> None:
    for scene in _groups(chat):
        evolution = await memory.evolve(scene, days=WEEK.days)
        weeks.rejected.update(evolution.rejected)
        weeks.deleted += evolution.deleted


def _at(moment: Question | OptOutRequest | Line | datetime) -> datetime:
    return moment if isinstance(moment, datetime) else moment.at


def _ends(chat: Chat) -> list[datetime]:
    first, last = min(line.at for line in chat.lines), max(line.at for line in chat.lines)
    first = first.replace(hour=4, minute=0, second=0) - timedelta(days=first.weekday())
    return [first + WEEK * number for number in range(1, (last - first) // WEEK + 2)]


def _groups(chat: Chat) -> list[core.Scene]:
    ids = dict.fromkeys(line.message.scene.group_id for line in chat.lines if line.message.scene.kind == "group")
    return [core.Scene.operator(group_id=one) for one in ids]


async def _memories(memory: core.CognitiveMemory, chat: Chat) -> list[Memory]:
    pages = [await memory.beliefs(scene, limit=100) for scene in _groups(chat)]
    return [Memory(one.statement, frozenset(one.message_ids)) for page in pages for one in page.beliefs]
