"""Tests of scoring messages as answers to a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest

from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.store.search.lines import PARTS, PAUSE_US, FoundLine
from cognitive_memory_core.text.terms import query_terms
from tests.support.builders import GROUP, OTHER_GROUP, PRIVATE, a_message
from tests.support.clock import NOON
from tests.support.lines import found_in

MAN = Scene.group("10001", "2000002", user_name="小满", group_name="读书会")
ALONE = dict.fromkeys(("NEIGHBOUR", "REPLY", "TOPIC", "SUBSTANCE", "LABEL"), 0.0)  # only the message's own words
WINDOW = ALONE | {"NEIGHBOUR": 0.2}
REPLY = ALONE | {"REPLY": 0.5}
SESSION = ALONE | {"TOPIC": 0.1}
SUBSTANCE = ALONE | {"SUBSTANCE": 0.8}
LABEL = ALONE | {"LABEL": 0.3}
PAUSE = timedelta(microseconds=PAUSE_US)
Passage = tuple[Message, ...]
Weights = Mapping[str, float]


def a_line(text: str, minutes: float = 0.0, **fields: object) -> Message:
    """Return a message sent so many minutes after noon."""
    return a_message(text, fields.pop("scene", GROUP), NOON + timedelta(minutes=minutes), **fields)  # type: ignore[arg-type]


def a_talk(*texts: str) -> Passage:
    """Return messages, a minute apart."""
    return tuple(a_line(text, minutes) for minutes, text in enumerate(texts))


def asked(question: str, *passages: Passage, weights: Weights | None = None, **search: Any) -> list[FoundLine]:
    """Search the lines of one place for a question."""
    return found_in(query_terms(question, characters=True), passages, weights, **search)


def worths(question: str, *passages: Passage, weights: Weights | None = None) -> dict[str, float]:
    """Return the relevance of each found message."""
    return scores_of(asked(question, *passages, weights=weights))


def scores_of(found: Sequence[FoundLine]) -> dict[str, float]:
    """Return the relevance of each found message."""
    return {one.line.text: one.relevance for one in found}


def test_what_says_all_of_the_question_is_worth_one() -> None:
    """A message with every word of the question has relevance 1 and comes first; one with some words has less."""
    found = worths("陶艺烘焙", a_talk("今天陶艺烘焙", "去学陶艺", "去吃面"), weights=ALONE)
    assert list(found) == ["今天陶艺烘焙", "去学陶艺"]
    assert found["今天陶艺烘焙"] == pytest.approx(1.0)
    assert 0.0 < found["去学陶艺"] < 1.0


def test_a_single_character_counts_less() -> None:
    """A single Chinese character counts by its own weight, with weight 0 not at all; a Latin letter counts fully."""
    lines = (a_line("柚二"), a_line("烘焙", 1), a_line("x", 2))
    by_weight = {
        single: {
            hit.line.text: hit.relevance for hit in found_in(("柚", "烘焙", "x"), [lines], ALONE | {"SINGLE": single})
        }
        for single in (0.0, 0.5, 1.0)
    }
    assert by_weight[1.0]["柚二"] == pytest.approx(by_weight[1.0]["烘焙"])
    assert by_weight[0.5]["柚二"] < by_weight[0.5]["烘焙"] == pytest.approx(by_weight[0.5]["x"])
    assert set(by_weight[0.0]) == {"烘焙", "x"}


def test_a_line_counts_what_is_said_round_it_and_less_further_away() -> None:
    """Words of up to four messages before and after count for a message, less with distance."""
    before, after = [f"前{number}" for number in range(5, 0, -1)], [f"后{number}" for number in range(1, 6)]
    found = worths("陶艺", a_talk(*before, "去学陶艺", *after), weights=WINDOW)
    for side in (before[::-1], after):
        near = [found[text] for text in side[:4]]
        assert near == sorted(near, reverse=True)
        assert len(set(near)) == 4
        assert found["去学陶艺"] > near[0]
        assert side[4] not in found
    assert found["前1"] == pytest.approx(found["后1"])


def test_a_pause_ends_what_is_said_round_a_line() -> None:
    """A pause of more than half an hour separates messages."""
    minutes = PAUSE / timedelta(minutes=1)
    near, far = ((a_line("去学陶艺"), a_line("好", minutes + more)) for more in (0, 0.01))
    for weights in (WINDOW, SESSION):
        assert set(worths("陶艺", near, weights=weights)) == {"去学陶艺", "好"}
        assert set(worths("陶艺", far, weights=weights)) == {"去学陶艺"}


def test_an_answer_counts_what_it_answers_and_the_other_way_round() -> None:
    """A reply and the message it answers share their words, even far apart, and other messages do not."""
    question, other = a_line("谁去学陶艺", id="q"), a_line("路过", 1)
    answer = a_line("好呀", 600, reply_to="q")
    found = worths("陶艺", (question, other), (answer,), weights=REPLY)
    assert set(found) == {"谁去学陶艺", "好呀"}
    assert found["谁去学陶艺"] > found["好呀"]
    asking, telling = a_line("谁去", id="q"), a_line("陶艺我学", 600, reply_to="q")
    assert set(worths("陶艺", (asking,), (telling,), weights=REPLY)) == {"谁去", "陶艺我学"}


def test_a_session_speaks_of_what_its_lines_say() -> None:
    """Every message of a session gets a small share of the session's words; other sessions and scopes get none."""
    here = a_talk("去学陶艺", *(f"好{number}" for number in range(8)))
    later = (a_line("晚了", 300),)
    elsewhere = (a_line("别处", 1, scene=OTHER_GROUP), a_line("私下", 2, scene=PRIVATE))
    found = worths("陶艺", here, later, elsewhere[:1], elsewhere[1:], weights=SESSION)
    assert set(found) == {line.text for line in here}
    assert len({found[f"好{number}"] for number in range(8)}) == 1
    assert found["去学陶艺"] > found["好0"]


@pytest.mark.parametrize(
    ("said", "minutes", "lifts"),
    [("谁学陶艺呀", 0, False), ("谁学陶艺呀", 5, False), ("谁学陶艺呀", -0.01, True), ("学校", 0, True)],
)
def test_a_question_that_was_logged_lends_its_words_to_nobody(said: str, minutes: float, lifts: bool) -> None:
    """A recent message that repeats most of the question is a hit, but does not raise those beside it."""
    lines = (a_line("面条", -600), a_line(said, minutes), a_line("哈哈", minutes + 0.001))
    found = found_in(("学", "陶艺"), [lines], now=NOON + timedelta(minutes=2))
    assert {hit.line.text for hit in found} == ({said, "哈哈"} if lifts else {said})
    assert found[0].line.text == said


def test_the_name_and_day_of_a_line_are_not_said_by_those_round_it() -> None:
    """A message beside one of somebody else does not get that sender's name or date."""
    lines = (a_line("好"), a_line("行", 1, scene=MAN))
    assert set(worths("阿棠", lines)) == {"好"}


def test_what_one_person_remarks_alone_in_private_lends_less() -> None:
    """A remark alone in a private chat lends its session nothing, its neighbours less than an answered one does."""
    remarks = (a_line("去学陶艺", scene=PRIVATE), a_line("好", 1, scene=PRIVATE))
    answered = (remarks[0], a_line("好", 1, scene=PRIVATE, is_bot=True))
    for weights in (SESSION, WINDOW):
        assert set(worths("陶艺", answered, weights=weights)) == {"去学陶艺", "好"}
        assert set(worths("陶艺", a_talk("去学陶艺", "好"), weights=weights)) == {"去学陶艺", "好"}
    assert set(worths("陶艺", remarks, weights=SESSION)) == {"去学陶艺"}
    alone, told = (worths("陶艺", lines, weights=WINDOW)["好"] for lines in (remarks, answered))
    assert 0.0 < alone < told


def test_the_parts_of_a_score_add_up_to_it() -> None:
    """What words, label, neighbouring lines, replies and the topic add is the score; words alone give only words."""
    talk = (a_line("部署密钥换了吗"), a_line("换了，在保险柜", 1, reply_to="0"), a_line("好", 2), a_line("密钥呢", 90))
    found = asked("部署密钥换了吗", talk, explains=True)
    assert len(found) > 1
    for one in found:
        assert [name for name, _ in one.parts] == list(PARTS)
        assert sum(value for _, value in one.parts) == pytest.approx(one.relevance)
    alone = asked("部署密钥换了吗", talk, weights=ALONE, explains=True)
    assert all(value == 0 for one in alone for name, value in one.parts if name != "words")
    near = {one.line.text: dict(one.parts) for one in found}
    assert near["好"]["words"] == 0 < near["好"]["neighbours"]
    assert all(one.parts == () for one in asked("部署密钥换了吗", talk))
