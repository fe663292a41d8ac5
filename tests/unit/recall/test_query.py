"""Tests of turning a message into a query."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cognitive_memory_core.domain.people import Person
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.recall.names import Names, with_names
from cognitive_memory_core.text.query import LINES, QUERY_LENGTH, Query
from cognitive_memory_core.text.terms import ASKED, query_terms
from cognitive_memory_core.text.time.time_words import time_window
from tests.support.builders import GROUP, OPERATOR, PRIVATE
from tests.support.clock import NOON

LONG = "上个月大家一起去爬山的时候到底是谁把水壶忘在山顶上了"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (LONG, LONG),
        (f'<message id="1" sender="阿棠"><content>{LONG}</content></message>', LONG),
        (f"当前消息：\n<message>\n<content>\n{LONG}\n</content>\n</message>", LONG),
        (f"<message><content>{LONG} &lt;3 &amp;amp;</content></message>", f"{LONG} <3 &amp;"),
        (f"<message><content>{LONG}", LONG),
        (
            f"<message><content>{LONG}</content></message><message><content>{LONG}啊</content></message>",
            f"{LONG}\n{LONG}啊",
        ),
        (f"<message>{LONG}</message>", f"<message>{LONG}</message>"),
        (f"<content>{LONG}</content>", f"<content>{LONG}</content>"),
        (f"  {LONG}\x00\u202e\ud800  ", LONG),
    ],
)
def test_the_question_is_the_content_of_the_frame_or_the_text(text, said):
    """A message frame is searched by its content, and any other text as a whole, cleaned."""
    assert Query.of(text, OPERATOR, NOON).text == said


def test_only_the_first_characters_are_read():
    """A very long text, including one of open tags, is cut before it is parsed."""
    assert len(Query.of("字" * 1_000_000, GROUP, NOON).text) == QUERY_LENGTH
    assert len(Query.of("<message><content>" * 100_000, GROUP, NOON).text) <= QUERY_LENGTH


def test_a_short_question_is_embedded_with_place_and_people():
    """A question of at most 20 characters is embedded together with its group and sender."""
    query = Query.of("那个呢", GROUP, NOON)
    assert query.text.startswith("那个呢\n")
    assert "读书会" in query.text
    assert "阿棠" in query.text
    assert "私聊" in Query.of("那个呢", PRIVATE, NOON).text


def test_names_of_the_line_are_cleaned():
    """Line breaks in a name are removed from the embedded line."""
    scene = Scene.group("1", "2", user_name="甲\n乙\u202e", group_name="丙\r\n丁")
    assert Query.of("在吗", scene, NOON).text.count("\n") == 1


def test_all_lines_of_a_batch_count():
    """A long first message leaves room for the terms of the last one."""
    first = "".join(chr(0x4E00 + number) for number in range(300))
    query = Query.of(f"{first}\n周六去不去爬山", GROUP, NOON)
    assert {"爬山", "周六"} <= set(query.terms)
    assert set(query.terms) & set(query_terms(first))
    assert len(query.terms) <= ASKED


@pytest.mark.parametrize(
    ("text", "beside"),
    [
        ("今天真忙。陶艺课几点？先谢谢", {"真忙", "谢谢"}),
        ("今天真忙\n陶艺课几点?", {"真忙"}),
        ("陶艺课几点？", set[str]()),
        ("今天真忙。陶艺课", set[str]()),
        ("忙吗？陶艺课几点？", set[str]()),
        ("？陶艺课几点", set[str]()),
        ("？？\n陶艺课几点", set[str]()),
    ],
)
def test_what_surrounds_a_question_stands_beside_it(text: str, beside: set[str]) -> None:
    """The terms of sentences around a question are its asides; a message that only asks, or never does, has none."""
    query = Query.of(text, GROUP, NOON)
    assert beside <= query.asides <= frozenset(query.terms)
    assert not query.asides & {"陶艺", "艺课", "几点"}
    assert bool(query.asides) == bool(beside)


def test_the_time_named_becomes_the_window():
    """A named time becomes the window, in the zone of the reference."""
    (window,) = Query.of("昨天谁说要请客", GROUP, NOON).windows
    assert NOON - timedelta(days=1) in window
    assert NOON not in window
    assert not Query.of("谁说要请客", GROUP, NOON).windows


def test_each_time_named_is_a_window():
    """Several days named in one question are a window each, and the days between them lie in none."""
    windows = Query.of("三月一号、三月三号和去年五月谁请客了", GROUP, NOON).windows
    assert [(one.start.date().isoformat(), one.stop - one.start) for one in windows] == [
        ("2026-03-01", timedelta(days=1)),
        ("2026-03-03", timedelta(days=1)),
        ("2025-05-01", timedelta(days=31)),
    ]


def test_a_time_beside_the_question_is_no_window():
    """A time counts only in the sentences that ask, if there are others beside them."""
    assert not Query.of("今天天气真不错。我真正想问的是，谁说要请客？", GROUP, NOON).windows
    asked, alone = (Query.of(text, GROUP, NOON).windows for text in ("今天好冷。昨天谁说要请客？", "昨天谁说要请客？"))
    assert asked == alone is not None
    assert Query.of("？昨天谁说要请客", GROUP, NOON).windows == alone


@pytest.mark.parametrize("text", ["明天谁请客", "下周谁请客", "月底谁请客", "in 3 days", "下个月聚会", "2030年谁结婚"])
def test_a_time_to_come_is_no_window(text):
    """A time in the future gives no window, because nothing was said then."""
    assert time_window(text, NOON) is not None
    assert not Query.of(text, GROUP, NOON).windows


KNOWN = Names.of((Person("2000001", "阿棠"), Person("2000002", "小满", ("夜航船",))))


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("小满喜欢什么", {"2000002"}),
        ("夜航船喜欢什么", {"2000002"}),
        ("@2000002 喜欢什么", {"2000002"}),
        ("我对什么过敏", {"2000001"}),
        ("我和小满谁大", {"2000001", "2000002"}),
        ("告诉我谁过敏", set()),
        ("什么茶好喝", set()),
        ("小满在吗\n阿棠呢\n哈哈", {"2000001", "2000002"}),
        ("<message><content>小满在吗</content></message><message><content>好</content></message>", {"2000002"}),
        ('<message sender="小满"><content>好喝吗</content></message>', set()),
    ],
)
def test_people_named_and_the_asker_are_the_questions(text, people):
    """People named in any line, also by an earlier name, are the query's people; 我 means the asker."""
    assert _people(text) == people


def test_people_of_a_flood_are_its_last_lines():
    """Of very many lines only the last ones are searched for people."""
    assert _people("小满在吗" + "\n好" * LINES) == frozenset()
    assert _people("小满在吗" + "\n好" * (LINES - 1)) == {"2000002"}


def _people(text: str) -> frozenset[str]:
    return with_names(Query.of(text, GROUP, NOON), GROUP, NOON, KNOWN).people
