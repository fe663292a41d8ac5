"""Tests of finding the JSON object in a chat model's answer."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognitive_memory_core.errors import BadAnswer
from cognitive_memory_core.models.json_answers import DEEPEST, LONGEST, REPAIRABLE, object_in

PLAIN = {"op": "keep", "text": '阿棠说：“{好}[的”, 1 "2"', "more": [1, 2.5, None, True, {"a": []}]}
WRITTEN = json.dumps(PLAIN, ensure_ascii=False)


@pytest.mark.parametrize(
    "text",
    [
        WRITTEN,
        f"\ufeff \n{WRITTEN}\n",
        f"```json\n{WRITTEN}\n```",
        f"好的，结果如下：\n```\n{WRITTEN}\n```\n希望有帮助！",
        f"Sure: {WRITTEN} Anything else?",
        f"<think>maybe {{}} or not</think>\n{WRITTEN}",
        f"<thinking>\n```json\n{{}}\n```\n</thinking>```json\n{WRITTEN}\n```",
        json.dumps(PLAIN, indent=2),
    ],
)
def test_object_is_found_in_what_stands_round_it(text: str) -> None:
    """Code fences, prose, a byte order mark and reasoning around an object are ignored."""
    assert json.loads(object_in(text)) == PLAIN


@pytest.mark.parametrize(
    "text",
    [
        '{"op": "keep", "n": 1,}',
        "{'op': 'keep', 'n': 1}",
        '{op: "keep", n: 1}',
        '{"op": "keep" "n": 1}',
        '{"op": "keep", // sure\n "n": 1}',
        '```json\n{"op": "keep", "n": 1,}\n```',
        'Here: {"op": "keep", "n": 1,} Bye',
    ],
)
def test_slips_are_repaired(text: str) -> None:
    """Small syntax errors in a short complete object are repaired."""
    assert json.loads(object_in(text)) == {"op": "keep", "n": 1}


@pytest.mark.parametrize(
    "text",
    {
        "empty": "",
        "spaces": " \n",
        "prose": "我觉得没有什么值得记的。",
        "null": "null",
        "a list": "[1, 2]",
        "text": '"{}"',
        "two objects": '{"op": "keep"} {"op": "delete"}',
        "two broken objects": "{'op': 'keep'} {'op': 'delete'}",
        "one good and one cut": '{"op": "keep"} {"op": "del',
        "a key twice": '{"op": "keep", "op": "delete"}',
        "NaN": '{"a": NaN}',
        "Infinity": '{"a": -Infinity}',
        "1e999": '{"a": 1e999}',
        "half a character": '{"a": "\\ud800"}',
        "a real half character": '{"a": "\ud800"}',
        "NUL": '{"a": "x\\u0000"}',
        "brackets": "[" * 60_000,
        "deep list": '{"a": ' + "[" * 20_000 + "]" * 20_000 + "}",
        "deeper than any answer": '{"a":' * DEEPEST + "{}" + "}" * DEEPEST,
        "deep and broken": "{" + "[{" * 1000 + "}]" * 1000 + "}",
        "too long": json.dumps({"a": "x" * LONGEST}),
        "600 kB of quotes": '{"a": "' + '"' * 600_000 + '"}',
        "long and broken": "{'a': '" + "x" * REPAIRABLE + "'}",
    }.values(),
    ids=lambda text: ascii(text[:20]),
)
def test_what_is_no_single_whole_object_is_refused(text: str) -> None:
    """An answer without exactly one complete, harmless object raises BadAnswer."""
    with pytest.raises(BadAnswer):
        object_in(text)


def _filled(head: str, part: str, tail: str = "") -> str:
    return head + part * ((LONGEST - len(head) - len(tail)) // len(part)) + tail


@pytest.mark.parametrize(
    "text",
    {
        "an open fence, empty lines": _filled("```json", "\n", "x"),
        "an open fence, blank lines": _filled("```", " \n", "x"),
        "backquotes": _filled("", "`"),
        "opening fences": _filled("", "```json\n", "```x"),
        "blank lines before no thought": _filled("x", "\n ", "<"),
        "an open thought": _filled("<think>", "</think"),
        "opening thoughts": _filled("", "<think>"),
        "brackets in pairs": _filled("{'", "[]", "'}"),
        "brackets that open": _filled("{'", "{"),
        "half characters": _filled('{"a": "', "\ud7ff", '\ud800"}'),
    }.values(),
    ids=lambda text: ascii(text[:20]),
)
def test_no_answer_takes_long_to_refuse(text: str) -> None:
    """The largest answers, made to be slow to parse, are refused in time."""
    with pytest.raises(BadAnswer):
        object_in(text)


@pytest.mark.parametrize(
    "text", [WRITTEN, "{'op': 'delete', 'ids': ['1', '2'], 'of': {'a': 1}}", f"```json\n{WRITTEN}"]
)
def test_cut_answers_are_never_completed(text: str) -> None:
    """A truncated object is refused wherever it was cut."""
    whole = json.loads(object_in(text))
    for length in range(len(text)):
        try:
            found = object_in(text[:length])
        except BadAnswer:
            continue
        assert json.loads(found) == whole


@given(st.text(alphabet="{}[]\":,\\'`a1 \n\0\ud800-", max_size=300))
def test_nothing_else_escapes(text: str) -> None:
    """Any text gives an object, a list of rows, or BadAnswer, which can be written to any file."""
    try:
        found = object_in(text)
    except BadAnswer:
        return
    assert isinstance(json.loads(found), dict | list)
    assert "\0" not in found.encode().decode()


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8),
        st.one_of(st.integers(), st.booleans(), st.none(), st.text("{}[]\"'`甲，\n", max_size=30)),
        max_size=5,
    )
)
def test_strict_answers_pass_unchanged(answer: dict[str, object]) -> None:
    """Every plain object is returned unchanged."""
    assert json.loads(object_in(json.dumps(answer))) == answer


@pytest.mark.parametrize(
    "text", ['{"summary": "小雨', '{"summary": "小雨"', '{"summary": "小雨"}]}', '{"a": "x",}', "{'a': 1}"]
)
def test_a_strict_answer_is_never_mended(text: str) -> None:
    """A strict answer must be exact JSON and is not repaired."""
    with pytest.raises(BadAnswer):
        object_in(text, is_strict=True)


@pytest.mark.parametrize(
    "text",
    [
        '[{"a": 1}, "b"]',
        '```json\n[{"a": 1}, "b"]\n```',
        '<think>[x]</think>[{"a": 1}, "b"]',
        "嗯</think>[{'a': 1}, 'b',]",
    ],
)
def test_a_list_of_rows_is_an_answer_unless_it_replaces_something(text: str) -> None:
    """A bare list of objects and texts is returned as it is; read strictly it is refused."""
    assert json.loads(object_in(text)) == [{"a": 1}, "b"]
    with pytest.raises(BadAnswer):
        object_in(text, is_strict=True)
