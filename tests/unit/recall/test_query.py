"""What a message is searched by."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.recall.query import QUERY_LENGTH, TERMS, query_of
from cognitive_memory_core.text.terms import query_terms
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
    """A message frame is searched by its content, anything else by its whole text, cleaned."""
    assert query_of(text, OPERATOR, NOON).text == said


def test_a_frame_without_content_asks_nothing():
    """A picture's empty content is no question, and its markup is none either."""
    query = query_of('<message id="1"><content> </content></message>', GROUP, NOON)
    assert (query.text, query.terms, query.window) == ("", (), None)


def test_only_the_first_characters_are_read():
    """A flood, be it of open tags, is cut before it is looked at."""
    assert len(query_of("字" * 1_000_000, GROUP, NOON).text) == QUERY_LENGTH
    assert len(query_of("<message><content>" * 100_000, GROUP, NOON).text) <= QUERY_LENGTH


def test_a_short_question_is_embedded_with_place_and_people():
    """At most 20 characters are embedded with the group and the sender, so that "那个呢" means something."""
    query = query_of("那个呢", GROUP, NOON)
    assert query.text.startswith("那个呢\n")
    assert "读书会" in query.text
    assert "阿棠" in query.text
    assert "私聊" in query_of("那个呢", PRIVATE, NOON).text


def test_the_line_of_context_is_not_looked_up_as_words():
    """The words asked for are those that were said."""
    assert query_of("喝什么茶", GROUP, NOON).terms == tuple(query_terms("喝什么茶", rare_characters=True))


def test_a_long_question_speaks_for_itself():
    """From 21 characters on nothing is added."""
    assert query_of("字" * 21, GROUP, NOON).text == "字" * 21
    assert query_of("字" * 20, GROUP, NOON).text != "字" * 20


def test_an_operator_stands_nowhere():
    """Behind the counter there is no place to add."""
    assert query_of("喝什么茶", OPERATOR, NOON).text == "喝什么茶"


def test_names_of_the_line_are_cleaned():
    """A name cannot smuggle lines into what is embedded."""
    scene = Scene.group("1", "2", user_name="甲\n乙\u202e", group_name="丙\r\n丁")
    assert query_of("在吗", scene, NOON).text.count("\n") == 1


def test_all_lines_of_a_batch_count():
    """A long first message leaves room for the words of the last one."""
    first = "".join(chr(0x4E00 + number) for number in range(300))
    query = query_of(f"{first}\n周六去不去爬山", GROUP, NOON)
    assert {"爬山", "周六"} <= set(query.terms)
    assert set(query.terms) & set(query_terms(first))
    assert len(query.terms) <= TERMS


def test_lone_common_characters_of_a_batch_are_no_words():
    """As in one line, common characters are asked for only where there is no pair, rare ones always."""
    assert query_of("好\n爬山", GROUP, NOON).terms == ("爬山", "爬")
    assert query_of("好\n行", GROUP, NOON).terms == ("好", "行")


def test_the_time_named_becomes_the_window():
    """A question about yesterday prefers yesterday, in the zone of the reference."""
    window = query_of("昨天谁说要请客", GROUP, NOON).window
    assert window is not None
    assert NOON - timedelta(days=1) in window
    assert NOON not in window
    assert query_of("谁说要请客", GROUP, NOON).window is None
