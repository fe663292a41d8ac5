"""How many model calls the first look saves on a group chat, and how many gold facts it costs.

Lines are gathered as the plugin does with ``auto_consider="all"``: by place, until 20 of people are there or nobody has
spoken for ten minutes. A gold fact counts as lost if any line that it rests on lies in a window that is passed over.
``--data`` is a file as for the benchmark groupchat, or one with "conversation_list" (teamchat-zh, without facts).
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import cognitive_memory_core as core
from cognitive_memory_core.domain.turn import Dialogue
from cognitive_memory_core.historian.rewriting.rules import may_be_worth_remembering

from .chat_set import EVERY, IDLE, read, windows_of
from .measure import Report

MOST_LOST = 3.0  # per cent of the gold facts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the option for the chat files."""
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="group chats (JSON)")
    parser.add_argument("--lost", action="store_true", help="print the windows that are passed over")


def run(options: argparse.Namespace) -> Report:
    """Check every window of every chat."""
    columns = (
        "chat",
        "lines",
        "windows",
        "passed over",
        "saved %",
        "lines passed over %",
        "gold facts",
        "lost",
        "lost %",
    )
    report = Report(f"look: windows of {EVERY} lines or {IDLE.seconds // 60} silent minutes", columns)
    for path in options.data:
        lines, facts = _chat(path)
        windows = [window for place in _by_place(lines) for window in windows_of(place)]
        passed = [window for window in windows if not _is_looked_at(window)]
        gone = {line.id for window in passed for line in window}
        lost = [evidence for evidence in facts if not gone.isdisjoint(evidence)]
        spoken = sum(not line.is_bot for line in lines)
        share = 100 * len(lost) / len(facts) if facts else 0.0
        over = 100 * sum(not line.is_bot for window in passed for line in window) / spoken
        saved = 100 * len(passed) / len(windows)
        report.add(path.stem, len(lines), len(windows), len(passed), saved, over, len(facts), len(lost), share)
        report.failed |= share > MOST_LOST
        for window in passed if options.lost else ():
            print("--", *(f"{'*' if _rests(line.id, facts) else ' '} {line.text}" for line in window), sep="\n")
    report.notes.append(f"reach: lost <= {MOST_LOST:g} % of the gold facts")
    return report


def _is_looked_at(window: Sequence[core.Message]) -> bool:
    last = next(line for line in reversed(window) if not line.is_bot)
    return may_be_worth_remembering(Dialogue(last.scene, window))


def _by_place(lines: Sequence[core.Message]) -> list[list[core.Message]]:
    places: dict[object, list[core.Message]] = defaultdict(list)
    for line in lines:
        places[line.scene.scope].append(line)
    return list(places.values())


def _rests(line_id: str, facts: Sequence[frozenset[str]]) -> bool:
    return any(line_id in evidence for evidence in facts)


def _chat(path: Path) -> tuple[list[core.Message], list[frozenset[str]]]:
    world = json.loads(path.read_text("utf-8"))
    if "conversation_list" in world:
        return [_plain_line(entry) for entry in world["conversation_list"]], []
    lines = [line.message for line in read(path).lines]
    return lines, [frozenset(fact["evidence"]) for fact in world["facts"]]


def _plain_line(entry: dict[str, str]) -> core.Message:
    scene = core.Scene.group("1", entry["sender"], user_name=entry["sender_name"])
    return core.Message(entry["message_id"], scene, entry["content"], datetime.fromisoformat(entry["create_time"]))
