"""Tests of how valid and broken model answers are parsed."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognitive_memory_core.errors import BadAnswer
from cognitive_memory_core.models.json_answers import object_in
from cognitive_memory_core.ports import Ask
from cognitive_memory_core.prompts.answer_rows import numbers_of
from cognitive_memory_core.prompts.answers import ProfileAnswer, StatementAnswer
from tests.prompts.asked import questions

ANSWERS = Path(__file__).parent / "answers"
ASKED = {purpose: ask for purpose, ask in questions().items() if purpose in ("rewrite", "triage", "merge")}
GOOD, BROKEN = "good", "broken"


def kept(sort: str) -> list[Any]:
    """Load the recorded answers of one kind."""
    return [
        pytest.param(purpose, case["answer"], case.get("expected"), id=f"{purpose}: {case['name']}")
        for purpose in sorted(ASKED)
        for case in json.loads((ANSWERS / f"{purpose}_{sort}.json").read_text("utf-8"))
    ]


def read(ask: Ask[Any], answer: Any) -> Any:
    """Parse an answer for a question; a string is used verbatim."""
    return ask.parse(answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False))


@pytest.mark.parametrize(("purpose", "answer", "expected"), kept(GOOD))
def test_usable_answers_are_understood(purpose: str, answer: Any, expected: Any) -> None:
    """An imprecise answer is understood, and nothing that was not asked for is kept."""
    seen = read(ASKED[purpose], answer)
    assert _narrowed(_plain(seen), expected) == expected


@pytest.mark.parametrize(("purpose", "answer", "expected"), kept(BROKEN))
def test_broken_answers_are_refused(purpose: str, answer: Any, expected: Any) -> None:
    """An answer without anything usable is rejected with a Chinese reason, and never used partly."""
    with pytest.raises(BadAnswer, match="模型的回答"):
        read(ASKED[purpose], answer)


def test_a_bare_list_is_read() -> None:
    """A model that answers the rows alone, without the object around them, is understood."""
    (said,) = read(ASKED["rewrite"], object_in('[{"number": 1, "text": "阿棠养了一只橘猫"}]'))
    assert (said.number, said.text) == (1, "阿棠养了一只橘猫")


TRIAGED = ("should_remember", "reason", "observations")
MEMBERS = sorted(
    {field.name for sort in (StatementAnswer, ProfileAnswer) for field in fields(sort)} | {"statements", *TRIAGED}
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40)
WORDS = st.sampled_from(
    ("E1", "2", "true", "否", "nan", "1e999", "9" * 400, "无", "[", "[{}]", "{", "\ud800", "阿棠(1)")
)
JSON = st.recursive(
    SCALARS | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(MEMBERS), inner, max_size=8),
    max_leaves=20,
)


@given(purpose=st.sampled_from(sorted(ASKED)), answer=JSON)
def test_any_json_is_read_or_refused(purpose: str, answer: Any) -> None:
    """Any JSON that a model answers is either parsed within the limits or raises BadAnswer, and nothing else."""
    try:
        seen = ASKED[purpose].parse(json.dumps(answer))
    except BadAnswer:
        return
    for said in seen if isinstance(seen, tuple) else ():
        assert said.number in (1, 2) or purpose == "triage"
        assert 0.0 <= said.confidence <= 1.0
        assert said.same_as in (0, 1)
        assert all(0 < line <= 6 for line in said.lines)
    assert max(map(len, _texts(_plain(seen))), default=0) <= 2_000


def test_hostile_sizes_are_cut() -> None:
    """A text of 100 kB is rejected; long texts and lists are cut to their limits."""
    with pytest.raises(BadAnswer):
        read(ASKED["rewrite"], {"statements": [{"number": 1, "text": "长" * 100_000}]})
    (said,) = read(
        ASKED["rewrite"], {"statements": [{"number": 1, "text": "长" * 9_000, "subjects": list(range(1, 99))}]}
    )
    assert (len(said.text), said.text[-1], len(said.subjects)) == (2_000, "…", 20)
    huge = json.dumps({"statements": [{"number": 1, "text": "甲", "confidence": 10**400, "same_as": 10**400}]})
    assert [(said.confidence, said.same_as) for said in ASKED["rewrite"].parse(huge)] == [(1.0, 0)]
    many = [{"text": f"第{at}条", "lines": list(range(9))} for at in range(400)]
    assert len(read(ASKED["triage"], {"should_remember": True, "observations": many})) == 20
    drawn = read(
        ASKED["merge"],
        {
            "lines": [{"text": "长" * (5_000 if at == 0 else 9), "facts": [1]} for at in range(99)],
            "tags": [f"标签{at}" * 20 for at in range(50)],
        },
    )
    assert (len(drawn.lines), len(drawn.lines[0].text), len(drawn.tags), len(drawn.tags[0])) == (60, 2_000, 12, 30)


@pytest.mark.parametrize("purpose", sorted(ASKED))
def test_forms_name_what_is_read(purpose: str) -> None:
    """Every member of a question's schema is a field of the parsed answer, so that nothing is asked for in vain."""
    schema: Any = ASKED[purpose].schema
    for listed, sort in {
        "statements": StatementAnswer,
        "observations": StatementAnswer,
        "": ProfileAnswer if purpose == "merge" else None,
    }.items():
        form = schema["properties"].get(listed, {}).get("items", {}) if listed else schema
        names = {field.name for field in fields(sort)} if sort else {"statements", *TRIAGED}
        assert set(form.get("properties", {})) <= names
        assert set(form.get("required", ())) <= set(form.get("properties", {}))


def _plain(seen: Any) -> Any:
    plain = [asdict(said) for said in seen] if isinstance(seen, tuple) else asdict(seen)
    return json.loads(json.dumps(plain))


def _narrowed(seen: Any, expected: Any) -> Any:
    """Reduce an answer to the fields that a case mentions."""
    if isinstance(expected, dict) and isinstance(seen, dict):
        return {name: _narrowed(seen[name], value) for name, value in expected.items()}
    if isinstance(expected, list) and isinstance(seen, list) and len(seen) == len(expected):
        return [_narrowed(one, other) for one, other in zip(seen, expected, strict=True)]
    return seen


def _texts(plain: Any) -> list[str]:
    if isinstance(plain, str):
        return [plain]
    inner = plain.values() if isinstance(plain, dict) else plain if isinstance(plain, list) else ()
    assert not isinstance(plain, float) or math.isfinite(plain)
    return [text for part in inner for text in _texts(part)]


def test_ranges_are_lines() -> None:
    """Line numbers may be given as ranges; one that runs backwards names none, and a wide one is bounded."""
    assert numbers_of("4-6", 50) == (4, 5, 6)
    assert numbers_of(["2", "7到8", 9], 50) == (2, 7, 8, 9)
    assert numbers_of("6-4", 50) == ()
    assert len(numbers_of("1-999999", 50)) == 50
