"""Writes what a reader needs to answer from the contexts alone, and apart from it what is right."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .answers_judge import Graded
from .answers_modes import MODES, Life
from .answers_shown import Shown


def write_pages(folder: Path, life: Life, judged: Sequence[Graded]) -> list[Path]:
    """Write contexts with their questions, the answers with the evidence, and the events stored; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {
        "contexts": "\n".join(_contexts(life)),
        "answers": "\n".join(_answers(life, judged)),
        "events": "".join(f"- {event.happened_at:%Y-%m-%d %H:%M} {event.text}\n" for event in life.memories),
    }
    files = [folder / f"{life.mode}-{name}.md" for name in pages]
    for file, page in zip(files, pages.values(), strict=True):
        file.write_text(page, "utf-8")
    return files


def _contexts(life: Life) -> list[str]:
    says = f"{MODES[life.mode].capitalize()}. Answer each question from the block below it and from nothing else."
    head = f"# {len(life.shown)} questions, mode {life.mode}\n\n{says}\n"
    return [head, *(_asked(number, one) for number, one in enumerate(life.shown, 1))]


def _asked(number: int, shown: Shown) -> str:
    question = shown.question
    scene = question.scene
    place = f"group {scene.group_id}" if scene.kind == "group" else "private chat"
    head = f"## {number}. {question.text}\n\n{question.at:%Y-%m-%d %H:%M}, {scene.user_id} in {place}"
    return f"{head}\n\n```\n{shown.text or '(nothing)'}\n```\n"


def _answers(life: Life, judged: Sequence[Graded]) -> list[str]:
    said = {line.message.id: f"{line.at:%m-%d %H:%M} {line.name}：{line.message.text}" for line in life.chat.lines}
    rows = [f"# Answers to {len(life.shown)} questions, mode {life.mode}\n"]
    for number, one in enumerate(life.shown, 1):
        question = one.question
        rows.append(f"## {number}. {question.text}\n\n{question.type}: {question.answer or '(no answer)'}\n")
        rows += (f"- {'shown' if it in one.found else 'not shown'}: {said[it]}" for it in sorted(question.evidence))
        rows += (f"- FORBIDDEN: {said[it]}" for it in sorted(one.forbidden))
        rows += (f"- {it.verdict or 'not judged'}: {it.answer} ({it.reason})" for it in judged if it.shown is one)
        rows.append("")
    return rows
