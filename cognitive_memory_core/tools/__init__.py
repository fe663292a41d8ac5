"""The memory as tools of a model: schemas, tolerant arguments, and actions that read the caller's scene only."""

from __future__ import annotations

from ..sentences.tools import GROUP_WORDS
from .actions import (
    ACTIONS,
    MOST_PEOPLE,
    WINDOW,
    ProfileLimit,
    ToolCaller,
    agent_answer,
    agent_schemas,
    answer,
    failure,
    speaker,
)
from .tool_arguments import Action, Answer, Flag, Schema, Text, Texts, function_schemas, read_flag

__all__ = [
    "ACTIONS",
    "GROUP_WORDS",
    "MOST_PEOPLE",
    "WINDOW",
    "Action",
    "Answer",
    "Flag",
    "ProfileLimit",
    "Schema",
    "Text",
    "Texts",
    "ToolCaller",
    "agent_answer",
    "agent_schemas",
    "answer",
    "failure",
    "function_schemas",
    "read_flag",
    "speaker",
]
