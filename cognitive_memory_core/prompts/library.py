"""All prompts to a chat model, as typed functions over templates that the operator may replace."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from importlib import resources
from pathlib import Path
from string import Template as Placeholders

from .. import sentences
from ..disk import Disk, Vanished
from ..domain.belief import Belief
from ..domain.event import Fact
from ..domain.job import JobContext
from ..domain.message import Message
from ..domain.people import Person
from ..errors import PermanentError, StorageRefused
from ..ports import Ask, MergeInput
from ..text.fences import defused
from ..text.names import clean_name
from . import forms, rendering
from .answers import (
    AskContents,
    ProfileAnswer,
    Proposal,
    StatementAnswer,
    drawn_in,
    proposals_in,
    statements_in,
    triaged_in,
    words_in,
)
from .people_list import PeopleList, people_list_of, shown_name
from .rendering import block

SEPARATOR = "<!-- prompt -->"
LONGEST_TEMPLATE = 20_000  # characters
LONGEST_FILE = 65_536  # bytes; more than any template may have characters
_UNDECODABLE = "\ufffd"
Template = tuple[str, str]  # the instructions and the prompt: what stands above and below the separator


def filled(template: Template, parts: Mapping[str, str]) -> Template:
    """Return a template with the placeholders filled, without empty lines; inserted text is not expanded again."""
    prompt = Placeholders(template[1]).substitute(parts)
    lines = (line.rstrip() for line in prompt.split("\n"))
    return Placeholders(template[0]).substitute().strip(), "\n".join(line for line in lines if line)


def usable(name: str, text: str) -> Template | str:
    """Return the parts of a template, or why it cannot be used and how to correct it."""
    told, known = sentences.settings, frozenset(_PLACEHOLDERS[name])
    if not text.strip() or len(text) > LONGEST_TEMPLATE or _UNDECODABLE in text:
        return told.TEMPLATE_UNREADABLE.format(name=name, limit=LONGEST_TEMPLATE)
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    at = [number for number, line in enumerate(lines) if line.strip() == SEPARATOR]
    if len(at) != 1 or not "".join(lines[: at[0]]).strip():
        return told.TEMPLATE_WITHOUT_SEPARATOR.format(name=name, separator=SEPARATOR)
    parts = "\n".join(lines[: at[0]]), "\n".join(lines[at[0] + 1 :])
    above, below = (list(Placeholders.pattern.finditer(part)) for part in parts)
    if any(found["invalid"] is not None for found in (*above, *below)):
        return told.TEMPLATE_STRAY_DOLLAR.format(name=name)
    held, shown = ({found["named"] or found["braced"] for found in part} - {None} for part in (below, above))
    wrong, missing = shown | (held - known), known - _OPTIONAL - held
    if wrong or missing:
        wanted = {"known": _listed(known), "wrong": _listed(wrong), "missing": _listed(missing)}
        return told.TEMPLATE_PLACEHOLDERS.format(name=name, separator=SEPARATOR, **wanted)
    return parts


def _listed(placeholders: Iterable[str]) -> str:
    return "、".join(f"${name[:60]}" for name in sorted(placeholders)[:10]) or "无"


def read_templates(folder: Path) -> Mapping[str, str]:
    """Return the text of each template that a folder has, by name; blocking, bounded in size, never raises.

    The caller validates them: anything but a readable regular file of bounded size gives "", and bytes that are not
    UTF-8 become U+FFFD. Links are not followed; other files are ignored.
    """
    reading, texts = Disk(), dict[str, str]()
    for name in TEMPLATES:
        path = folder / f"{name}.md"
        if os.path.lexists(path):
            texts[name] = ""
            with suppress(PermanentError, StorageRefused, Vanished):
                found = reading.find(path)
                is_read = found is not None and found.size <= LONGEST_FILE
                texts[name] = reading.read(path).decode("utf-8-sig", "replace") if is_read else ""
    return texts


def shipped_template(name: str) -> str:
    """Return a template as the package has it."""
    return (resources.files(__package__ or "") / "templates" / f"{name}.md").read_text("utf-8")


FILLED_PEOPLE_LIST = 12  # people that a triage prompt shows at least, if the place has that many
_AROUND = ("time", "calendar", "place", "people", "lines")
_ANCHORS = (*_AROUND, "neighbours")
_PLACEHOLDERS: Mapping[str, tuple[str, ...]] = {
    "rewrite": (*_ANCHORS, "speaker", "source", "tasks"),
    "triage": (*_ANCHORS, "earlier"),
    "merge": ("time", "target", "facts", "max_chars"),
    "compress": (*_AROUND, "earlier", "max_chars"),
    "evolve": (*_AROUND, "beliefs", "earlier", "most"),  # "earlier" is empty: older templates hold it
}
_OPTIONAL = frozenset(("calendar", "neighbours", "source", "earlier"))
TEMPLATES = tuple(_PLACEHOLDERS)


@dataclass(frozen=True)
class Task:
    """One observation to rewrite; after a rejected attempt, ``previous`` is its text and ``feedback`` the reason."""

    number: int
    text: str
    previous: str = ""
    feedback: str = ""


class PromptLibrary:
    """The package's templates, some of them replaced by the operator's own."""

    def __init__(self, own: Mapping[str, str] | None = None) -> None:
        """Load the templates; those in ``own``, by name, replace the package's. Unusable ones are ignored.

        :attr:`problems` says why a template is unusable. Blocking: reads files.
        """
        problems: list[str] = []
        self._templates: dict[str, Template] = {}
        for name in TEMPLATES:
            for text in (own[name], shipped_template(name)) if own and name in own else (shipped_template(name),):
                found = usable(name, text)
                if not isinstance(found, str):
                    self._templates[name] = found
                    break
                problems.append(found)
        self.problems = tuple(problems)

    def rewrite(
        self, tasks: Sequence[Task], job_context: JobContext, *, source: str = "", lines: Sequence[Message | str] = ()
    ) -> Ask[tuple[StatementAnswer, ...]]:
        """Build the request for one absolute statement per task.

        ``source`` and ``lines`` are the chat around the turn.
        """
        people_list = people_list_of(job_context, lines, (source, *(task.text for task in tasks)))
        shown: list[str] = []
        for task in tasks:
            shown.append(f"{task.number}. {rendering.cut(task.text, rendering.TEXT)}")
            if task.previous:
                shown.append(f"  [上次写成] {rendering.cut(task.previous, rendering.TEXT)}")
            if task.feedback:
                shown.append(f"  [没有通过，请改正] {rendering.cut(task.feedback, rendering.TEXT)}")
        parts = {
            **_shared_placeholders(job_context, people_list, lines),
            "speaker": people_list.called(job_context.speaker.id),
            "source": block("来源", rendering.source_line(source, lines, job_context.speaker)),
            "tasks": block("观察", "\n".join(shown)),
        }
        given = _contents(people_list, lines, job_context, tuple(task.number for task in tasks))
        parse = partial(statements_in, given=given)
        return Ask("rewrite", *filled(self._templates["rewrite"], parts), "historian_rewrite", forms.REWRITE, parse)

    def triage(self, lines: Sequence[Message], job_context: JobContext) -> Ask[tuple[StatementAnswer, ...]]:
        """Build the request to select what in a dialogue is worth remembering.

        Each observation in the answer cites its lines.
        """
        people_list = people_list_of(job_context, (*job_context.earlier, *lines), (), fill=FILLED_PEOPLE_LIST)
        earlier = rendering.earlier_lines(job_context.earlier, people_list, job_context.when)
        parts = {**_shared_placeholders(job_context, people_list, lines), "earlier": block("前情", earlier)}
        parse = partial(triaged_in, given=_contents(people_list, lines, job_context))
        return Ask("triage", *filled(self._templates["triage"], parts), "historian_triage", forms.TRIAGE, parse)

    def compress(
        self, lines: Sequence[Message], job_context: JobContext, *, max_chars: int, earlier: str = ""
    ) -> Ask[str]:
        """Build the request for a summary of a dialogue that includes ``earlier``, the summary of the lines before."""
        people_list = people_list_of(job_context, lines, (earlier,))
        parts = {
            **_shared_placeholders(job_context, people_list, lines),
            "earlier": block("前文摘要", rendering.cut(earlier, rendering.EARLIER)),
            "max_chars": str(max_chars),
        }
        parse = partial(words_in, member="summary")
        return Ask("compress", *filled(self._templates["compress"], parts), "dialogue_summary", forms.COMPRESS, parse)

    def evolve(
        self,
        beliefs: Sequence[Belief],
        lines: Sequence[Message],
        job_context: JobContext,
        *,
        most: int,
    ) -> Ask[tuple[list[Proposal], int]]:
        """Build the request for changes of a group's beliefs (B1, B2, ...) after a chat."""
        statements = [belief.statement for belief in beliefs]
        people_list = people_list_of(job_context, lines, statements, fill=FILLED_PEOPLE_LIST)
        parts = {
            **_shared_placeholders(job_context, people_list, lines, marks_admins=True),
            "beliefs": block("群记忆", rendering.beliefs(beliefs, people_list, job_context.when.tzinfo)),
            "earlier": "",
            "most": str(most),
        }
        template = filled(self._templates["evolve"], parts)
        return Ask("evolution", *template, "group_evolution", {}, proposals_in, strict=True, as_lines=True)

    def merge(self, given: MergeInput, now: datetime, *, max_chars: int) -> tuple[Ask[ProfileAnswer], list[Fact]]:
        """Build the request for lines of a profile; also return the facts that it shows, in their order."""
        # the new facts and those of the newest lines, oldest first, with the number of the line that told each
        lines = sorted(given.told, key=lambda line: max(fact.happened_at for fact in line))
        by_event, told = {fact.event_id: fact for fact in given.new}, dict[str, int]()
        for number in range(len(lines), 0, -1):
            line = lines[number - 1]
            if len(by_event) + len(line) > rendering.MOST_FACTS:
                break
            by_event |= {fact.event_id: fact for fact in line}
            told |= {fact.event_id: number for fact in line}
        facts = sorted(by_event.values(), key=lambda fact: fact.happened_at)
        person = Person(defused(given.person.id), defused(clean_name(given.person.name)))
        parts = {
            "time": rendering.moment(now),
            "target": f"群聊 {person.name or '群'}({person.id})" if given.is_group else f"个人 {person.label}",
            "facts": block("事实", rendering.facts(facts, told, now.tzinfo, is_group=given.is_group)),
            "max_chars": str(max_chars),
        }
        form = forms.MERGE_GROUP if given.is_group else forms.MERGE
        parse = partial(drawn_in, is_group=given.is_group)
        template = filled(self._templates["merge"], parts)
        return Ask("merge", *template, "historian_profile_merge", form, parse, strict=True), facts


def _shared_placeholders(
    job_context: JobContext, people_list: PeopleList, lines: Sequence[Message | str], *, marks_admins: bool = False
) -> dict[str, str]:
    """Return the placeholders common to all prompts: time, place, people, known events and chat lines."""
    when, before, place = job_context.when, (*job_context.answered, *job_context.earlier), people_list.place
    today, monday = when.date(), when.date() - timedelta(when.weekday())
    this, following = (rendering.short_date(day, today) for day in (monday, monday + timedelta(7)))
    people = (f"{one.label} 又名 {'、'.join(one.aliases)}" for one in people_list.people.values())
    return {
        "time": rendering.moment(when),
        "calendar": f"本周一{this}，下周一{following}",  # models compute 下周三 badly without them
        "place": f"群聊 {shown_name(place.name) or '群'}({defused(place.id)})" if place.id else "私聊",
        "people": block("名单", "\n".join(one.removesuffix(" 又名 ") for one in people)),
        "neighbours": block("已记住", rendering.neighbours(job_context.neighbours, people_list, when.tzinfo)),
        "lines": block("聊天", rendering.numbered_lines(lines, people_list, when, before, marks_admins=marks_admins)),
    }


def _contents(
    people_list: PeopleList, lines: Sequence[Message | str], job_context: JobContext, tasks: tuple[int, ...] = ()
) -> AskContents:
    """Return what an answer may name: also the ids of speakers who are not in the list of people."""
    senders = {line.sender_id for line in lines if isinstance(line, Message)}
    listed = {person.id for person in (*people_list.people.values(), people_list.place)}
    ids = (listed | senders) - {""}
    return AskContents(tasks, len(lines), min(len(job_context.neighbours), rendering.MOST_NEIGHBOURS), ids)
