"""The terms of profiles are those of their whole text, whether or not its clauses were seen before."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from cognitive_memory_core.historian.profiles.profile_words import terms_of, weight_of, without, words_of
from cognitive_memory_core.text.lexical.frequency import FUNCTION_WORDS
from cognitive_memory_core.text.lexical.terms import index_terms

PIECES = st.sampled_from(
    [
        "喝",
        "乌龙茶",
        "，",
        ",",
        "。",
        "\n",
        "!",
        "the",
        "v2.3.1",
        "84bpm",
        "1,000",
        "３",
        "七",
        " ",
        "-",
        "́",
        "😀",
        "한국",
    ]
)


@given(st.lists(PIECES | st.characters(), max_size=40).map("".join))
@example("１，０００元,一千 元")
def test_a_text_has_the_terms_of_its_clauses(text: str) -> None:
    """No term of a text spans the end of a clause, so that clauses may be read one by one."""
    terms = frozenset(index_terms(text)) - FUNCTION_WORDS
    assert terms_of([text]) == terms
    assert words_of([text]) == {term for term in terms if len(term) > 1}


def test_several_texts_have_the_terms_of_all() -> None:
    """Terms of several texts are united, names can be left out, and nothing has no terms."""
    assert terms_of(["喝茶", "爬山"]) == terms_of(["喝茶"]) | terms_of(["爬山"])
    assert without(terms_of(["喝茶"]), terms_of(["茶"])) == {"喝", "喝茶"}
    assert terms_of([]) == words_of([""]) == frozenset()
    assert weight_of(()) == 0.0
