"""The gate: checks that a rewritten text stands on its own and adds nothing to what the model was given."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ... import sentences
from ...domain.people import JobContext, Person
from ...text.caches import cleared_on_erasure
from ...text.names import ids_in, mislabelled, plain, short_form, strange_numbers, unnamed
from ...text.names_and_quotations import TextMask, named
from ...text.safety.empty_answers import says_nothing
from ...text.safety.prompt_fences import defused
from ...text.spoken_events import spoken
from ...text.statements.lexicon import Offence, offences
from ...text.time.time_words import mentions
from .checks import Fault

NAMED = 8  # hits of each kind listed in the feedback
READ = 2_000  # characters read of a text
_GIVEN_READ = 32_000  # characters read of everything that the model was given
_LONG, _TIMES_HEARD = 500, 3
_LABEL = re.compile(r"[(（][0-9A-Za-z_-]{1,128}[)）]")
_WORD = re.compile(r"[^\W_]")


@dataclass(frozen=True)
class Verdict:
    """What is wrong with one statement of a model; all fields are empty if nothing is.

    ``lost_ids`` are known ids of the observation that the text lacks. ``foreign_ids`` are numbers of five or more
    digits that the model was not given, and known ids behind another person's name. With any of ``faults`` the text
    is not a rewrite of the observation.
    """

    offences: tuple[Offence, ...] = ()
    lost_ids: tuple[str, ...] = ()
    foreign_ids: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()

    @property
    def has_drift(self) -> bool:
        """Whether the people in the text differ from those in the observation; ``force`` does not override this."""
        return bool(self.lost_ids or self.foreign_ids)

    @property
    def is_usable(self) -> bool:
        """Whether the text may be stored at all, absolute or not."""
        return not (self.has_drift or self.faults)

    @property
    def is_absolute(self) -> bool:
        """Whether the statement stands on its own."""
        return self.is_usable and not self.offences

    @property
    def reasons(self) -> frozenset[str]:
        """Codes of why the statement is rejected; empty if it is accepted.

        They are its :data:`Fault` codes (it does not follow from the observation), "drift" (it is about other people),
        and the kinds of its offences (words such as "I" or "yesterday" that mean nothing out of their chat).
        """
        drift = ("drift",) if self.has_drift else ()
        return frozenset((*self.faults, *drift, *(offence.kind for offence in self.offences)))


@dataclass(frozen=True)
class Around:
    """The texts that a model was given in addition to an observation; analysed once for all statements of a turn."""

    texts: tuple[str, ...]

    @cached_property
    def plain(self) -> str:
        """The texts in plain form, in which ids are searched for."""
        return plain("\n".join(one[:READ] for one in self.texts)[:_GIVEN_READ])


def judge(text: str, original: str, around: Around, job_context: JobContext) -> Verdict:
    """Judge a model's rewrite of ``original``, an observation or lines, given the other texts that the model saw.

    Only the first 2,000 characters of each text are read; a longer rewrite is too long anyway.
    """
    read, said = text[:READ], plain(original[:READ])
    known = _Known(job_context, f"{read}\n{original[:READ]}")
    faults = tuple(_faults(text, original, known))
    if "empty" in faults:
        return Verdict(faults=faults)
    written = plain(read)
    ids_by_name = known.ids_by_name(f"{written}\n{said}")
    lost = set(ids_in(said, known.ids, ids_by_name)).difference(ids_in(written, known.ids, ids_by_name))
    strange = strange_numbers(unnamed(written, ids_by_name), f"{said}\n{around.plain}\n{known.remembered}", known.ids)
    foreign = (*strange, *mislabelled(written, ids_by_name, known.ids))
    return Verdict(
        offences(read, names=known.names),
        tuple(one for one in known.ids if one in lost),
        tuple(dict.fromkeys(foreign)),
        faults,
    )


class _Known:
    """The ids of the job context's people and group, and those names of theirs that occur in a text."""

    def __init__(self, job_context: JobContext, text: str) -> None:
        """Collect all ids, and the names that occur in ``text``, because few of thousands of people may be in it."""
        self._place = Person(job_context.place.group_id, job_context.place_name)
        self._people = (job_context.speaker, *job_context.people)
        self.ids = dict.fromkeys(one.id for one in (*self._people, self._place) if one.id)
        self.names = self.names_in(text)
        self.remembered = plain("\n".join(spoken(event)[:READ] for event in job_context.neighbours))

    def names_in(self, text: str) -> tuple[str, ...]:
        """Return the names of known people that a text contains, written in full or shortened as in speech."""
        called = (form for name, _ in self._named() for form in _forms(name))
        return tuple({form: None for form in called if form in text})

    def ids_by_name(self, text: str) -> dict[str, set[str]]:
        """Map each name that occurs in a plain text to the ids of its present and former bearers."""
        found = {"QQ": set(self.ids)}  # stands for a person without a name
        for name, user_id in self._named():
            for form in _plain_forms(name):
                if form in text:
                    found.setdefault(form, set()).add(user_id)
        return found

    def _named(self) -> Iterator[tuple[str, str]]:
        for person in (*self._people, self._place):
            yield person.name, person.id
            for alias in person.aliases:
                yield alias, person.id


@cleared_on_erasure
@lru_cache(maxsize=20_000)  # covers the names of a busy bot's groups, which every statement needs
def _forms(name: str) -> tuple[str, ...]:
    """Return a name in full, as a prompt shows it, and in the short form that people use; each distinct form once."""
    return tuple(dict.fromkeys(form for form in (name, defused(name), short_form(name)) if form))


@cleared_on_erasure
@lru_cache(maxsize=20_000)
def _plain_forms(name: str) -> tuple[str, ...]:
    return tuple(plain(form) for form in _forms(name))


def feedback(verdict: Verdict) -> str:
    """Return the feedback for the model on what is wrong with its text."""
    said = [sentences.feedback.FEEDBACK[fault] for fault in verdict.faults]
    for kind in dict.fromkeys(offence.kind for offence in verdict.offences):
        words = dict.fromkeys(offence.word for offence in verdict.offences if offence.kind == kind)
        said.append(sentences.feedback.feedback_leaning(kind, list(words)[:NAMED]))
    if verdict.lost_ids:
        said.append(sentences.feedback.feedback_lost(verdict.lost_ids[:NAMED]))
    if verdict.foreign_ids:
        said.append(sentences.feedback.feedback_foreign(verdict.foreign_ids[:NAMED]))
    return "".join(said)


def _faults(text: str, original: str, known: _Known) -> Iterator[Fault]:
    read = text[:READ]
    if says_nothing(read, original[:READ]) or not _WORD.search(_content(read, known.names)):
        yield "empty"
    elif len(text) > _LONG and len(text) > _TIMES_HEARD * len(original):
        yield "too_long"


def _content(text: str, names: Collection[str]) -> str:
    """Return the text with blanks for labels, known names and times, which any rewrite may add."""
    spans = [match.span() for match in _LABEL.finditer(text)]
    spans += [(mention.start, mention.stop) for mention in mentions(text)]
    return TextMask(len(text), (*spans, *named(text, names, lambda _: False))).blanked(text)
