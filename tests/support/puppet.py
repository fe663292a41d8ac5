"""Scripted chat models that answer at once: a careful one, and ones controlled by an attacker.

A mind is a function from a :class:`Question` to an answer: a value to be encoded as JSON, or literal text. The same
minds answer a memory opened with ``chat=Puppet(mind)`` and, over HTTP, ``ModelServer.chat = answering(mind)``::

    async with CognitiveMemory.open(settings, folder, chat=Puppet(careful)) as memory:
        ...

Only this module knows the layout of prompts among the tests that use it.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from cognitive_memory_core.ports import Ask

from .model_server import Asked, Behaviour, Reply, tool_call

REWRITE, TRIAGE, MERGE = "historian_rewrite", "historian_triage", "historian_profile_merge"
T = TypeVar("T")
Part = Mapping[str, Any]


@dataclass(frozen=True)
class Question:
    """A prompt as a model reads it."""

    name: str
    instructions: str
    prompt: str
    schema: Part

    @cached_property
    def tasks(self) -> list[tuple[int, str]]:
        """Return the observations to rewrite, by number."""
        return _numbered(self.prompt, "tasks")

    @cached_property
    def lines(self) -> list[tuple[int, str]]:
        """Return the lines of a dialogue, by number."""
        return _numbered(self.prompt, "lines")

    @cached_property
    def facts(self) -> list[tuple[int, str]]:
        """Return the facts of a profile, by number: the words that were said, without date and line."""
        return [(number, _DATED.sub("", text).strip("“”")) for number, text in _numbered(self.prompt, "facts")]

    @cached_property
    def new_facts(self) -> list[tuple[int, str]]:
        """Return those facts that no line of the profile tells yet."""
        told = {number for number, text in _numbered(self.prompt, "facts") if _TOLD.match(text)}
        return [(number, text) for number, text in self.facts if number not in told]

    @cached_property
    def people(self) -> list[str]:
        """Return the ids of the people listed, the speaker first."""
        return _people(self.prompt)

    @cached_property
    def place(self) -> str:
        """Return the id of the group, "" in private."""
        return _place(self.prompt)


Mind = Callable[[Question], object]


def careful(question: Question) -> object:
    """Answer as a careful model would, if observations carry labels and dates."""
    answers: Mapping[str, Mind] = {REWRITE: _rewritten, TRIAGE: _judged, MERGE: _drawn}
    return answers[question.name](question)


def stating(*said: Part, drawing: Sequence[str] = (), tags: Sequence[str] = ()) -> Mind:
    """Return the mind of a model that states this of whatever it reads, and draws these lines and tags of everybody."""

    def answer(question: Question) -> object:
        if question.name == MERGE:
            return drawn(question, *drawing, tags=tags)
        return shaped(question, *said, should_remember=True, reason="照办")

    return answer


@dataclass
class Puppet:
    """A chat model answered by a mind; ``failures`` are raised first, one per question.

    ``refuses`` maps names of prompts to errors that are raised for them. ``asked`` and ``written`` record everything.
    """

    mind: Mind = careful
    failures: list[Exception] = field(default_factory=list[Exception])
    refuses: dict[str, Exception] = field(default_factory=dict[str, Exception])
    seconds: float = 0.0
    asked: list[Question] = field(default_factory=list[Question])
    written: list[str] = field(default_factory=list[str])
    purposes: list[str] = field(default_factory=list[str])

    async def ask(self, ask: Ask[T]) -> T:
        """Answer, or fail as configured."""
        question = Question(ask.name, ask.instructions, ask.prompt, ask.schema)
        self.asked.append(question)
        self.purposes.append(ask.purpose)
        if self.seconds:
            await asyncio.sleep(self.seconds)
        if self.failures:
            raise self.failures.pop(0)
        if ask.name in self.refuses:
            raise self.refuses[ask.name]
        answer = as_text(self.mind(question))
        self.written.append(answer)
        return ask.parse(answer)

    def count(self, name: str) -> int:
        """Return how often a prompt of this name was asked."""
        return sum(question.name == name for question in self.asked)


def answering(mind: Mind = careful) -> Behaviour:
    """Return a server behaviour that answers with a mind."""

    def behave(asked: Asked) -> Reply:
        return tool_call(as_text(mind(question_of(asked))))(asked)

    return behave


def question_of(asked: Asked) -> Question:
    """Parse a request that has a tool."""
    function = asked.body["tools"][0]["function"]
    instructions, prompt = (message["content"] for message in asked.body["messages"][:2])
    return Question(function["name"], instructions, prompt, function["parameters"])


def as_text(answer: object) -> str:
    """Return an answer as a model writes it: text unchanged, anything else as JSON."""
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


# Answers.


def shaped(question: Question, *statements: Part, **fields: object) -> dict[str, object]:
    """Fill the prompt's schema: its list gets the statements, other fields those given or the smallest value."""
    properties: Mapping[str, Part] = question.schema.get("properties", {})
    return {
        key: [_row(part, one) for one in statements] if _is_list_of_objects(part) else fields.get(key, _least(part))
        for key, part in properties.items()
    }


def statement(number: int, text: str, subjects: Sequence[str] = (), speaker: str = "", **fields: object) -> Part:
    """Return a model's statement about one observation."""
    said = {"number": number, "text": text, "kind": "preference", "subjects": list(subjects), "speaker": speaker}
    return {**said, "confidence": 0.9, "same_as": 0, **fields}


def each_task(question: Question, **fields: object) -> object:
    """Answer every task with its own text, except for ``fields``."""
    tasks = question.tasks or question.lines
    return shaped(question, *(_said(question, number, text, fields) for number, text in tasks), **_TRIAGED)


_TRIAGED = {"should_remember": True, "reason": "worth it"}


def _said(question: Question, number: int, text: str, fields: Mapping[str, object]) -> Part:
    return {**statement(number, text, [], "", lines=[number]), **fields}


def _rewritten(question: Question) -> object:
    said = (_as_is(question, number, text) for number, text in question.tasks)
    return shaped(question, *said)


def _as_is(question: Question, number: int, text: str) -> Part:
    mentioned = [one for one in re.findall(r"[0-9]{4,}", text) if one in (*question.people, question.place)]
    speaker = question.people[0] if question.people else ""
    cited = [at for at, line in question.lines if line.endswith(f"：{text}")]
    return statement(number, text, list(dict.fromkeys(mentioned)), speaker, lines=cited)


def _judged(question: Question) -> object:
    said = [_heard(number, *_said_by(text)) for number, text in question.lines]
    kept = [one for one in said if one["speaker"] in question.people]
    return shaped(question, *kept, should_remember=bool(kept), reason="worth it")


def _heard(number: int, label: str, speaker: str, text: str) -> Part:
    """Write a line of somebody's own as a statement about them, any other one as their word."""
    told = text.replace("我", label)
    about = [found[2] for found in _LABEL.finditer(told)] or [speaker]
    told = told if f"({speaker})" in told else f"{label} 说过：{text}"
    return statement(number, told, about, speaker, lines=[number])


def line(text: str, facts: Sequence[int], section: str = "summary") -> Part:
    """Return a model's line of a profile."""
    return {"section": section, "text": text, "facts": list(facts)}


def drawn(question: Question, *texts: str, tags: Sequence[str] = (), **fields: object) -> object:
    """Write these texts into a profile, as if each rested on all facts."""
    every = [number for number, _ in question.facts]
    return shaped(question, *(line(text, every) for text in texts), tags=list(tags), **fields)


def _drawn(question: Question) -> object:
    """Write a line for each new fact, without a leading 我."""
    lines = (line(text.removeprefix("我"), [number], "topics") for number, text in question.new_facts)
    return shaped(question, *lines)


def _row(part: Part, said: Part) -> dict[str, object]:
    properties: Mapping[str, Part] = part["items"].get("properties", {})
    return {key: said.get(key, _least(one)) for key, one in properties.items()}


def _is_list_of_objects(part: Part) -> bool:
    return part.get("type") == "array" and part.get("items", {}).get("type") == "object"


def _least(part: Part) -> object:
    if "enum" in part:
        return part["enum"][0]
    kinds: Mapping[str, object] = {"array": [], "string": "", "integer": 0, "number": 0.0, "boolean": False}
    return kinds.get(part.get("type", "object"), {})


# Reading prompts.

_PARTS = {"tasks": "观察", "lines": "聊天", "facts": "事实", "people": "名单"}
_NUMBERED = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)
_LABEL = re.compile(r"([^\s()：，]*)\(([^()\s]+)\)")
_DATED = re.compile(r"^\d{4}年\d{1,2}月\d{1,2}日 (?:\[行\d+\] )?")
_TOLD = re.compile(r"^\S+ \[行")
_SAYS = re.compile(r"^(?:\S+ )?\d\d:\d\d ([^：]*)：(.*)$")


def _part(prompt: str, name: str) -> str:
    """Return the content between the tags of one part, "" if it is missing."""
    _, _, rest = prompt.partition(f"<{_PARTS[name]}>\n")
    return rest.partition(f"\n</{_PARTS[name]}>")[0]


def _numbered(prompt: str, name: str) -> list[tuple[int, str]]:
    return [(int(found[1]), found[2]) for found in _NUMBERED.finditer(_part(prompt, name))]


def _people(prompt: str) -> list[str]:
    who = [found[2] for line in prompt.split("\n") if line.startswith("触发者：") and (found := _LABEL.search(line))]
    listed = [found[2] for line in _part(prompt, "people").split("\n") if (found := _LABEL.match(line))]
    return list(dict.fromkeys((*who, *listed)))


def _place(prompt: str) -> str:
    named = (line for line in prompt.split("\n") if line.startswith("地点：群聊 "))
    found = next((found for line in named if (found := list(_LABEL.finditer(line)))), [])
    return found[-1][2] if found else ""


def _said_by(line: str) -> tuple[str, str, str]:
    """Return a line's speaker as label and id, and its text; both are "" for the bot and for unknown speakers."""
    says = _SAYS.match(line)
    label = _LABEL.search(says[1].partition("[")[0]) if says else None
    return (label[0], label[2], says[2]) if says and label else ("", "", line)
