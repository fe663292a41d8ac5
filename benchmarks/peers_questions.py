"""The queries for every compared system: new ones for timing, and ones with a known answer.

A query by words is a piece of an event's text with an unrelated vector. A query by meaning shares no word with the
event except by chance, and its vector is nearer to the event's than to any other. A lexical search can answer only the
first kind, a vector search only the second.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]
Row = NDArray[np.float32]
NEW, WORDS, MEANING = "new", "words", "meaning"
WARMING = 3  # new queries per rank before timing starts


@dataclass(frozen=True)
class Question:
    """One query in one group; ``answer`` is the text of the expected event, "" if there is none."""

    kind: str
    rank: str
    group_id: str
    text: str
    answer: str = ""


@dataclass(frozen=True)
class Asked:
    """All queries of a run and their vectors, row by row."""

    questions: Sequence[Question]
    vectors: Matrix

    @property
    def known(self) -> dict[str, Row]:
        """Return each query's vector by its text."""
        return {question.text: vector for question, vector in zip(self.questions, self.vectors, strict=True)}

    def write(self, folder: Path) -> None:
        """Write the queries for the child processes."""
        rows = [asdict(question) for question in self.questions]
        (folder / "questions.json").write_text(json.dumps(rows, ensure_ascii=False), "utf-8")
        np.save(folder / "questions.npy", self.vectors)


def read_questions(folder: Path) -> Asked:
    """Read what :meth:`Asked.write` wrote."""
    rows = json.loads((folder / "questions.json").read_text("utf-8"))
    return Asked([Question(**row) for row in rows], np.load(folder / "questions.npy"))
