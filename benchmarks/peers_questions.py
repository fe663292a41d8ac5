"""What every peer is asked: new questions for the clock, and questions whose one true answer is known.

A question by words is a piece of an event's text, with a vector that has nothing to do with it. A question by meaning
shares no word with the event but by chance, and its vector lies nearer to the event's than to any other. Both are
found by hand; a lexical search can answer the first kind only, a search by vectors the second only.
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
WARMING = 3  # new questions of a rank that are asked before the clock runs


@dataclass(frozen=True)
class Question:
    """One question in one group; ``answer`` is the text of the event that is looked for, "" where none is."""

    kind: str
    rank: str
    group_id: str
    text: str
    answer: str = ""


@dataclass(frozen=True)
class Asked:
    """All questions of a run with their vectors, one below the other."""

    questions: Sequence[Question]
    vectors: Matrix

    @property
    def known(self) -> dict[str, Row]:
        """What an embedder has to know: each question's vector by its text."""
        return {question.text: vector for question, vector in zip(self.questions, self.vectors, strict=True)}

    def write(self, folder: Path) -> None:
        """Leave the questions for the processes that ask them."""
        rows = [asdict(question) for question in self.questions]
        (folder / "questions.json").write_text(json.dumps(rows, ensure_ascii=False), "utf-8")
        np.save(folder / "questions.npy", self.vectors)


def read_questions(folder: Path) -> Asked:
    """Read what :meth:`Asked.write` left."""
    rows = json.loads((folder / "questions.json").read_text("utf-8"))
    return Asked([Question(**row) for row in rows], np.load(folder / "questions.npy"))
