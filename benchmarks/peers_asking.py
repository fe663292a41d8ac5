"""Generates the queries of a workload: the same for the same numbers everywhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .peers_questions import MEANING, NEW, WARMING, WORDS, Asked, Matrix, Question
from .topics import vectors_of
from .workload import Line, Speech, group_years, groups_by_size, ranked

PIECE = 12  # characters of a query by words
NEARNESS = 0.7  # weight of the event's vector in a query by meaning; its own random vector has the same


def questions_of(events: int, new: int, known: int) -> Asked:
    """Return ``new`` queries for timing and ``known`` of each kind with a known answer, at each rank."""
    lines = list(group_years(events))
    questions: list[Question] = []
    vectors: list[Matrix] = []
    for rank, (group_id, rows) in ranked(groups_by_size(lines)).items():
        speech, random = Speech(300 + rows), np.random.Generator(np.random.PCG64(rows))
        scope = [line for line in lines if line.group_id == group_id]
        fresh = speech.texts(new + WARMING)
        questions += [Question(NEW, rank, group_id, text) for text in fresh]
        vectors.append(vectors_of(fresh))
        for kind in (WORDS, MEANING):
            looked_for = [scope[at] for at in random.choice(rows, min(known, rows), replace=False)]
            asked = [_piece(line.text, random) if kind == WORDS else speech.text(25) for line in looked_for]
            questions += [Question(kind, rank, group_id, text, line.text)
                          for text, line in zip(asked, looked_for, strict=True)]  # fmt: skip
            vectors.append(vectors_of(asked) if kind == WORDS else _near(looked_for, asked))
    return Asked(questions, np.concatenate(vectors))


def _piece(text: str, random: np.random.Generator) -> str:
    start = int(random.integers(len(text) - PIECE + 1))
    return text[start : start + PIECE]


def _near(lines: Sequence[Line], asked: Sequence[str]) -> Matrix:
    mixed = NEARNESS * (vectors_of([line.text for line in lines]) + vectors_of(asked))
    return (mixed / np.linalg.norm(mixed, axis=1, keepdims=True)).astype(np.float32)
