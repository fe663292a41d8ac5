"""The memory as tools of a model: schemas, tolerant arguments, and actions that cannot leave the caller's scene."""

from __future__ import annotations

from ..sentences.tools import GROUP_WORDS
from .actions import ACTIONS, Action, Answer, ToolCaller, speaker
from .reading_breadth import WINDOW, Breadth
from .schemas import Schema, function_schemas
from .tool_arguments import Arguments, BadToolArgument

__all__ = [
    "ACTIONS",
    "GROUP_WORDS",
    "WINDOW",
    "Action",
    "Answer",
    "Arguments",
    "BadToolArgument",
    "Breadth",
    "Schema",
    "ToolCaller",
    "function_schemas",
    "speaker",
]
