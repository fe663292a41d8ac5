"""One person's daily remarks over months: are the remarks that answer a question found, whatever surrounds both?

The set is made by code from a seed. A thread is one matter (a thing bought, a trip, an illness) told in one to three
remarks on different days; a question asks about the thread or about one of its remarks. The same questions are asked
plain and wrapped in chatter, over the remarks alone and with unrelated remarks after each one. Beside the memory stands
BM25 over characters and their pairs.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import cognitive_memory_core as core

from .labelled import TOP, ZONE, Answer, Talk, bigrams, heard, mean, searched
from .measure import Report
from .remarks_told import CHATTER, IDLE, MATTERS, PEOPLE, PLACES, Matter

FIRST = 5
SCENE = core.Scene.private("2000001", user_name="小满")
BEGUN = datetime(2025, 3, 1, 7, 30, tzinfo=ZONE)
THREADS, SEED = 120, 11
DAYS = 240.0
IN_FULL, SHORT = 0.6, 2  # how often a question names a thing in full, and how many characters are left otherwise
UNRELATED = (0, 10)
ASIDE = timedelta(minutes=2)  # between a remark and the unrelated ones after it


@dataclass(frozen=True)
class Question:
    """A question, the same in the middle of chatter, and the numbers of the remarks that answer it."""

    plain: str
    wrapped: str
    evidence: frozenset[str]


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
    diaries = {unrelated: made(options.threads, options.seed, unrelated) for unrelated in options.unrelated}
    for unrelated, diary in diaries.items():
        for kind in ("plain", "wrapped"):
            talk = Talk("", diary.remarks, [getattr(one, kind) for one in diary.questions], SCENE)
            ours = [found for (found,) in asyncio.run(heard([talk], TOP))]
            answers = ours, [*searched([talk], bigrams, TOP)]
            figures = [_recall(diary, found, first) for found in answers for first in (FIRST, TOP)]
            report.add(unrelated, kind, len(ours), *figures)
            report.failed |= figures[0] < figures[2] or figures[1] < figures[3]
    most = max(diaries.values(), key=lambda diary: len(diary.remarks))
    report.title = f"remarks: {len(most.remarks)} remarks at most, {len(most.questions)} questions, recall"
    report.notes.append("reach: not below BM25 over characters and their pairs, in any row")
    return report


def _recall(diary: Diary, answers: Sequence[Sequence[str]], first: int) -> float:
    pairs = zip(diary.questions, answers, strict=True)
    return mean([Answer(frozenset(found[:first])).recall(asked.evidence) for asked, found in pairs])


def made(threads: int, seed: int, unrelated: int) -> Diary:
    """Return the diary of a seed; remarks and questions do not depend on the number of unrelated remarks."""
    chance, aside = random.Random(seed), random.Random(seed + 1)
    told = [_thread(chance, matter, thing) for matter in MATTERS for thing in matter.things.split()]
    told = chance.sample(told, min(threads, len(told)))
    remarks, questions = list[core.Message](), list[Question]()
    for thread, (said, asks) in enumerate(told):
        for stage, (day, text) in enumerate(zip(sorted(chance.uniform(0.0, DAYS) for _ in said), said, strict=True)):
            sent = BEGUN + timedelta(days=day)
            remarks.append(core.Message(f"{thread}-{stage}", SCENE, text, sent))
            for number in range(1, unrelated + 1):
                beside = "".join(aside.choice(part) for part in IDLE)
                remarks.append(core.Message(f"{thread}-{stage}-{number}", SCENE, beside, sent + number * ASIDE))
        questions += (_question(chance, text, [f"{thread}-{stage}" for stage in stages]) for text, stages in asks)
    return Diary(tuple(sorted(remarks, key=lambda remark: remark.sent_at)), tuple(questions))


Asks = Sequence[tuple[str, tuple[int, ...]]]


def _thread(chance: random.Random, matter: Matter, thing: str) -> tuple[Sequence[str], Asks]:
    """Return the remarks of a matter, and questions with the numbers of the remarks that answer them."""
    words = {"x": thing, "who": chance.choice(PEOPLE), "where": chance.choice(PLACES)}
    words |= {"n": str(chance.randrange(12, 480)), "k": str(chance.randrange(2, 31))}
    stages = matter.stages[: chance.randint(1, len(matter.stages))]
    remarks = [chance.choice(stage).format(**words) for stage in stages]
    called = words | {"x": thing if chance.random() < IN_FULL else thing.strip("《》")[-SHORT:]}
    possible = [(text.format(**called), needed) for text, needed in matter.questions if max(needed) < len(stages)]
    return remarks, chance.sample(possible, min(2, len(possible)))


def _question(chance: random.Random, text: str, evidence: Sequence[str]) -> Question:
    before = "".join(chance.sample(CHATTER, chance.randint(2, 5)))
    after = "".join(chance.sample(CHATTER, chance.randint(0, 2)))
    return Question(text, f"{before}{text}？{after}", frozenset(evidence))
