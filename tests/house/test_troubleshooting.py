"""Tests that docs/troubleshooting.md explains error lines that a user can see in the words of the code."""

from __future__ import annotations

import re

from tests.support.fault_sentences import PAGE, ROOMS, explained, quoted, rewritten, sentences

from .sources import ROOT

TEXT = PAGE.read_text("utf-8")


def test_no_row_explains_what_is_gone() -> None:
    """Each row is about a sentence that the code still has."""
    assert explained(TEXT).keys() - sentences().keys() == set()
    assert len(explained(TEXT)) > 200


def test_the_words_are_those_of_the_code() -> None:
    """The page quotes each sentence as it is; ``python -m tests.support.fault_sentences`` takes over a new wording."""
    assert rewritten(TEXT) == TEXT


def test_quoted_remarks_are_in_their_module() -> None:
    """Each part of a remark that a module puts together stands in that module."""
    for module, remark in quoted(TEXT):
        room, name = module.split("/")
        source = (ROOT / ROOMS[room] / f"{name}.py").read_text("utf-8")
        assert all(part.strip() in source for part in remark.split("…")), remark


def test_each_row_says_what_to_do() -> None:
    """No cell of a row is empty."""
    rows = [line for line in TEXT.splitlines() if line.startswith("| <!--")]
    assert len(rows) > 100
    assert not [row for row in rows if not all(cell.strip() for cell in re.split(r"(?<!\\) \| ", row.strip("| ")))]
