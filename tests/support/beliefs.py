"""Groups that talk about their rules, and answers of a model about them."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

from cognitive_memory_core.domain.belief import Belief, BeliefEdit, logged
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.scope import Scene

from .builders import GROUP
from .clock import NOON

FRIDAY = "每周五晚上讨论新番"
TEA, LIN, MO = ("2000001", "豆沙"), ("2000002", "小林"), ("2000003", "阿墨")

CHAT = (
    (TEA, "以后每周五晚上讨论新番吧"),
    (LIN, "好，每周五晚上讨论新番"),
    (MO, "同意"),
    (MO, "群里不要讨论政治"),
    (TEA, "对，不讨论政治"),
)


def a_line(number: int, who: tuple[str, str], text: str, at: datetime = NOON, **fields: Any) -> Message:
    """Return a line of the group, a minute after the one before it."""
    scene = Scene.group(GROUP.group_id, who[0], user_name=who[1], group_name="开发组")
    return Message(f"m{number}", scene, text, at + timedelta(minutes=number), **fields)


def a_chat(*said: tuple[tuple[str, str], str], at: datetime = NOON, first: int = 1) -> list[Message]:
    """Return lines of the group, numbered from ``first``."""
    return [a_line(number, who, text, at) for number, (who, text) in enumerate(said, first)]


def greetings(at: datetime = NOON) -> list[Message]:
    """Return a line of each nine days before: whose word counts in a group was seen there a week before."""
    return a_chat(*((who, "大家好") for who in (TEA, LIN, MO)), at=at - timedelta(days=9), first=900)


def answered(*rows: dict[str, Any]) -> str:
    """Return a model's answer in JSON Lines."""
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


def created(statement: str, *lines: int, reason: str = "两个人都说了") -> dict[str, Any]:
    """Return a line that creates a belief."""
    return {"action": "create", "statement": statement, "change_reason": reason, "lines": lines, "tags": ["规矩"]}


def updated(old_id: str, statement: str, *lines: int, reason: str = "改了时间") -> dict[str, Any]:
    """Return a line that updates a belief."""
    return {"action": "update", "old_id": old_id, "statement": statement, "change_reason": reason, "lines": lines}


def deleted(old_id: str, *lines: int, reason: str = "取消了") -> dict[str, Any]:
    """Return a line that deletes a belief."""
    return {"action": "delete", "old_id": old_id, "change_reason": reason, "lines": lines}


def kept(old_id: str, *lines: int) -> dict[str, Any]:
    """Return a line that keeps a belief."""
    return {"action": "keep", "old_id": old_id, "lines": lines}


def a_belief(statement: str = FRIDAY, belief_id: str = "b1", scene: Scene = GROUP, **fields: Any) -> Belief:
    """Return a belief of a scene's group."""
    dates = {"created_at": NOON, "updated_at": NOON}
    return Belief(belief_id, scene.scope, statement, **{"supporters": (TEA[0], LIN[0]), **dates, **fields})


def begun(belief: Belief, at: datetime = NOON) -> BeliefEdit:
    """Return the edit that creates a belief."""
    return logged("create", belief, None, "反复说到", at)
