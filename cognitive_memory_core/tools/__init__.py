"""The memory as tools of a model: schemas, tolerant arguments, and actions that read the caller's scene only."""

from __future__ import annotations

from ..sentences.tools import GROUP_WORDS
from .actions import (
    ACTIONS,
    AGENT_ACTIONS,
    MOST_PEOPLE,
    WINDOW,
    Action,
    Answer,
    ProfileLimit,
    ToolCaller,
    agent_answer,
    answer,
    failure,
    speaker,
)
from .tool_arguments import Arguments, BadToolArgument, Schema, agent_schemas, function_schemas

__all__ = [
    "ACTIONS",
    "AGENT_ACTIONS",
    "GROUP_WORDS",
    "MOST_PEOPLE",
    "WINDOW",
    "Action",
    "Answer",
    "Arguments",
    "BadToolArgument",
    "ProfileLimit",
    "Schema",
    "ToolCaller",
    "agent_answer",
    "agent_schemas",
    "answer",
    "failure",
    "function_schemas",
    "speaker",
]
