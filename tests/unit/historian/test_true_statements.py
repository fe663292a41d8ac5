"""Tests that the checks accept true statements; a refused one costs a call and is finally worded by rules."""

from __future__ import annotations

from pathlib import Path

from cognitive_memory_core.domain.people import JobContext, Person
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.domain.turn import Dialogue
from cognitive_memory_core.historian.rewriting.triage import batch_of
from cognitive_memory_core.prompts.answers import StatementAnswer, TriageAnswer
from tests.support.builders import GROUP, a_message
from tests.support.clock import NOON

LINES = Path(__file__).with_name("true_statements.tsv").read_text("utf-8").splitlines()
ROWS = [line.split("\t") for line in LINES if line and not line.startswith("#")]
TANG, QI, CARD = Person("2000001", "阿棠"), Person("28471095", "老齐"), Person("3000007", "第7小队12306")
PEOPLE = (TANG, QI, CARD, Person("76620318", "木鱼"), Person("3320185567", "唐唐"))
JOB_CONTEXT = JobContext(NOON, GROUP.scope, "读书会", TANG, PEOPLE, job_id="job")


def refusal(original: str, statement: str) -> str:
    """Return why a statement is refused; "" for one that passes."""
    sender = CARD if statement.startswith("#") else TANG
    text = statement.replace("@", TANG.label).replace("%", QI.label).replace("#", CARD.label)
    line = a_message(original, Scene.group("10001", sender.id, user_name=sender.name), id="m1")
    said = StatementAnswer(1, text, speaker=sender.id, lines=(1,))
    batch, answers = batch_of(TriageAnswer(True, "", (said,)), Dialogue(GROUP, (line,)), JOB_CONTEXT)
    ((_, attempt),) = batch.tried(answers)
    return "" if attempt.verdict.is_absolute else repr(attempt.verdict)


def test_true_statements_pass() -> None:
    """At most 2 % of true statements of all kinds, including recurring, dated and short ones, are refused."""
    assert len(ROWS) >= 200
    refused = [
        f"{original} | {statement}: {why}" for original, statement in ROWS if (why := refusal(original, statement))
    ]
    assert len(refused) <= 0.02 * len(ROWS), refused
