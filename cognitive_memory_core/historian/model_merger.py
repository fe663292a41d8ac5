"""Merges a profile with a chat model, which answers lines with the numbers of the facts that each rests on."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from .. import sentences
from ..domain.event import Fact, duplicate_key
from ..errors import PermanentError
from ..models.spending import NoModel
from ..ports import REFUSED, Chat, MergedLine, MergedLines, MergeInput, Merger, Tally
from ..prompts.answers import ProfileAnswer
from ..prompts.library import PromptLibrary
from ..settings.schema import Live, Settings
from ..text.callnames import is_hearsay
from ..text.cleaning import described, one_line, plain
from ..text.ids import foreign_ids
from ..text.lasting_facts import speaks_of_rank_or_debt
from ..text.numbers import Line, strange_figures
from ..text.relative_words import is_talk, offences
from ..text.spans import blanked, named
from ..text.terms import FUNCTION_WORDS, index_terms
from ..text.time.time_words import is_time, mentions
from .profile_page import MOST_EVENTS
from .rules import LINE_LENGTH, line_as_said, quoted

log = logging.getLogger(__name__)
LEFT_OUT = f"{REFUSED}profile"  # what the report counts lines of profiles under that rest on nothing
LEAST_SAID = 0.5  # share of the words of each clause of a line, without names and times, that its facts have
ENDED = 3  # a merge ends at most one in so many of the lines that stand
_CLAUSE_END = re.compile("[，。；！？、,;!?：:]|[.](?![0-9])")
_SPOKEN = re.compile(rf"\(([^()\s]{{1,128}})\)({re.escape(sentences.context.OF_ADMIN)})?：“([^”]*)")  # in a fact


@dataclass(frozen=True)
class ModelMerger:
    """Asks a chat model once; what it writes without facts is left out, and what its facts do not say is quoted.

    Facts that no line names are logged; the lines in which they stood before stay. The rules take facts that the model
    refuses, and all of them when the day's calls are spent.
    """

    chat: Chat
    prompts: PromptLibrary
    settings: Live[Settings]
    rules: Merger
    tally: Tally = field(default_factory=Tally)

    async def merge(self, given: MergeInput, now: datetime) -> MergedLines:
        """Return the lines that the model wrote; raises UnavailableError, BadAnswer."""
        ask, shown = self.prompts.merge(given, now, max_chars=self.settings.current.profile.max_chars)
        try:
            answer = await self.chat.ask(ask)
        except NoModel:
            return await self.rules.merge(given, now)
        except PermanentError as refusal:
            log.warning("historian_profile_merge %s: %s", given.new[0].key.entity_type, described(refusal))
            return await self.rules.merge(given, now)
        merged = await asyncio.to_thread(_merged, answer, shown, given, now)  # twenty lines take 40 ms
        left_out = len(answer.lines) - len(merged.lines)
        if left_out:
            self.tally.count(LEFT_OUT, left_out)
            log.warning("%s", sentences.log.PROFILE_LINES_LEFT_OUT.format(count=left_out))
        named = {*merged.outdated, *(one for line in merged.lines for one in line.event_ids)}
        if unnamed := sum(fact.event_id not in named for fact in given.new):
            log.info("%s", sentences.log.PROFILE_FACTS_LEFT.format(count=unnamed))
        return merged


def _merged(answer: ProfileAnswer, shown: Sequence[Fact], given: MergeInput, now: datetime) -> MergedLines:
    """Return the lines of an answer that rest on facts, with their events; more outdated ones than a third are none.

    A tag must stand, word by word, in what a person said of themselves without claiming a rank, or an admin of a group.
    """
    lines = [
        _checked(line.title, line.text, [shown[at - 1] for at in line.facts if at <= len(shown)], given, now)
        for line in answer.lines
    ]
    outdated = tuple(shown[at - 1].event_id for at in answer.outdated if at <= len(shown))
    ended = sum(any(fact.event_id in outdated for fact in line) for line in given.told)
    if ended > max(len(given.told) // ENDED, 1):
        outdated = ()
    words: dict[str, str] = {}
    for fact in shown:
        if given.is_group:
            own = " ".join(said for _, mark, said in _SPOKEN.findall(fact.text) if mark)
        else:
            own = "" if speaks_of_rank_or_debt(fact.text) else fact.text
        words[fact.event_id] = duplicate_key(own)
    tags: dict[str, tuple[str, ...]] = {}
    for tag in answer.tags:
        key = duplicate_key(tag)
        if events := tuple(event_id for event_id, own in words.items() if key and key in own):
            tags[one_line(tag).strip("#＃ ")] = events
    written = {duplicate_key(line.text): line for line in reversed(lines) if line is not None}  # each text once
    return MergedLines(tuple(reversed(written.values())), tags, outdated)


def _checked(title: str, text: str, facts: Sequence[Fact], given: MergeInput, now: datetime) -> MergedLine | None:
    """Return a line that rests on these facts; None if there is none, or if it is about a member who did not say it.

    A fact that has no word in common with the line does not count, and neither does what a member said in it, nor a
    fact beyond the events that a line can name: if it were forgotten, its words would stay.
    A line with a number, day or id that its facts lack, with a clause of which they have fewer than half of the words,
    or words such as 我 and 明天, gives way to the words of its facts; of a group's facts only an admin's counts.
    """
    said = one_line(text.strip("-*+•·#> \t"), LINE_LENGTH)
    words = _terms(said)
    common = {fact.event_id: len(words & _terms(fact.text)) for fact in facts}
    nearest = sorted(filter(common.get, common), key=lambda one: -common[one])[:MOST_EVENTS]
    facts = [fact for fact in facts if fact.event_id in nearest]
    speakers, ruled = set[str](), list[Fact]()  # who said its words, and the facts in which an admin did
    for fact in facts:
        before: list[tuple[str, frozenset[str]]] = []
        for user_id, mark, own in _SPOKEN.findall(fact.text):  # without an echo of what others said before
            terms = _terms(own)
            echoed = frozenset[str]().union(*(others for one, others in before if one != user_id))
            if not words.isdisjoint(terms - echoed):
                speakers.add(user_id)
                ruled += [fact] if mark else []
            before.append((user_id, terms))
    if not facts or not said or (given.is_group and is_hearsay(said, given.people, speakers)):
        return None

    names = [name for one in (given.person, *given.people) for name in (one.name, one.id, *one.aliases) if name]
    sources = ruled if given.is_group else facts
    lines = [Line(fact.text, fact.happened_at.astimezone(now.tzinfo)) for fact in sources]
    source, times = plain("\n".join(line.text for line in lines)), mentions(said)
    spans = (*((found.start, found.stop) for found in times), *named(said, names, is_time))
    clauses, heard = map(_terms, _CLAUSE_END.split(blanked(said, spans))), _terms(source)
    is_sound = bool(lines) and not (
        sentences.context.noted(f"- {said}")  # the form of what is quoted
        or any(len(clause & heard) < LEAST_SAID * len(clause) for clause in clauses)
        or any(map(is_talk, offences(said, names=names)))
        or any(found.kind == "relative" for found in times)
        or strange_figures(said, lines, names)
        or foreign_ids(plain(said), [source], {}, names)
    )
    if is_sound:
        return MergedLine(title, said, tuple(nearest))
    return line_as_said(title, quoted(facts, given), facts, now)


def _terms(text: str) -> frozenset[str]:
    return frozenset(term for term in index_terms(text) if len(term) > 1) - FUNCTION_WORDS
