"""One person's daily remarks over months: are the remarks that answer a question found, whatever surrounds both?

The set is made by code from a seed. A thread is one matter (a thing bought, a trip, an illness) told in one to three
remarks on different days; a question asks about the thread or about one of its remarks. Harder ones ask for one of four
remarks that differ in person and place only. The same questions are asked plain and wrapped in chatter, over the
remarks alone and with unrelated remarks after each one. Beside the memory stands BM25 over characters and their pairs.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import cognitive_memory_core as core

from .labelled import TOP, WAIT, ZONE, SetClock, characters, mean, opened, saturated
from .measure import Report
from .remarks_told import (
    CHATTER,
    IDLE,
    MATTERS,
    OCCASIONS,
    PEOPLE,
    PLACES,
    Matter,
)

FIRST = 5
SCENE = core.Scene.private("2000001", user_name="小满")
BEGUN = datetime(2025, 3, 1, 7, 30, tzinfo=ZONE)
THREADS, SEED = 120, 11
DAYS = 240.0
IN_FULL, SHORT = 0.6, 2  # how often a question names a thing in full, and how many characters are left otherwise
UNRELATED = (0, 10)
ALIKE = 4  # occasions of one kind
ASIDE = timedelta(minutes=2)  # between a remark and the unrelated ones after it


@dataclass(frozen=True)
class Question:
    """A question, the same in the middle of chatter, and the numbers of the remarks that answer it."""

    plain: str
    wrapped: str
    evidence: frozenset[str]
    is_hard: bool = False  # one of several similar remarks

    def recall(self, found: Sequence[str], first: int) -> float:
        """Return the share of the evidence among the first results."""
        return len(self.evidence.intersection(found[:first])) / len(self.evidence)


@dataclass(frozen=True)
class Diary:
    """The remarks in order of time, and questions asked a day after the last one."""

    remarks: tuple[core.Message, ...]
    questions: tuple[Question, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: number of threads, seed, unrelated remarks."""
    parser.add_argument("--threads", type=int, default=THREADS)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--unrelated", type=int, nargs="+", default=[*UNRELATED])


def run(options: argparse.Namespace) -> Report:
    """Ask every question of the memory and of BM25, plain and wrapped, over each number of unrelated remarks."""
    columns = ("unrelated", "question", "n", f"memory @{FIRST}", f"@{TOP}", f"bigrams @{FIRST}", f"@{TOP} ")
    report = Report("", columns)
    for unrelated in options.unrelated:
        diary = made(options.threads, options.seed, unrelated)
        for is_wrapped in (False, True):
            texts = [one.wrapped if is_wrapped else one.plain for one in diary.questions]
            ours, plain = asyncio.run(answered(diary, texts)), list(_plainly(diary, texts))
            for is_hard in (False, True):
                asked = [at for at, one in enumerate(diary.questions) if one.is_hard is is_hard]
                figures = [_recall(diary, found, first, asked) for found in (ours, plain) for first in (FIRST, TOP)]
                kind = ("wrapped" if is_wrapped else "plain") + (", one of four alike" if is_hard else "")
                report.add(unrelated, kind, len(asked), *figures)
                report.failed |= figures[0] < figures[2] or figures[1] < figures[3]
    report.title = f"remarks: {len(diary.remarks)} remarks at most, {len(diary.questions)} questions, recall"
    report.notes.append("reach: not below BM25 over characters and their pairs, in any row")
    return report


async def answered(diary: Diary, texts: Sequence[str]) -> list[Sequence[str]]:
    """Let the memory observe the remarks and ask it each question; return the numbers of the remarks found."""
    clock, answers = SetClock(), list[Sequence[str]]()
    async with opened(clock) as memory:
        for remark in diary.remarks:
            await memory.observe(remark)
        await memory.drain(WAIT)  # lines are written behind: the first questions would find half of the log
        clock.at = diary.remarks[-1].sent_at + timedelta(days=1)
        for text in texts:
            hits = await memory.search_events(SCENE, text, kinds=("message",), top_k=TOP)
            answers.append([hit.event.id for hit in hits])
    return answers


def made(threads: int, seed: int, unrelated: int) -> Diary:
    """Return the diary of a seed; remarks and questions do not depend on the number of unrelated remarks."""
    chance, aside = random.Random(seed), random.Random(seed + 1)
    told = [_thread(chance, matter, thing) for matter in MATTERS for thing in matter.things.split()]
    told = chance.sample(told, min(threads, len(told)))
    easy = len(told)
    told += _alike(chance)
    moments = sorted(
        (day, at, stage) for at, thread in enumerate(told) for stage, day in enumerate(_days(chance, thread))
    )
    numbers = {(at, stage): f"r{number}" for number, (_, at, stage) in enumerate(moments)}
    remarks = list[core.Message]()
    for day, at, stage in moments:
        name, sent = numbers[at, stage], BEGUN + timedelta(days=day)
        remarks.append(core.Message(name, SCENE, told[at].remarks[stage], sent))
        for number in range(1, unrelated + 1):
            text = "".join(aside.choice(part) for part in IDLE)
            remarks.append(core.Message(f"{name}-{number}", SCENE, text, sent + number * ASIDE))
    asked = (
        _question(chance, text, [numbers[at, one] for one in stages], is_hard=at >= easy)
        for at, text, stages in _asked(told)
    )
    return Diary(tuple(sorted(remarks, key=lambda remark: remark.sent_at)), tuple(asked))


@dataclass(frozen=True)
class _Thread:
    """A matter as it was told: its remarks, and questions with the numbers of the remarks that answer them."""

    remarks: tuple[str, ...]
    asks: tuple[tuple[str, tuple[int, ...]], ...]


def _thread(chance: random.Random, matter: Matter, thing: str) -> _Thread:
    words = {"x": thing, **_words(chance)}
    stages = matter.stages[: chance.randint(1, len(matter.stages))]
    remarks = tuple(chance.choice(stage).format(**words) for stage in stages)
    called = words | {"x": thing if chance.random() < IN_FULL else thing.strip("《》")[-SHORT:]}
    possible = [(text.format(**called), needed) for text, needed in matter.questions if max(needed) < len(stages)]
    return _Thread(remarks, tuple(chance.sample(possible, min(2, len(possible)))))


def _alike(chance: random.Random) -> Iterator[_Thread]:
    """Yield several occasions of one kind with different people and places; a question means one of them."""
    for things, remarks, asks in OCCASIONS:
        for thing in things.split():
            details = zip(chance.sample(PEOPLE, ALIKE), chance.sample(PLACES, ALIKE), strict=True)
            for at, (who, where) in enumerate(details):
                words = _words(chance) | {"x": thing, "who": who, "where": where}
                told = at % len(remarks)
                yield _Thread((remarks[told].format(**words),), ((asks[told].format(**words), (0,)),))


def _words(chance: random.Random) -> dict[str, str]:
    return {
        "who": chance.choice(PEOPLE),
        "where": chance.choice(PLACES),
        "n": str(chance.randrange(12, 480)),
        "k": str(chance.randrange(2, 31)),
    }


def _days(chance: random.Random, thread: _Thread) -> list[float]:
    """Return the days of a thread's remarks, in their order."""
    return sorted(chance.uniform(0.0, DAYS) for _ in thread.remarks)


def _asked(told: Sequence[_Thread]) -> Iterator[tuple[int, str, tuple[int, ...]]]:
    for at, thread in enumerate(told):
        for text, stages in thread.asks:
            yield at, text, stages


def _question(chance: random.Random, text: str, evidence: Iterable[str], *, is_hard: bool) -> Question:
    before = "".join(chance.sample(CHATTER, chance.randint(2, 5)))
    after = "".join(chance.sample(CHATTER, chance.randint(0, 2)))
    return Question(text, f"{before}{text}？{after}", frozenset(evidence), is_hard)


def _plainly(diary: Diary, texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield what BM25 finds for each question, over an index that is made once."""
    counts = [Counter(characters(remark.text)) for remark in diary.remarks]
    lengths = [count.total() for count in counts]
    usual = sum(lengths) / len(lengths)
    holding: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    for at, count in enumerate(counts):
        for term, times in count.items():
            holding[term].append((at, saturated(times, lengths[at] / usual)))
    for text in texts:
        scores = Counter[int]()
        for term in dict.fromkeys(characters(text)):
            rows = holding.get(term, ())
            rarity = math.log(1 + (len(counts) - len(rows) + 0.5) / (len(rows) + 0.5))
            for at, share in rows:
                scores[at] += rarity * share
        yield [diary.remarks[at].id for at, _ in scores.most_common(TOP)]


def _recall(diary: Diary, answers: Sequence[Sequence[str]], first: int, asked: Iterable[int]) -> float:
    return mean([diary.questions[at].recall(answers[at], first) for at in asked])
