"""Builders of domain objects for tests."""

from __future__ import annotations

from datetime import datetime
from itertools import count
from typing import Any

from cognitive_memory_core.domain.event import Draft, Event
from cognitive_memory_core.domain.ids import derived_id
from cognitive_memory_core.domain.job import Job
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.domain.turn import Turn

from .clock import NOON

GROUP = Scene.group("10001", "2000001", user_name="阿棠", group_name="读书会")
OTHER_GROUP = Scene.group("10002", "2000001", user_name="阿棠", group_name="桌游局")
PRIVATE = Scene.private("2000001", user_name="阿棠")
OPERATOR = Scene.operator()
_numbers = count(1)


def an_event(text: str = "阿棠(2000001) 喜欢乌龙茶", scene: Scene = GROUP, **fields: Any) -> Event:
    """Return an event said in a scene by its person."""
    return Event(
        **{
            "id": derived_id("event", next(_numbers)),
            "text": text,
            "user_id": scene.user_id,
            "group_id": scene.group_id,
            "sender_id": scene.user_id,
            "request_type": "group" if scene.kind == "group" else "private",
            "agent": scene.agent,
            "happened_at": NOON,
            **fields,
        }
    )


def a_draft(*events: Event, job_id: str | None = None) -> Draft:
    """Return a draft of one job."""
    return Draft(job_id or derived_id("job", next(_numbers)), events)


def a_message(text: str = "我喜欢乌龙茶", scene: Scene = GROUP, sent_at: datetime = NOON, **fields: Any) -> Message:
    """Return a message said in a scene by its person."""
    return Message(fields.pop("id", f"m{next(_numbers)}"), scene, text, sent_at, **fields)


def a_job(*observations: str, scene: Scene = GROUP, at: datetime = NOON, **fields: Any) -> Job:
    """Return a job of one turn."""
    turn = Turn(scene, observations=observations or ("阿棠喜欢乌龙茶",), **fields)
    return Job(derived_id("job", next(_numbers)), turn, at)
