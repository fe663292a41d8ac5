"""The prompts with a sample in them, so that an operator sees what a template becomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

from ..domain.belief import Belief
from ..domain.event import Fact
from ..domain.job import JobContext
from ..domain.message import Message
from ..domain.people import Person
from ..domain.profile import ProfileKey
from ..domain.scope import Scene
from ..ports import Ask, MergeInput
from .library import TEMPLATES, PromptLibrary, Task, read_templates, shipped_template

GROUP_ID, LI, DOU = "10001", "2000001", "2000002"
NAMES = {LI: "阿梨", DOU: "豆包"}
SAID = ((LI, "周日下午三点老地方，这次谁带零食？"), (DOU, "我带。提前说，我对花生过敏"), (LI, "记住了，不买带花生的"))


@dataclass(frozen=True)
class PromptPreview:
    """A prompt: its template, whose it is, and what a model gets of it with a sample.

    ``problem`` is why a template cannot be used; the package's own is then filled.
    """

    name: str
    template: str
    is_own: bool
    instructions: str
    prompt: str
    problem: str = ""


def previews(folder: Path, tried: Mapping[str, str], zone: tzinfo) -> list[PromptPreview]:
    """Return every prompt, from ``tried``, else from files in ``folder``, else from the package; blocking."""
    own, shown = {**read_templates(folder), **tried}, list[PromptPreview]()
    for name in TEMPLATES:
        library = PromptLibrary({name: own[name]} if name in own else None)
        ask, problem = _asked(library, name, zone), "\n".join(library.problems)
        template = own[name] if name in own else shipped_template(name)
        shown.append(PromptPreview(name, template, name in own, ask.instructions, ask.prompt, problem))
    return shown


def _asked(library: PromptLibrary, name: str, zone: tzinfo) -> Ask[Any]:
    """Return what a prompt asks about the sample: three lines of an evening."""
    at = datetime(2026, 3, 6, 20, 4, tzinfo=zone)
    scenes = {
        one: Scene.group(GROUP_ID, one, user_name=called, group_name="周末桌游社") for one, called in NAMES.items()
    }
    minutes = range(len(SAID), 0, -1)
    lines = [
        Message(f"m{left}", scenes[one], text, at - timedelta(minutes=left))
        for left, (one, text) in zip(minutes, SAID, strict=True)
    ]
    people, place = tuple(Person(one, called) for one, called in NAMES.items()), scenes[LI].scope
    context = JobContext(at, place, "周末桌游社", people[1], people)
    told = "豆包(2000002) 对花生过敏"
    match name:
        case "rewrite":
            return library.rewrite([Task(1, "用户对花生过敏")], context, source=SAID[1][1], lines=lines)
        case "triage":
            return library.triage(lines, context)
        case "merge":
            fact = Fact(ProfileKey.member(GROUP_ID, DOU), "e1", told, "knowledge", at)
            return library.merge(MergeInput(people[1], [fact]), at, max_chars=800)[0]
        case "compress":
            return library.compress(lines, context, max_chars=300)
        case _:
            belief = Belief("b1", place, "聚会在周日下午三点", created_at=at, updated_at=at, supporters=(LI,))
            return library.evolve([belief], lines, context, most=5)
