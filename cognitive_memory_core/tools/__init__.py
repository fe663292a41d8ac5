"""The memory as tools of a model: schemas, tolerant arguments, and actions that read the caller's scene only."""

from __future__ import annotations

from ..sentences.tools import GROUP_WORDS as GROUP_WORDS
from .actions import ACTIONS as ACTIONS
from .actions import MOST_PEOPLE as MOST_PEOPLE
from .actions import WINDOW as WINDOW
from .actions import ProfileLimit as ProfileLimit
from .actions import ToolCaller as ToolCaller
from .actions import agent_answer as agent_answer
from .actions import agent_schemas as agent_schemas
from .actions import answer as answer
from .actions import failure as failure
from .actions import speaker as speaker
from .tool_arguments import Answer as Answer
from .tool_arguments import Flag as Flag
from .tool_arguments import Schema as Schema
from .tool_arguments import Text as Text
from .tool_arguments import Texts as Texts
from .tool_arguments import function_schemas as function_schemas
