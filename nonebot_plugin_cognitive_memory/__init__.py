"""Long-term memory for NoneBot2; see README. Importing it starts nothing and needs no setting."""

# ruff: noqa: E402  # what this plugin requires is loaded before what imports it

from __future__ import annotations

from nonebot import require
from nonebot.plugin import PluginMetadata

require("nonebot_plugin_localstore")

from . import bridges as bridges  # before the memory: its start-up line names the model that a bridge lends
from . import replies
from .config import Config
from .injected import (
    Consider,
    CurrentScene,
    GetProfile,
    Memory,
    MemoryContext,
    MemoryToolbox,
    MemoryTools,
    PersonalContext,
    RecordEnd,
    SearchEvents,
    SearchProfiles,
    call_tool,
    consider,
    record_end,
    tool_guide,
    tool_schemas,
)
from .lifecycle import get_memory
from .replies.chat_plugins import TOOL_GUIDE
from .scene import find_scene, scene_of

__plugin_meta__ = PluginMetadata(
    name=replies.chat_plugins.PLUGIN_NAME,
    description=replies.chat_plugins.PLUGIN_DESCRIPTION,
    usage=replies.chat_plugins.PLUGIN_USAGE,
    type="application",
    homepage="https://github.com/nonebot-plugin-cognitive-memory/nonebot-plugin-cognitive-memory",
    config=Config,
    supported_adapters={"~onebot.v11", "~onebot.v12"},
)

from . import capture as capture  # for their side effects, last
from . import commands as commands
from . import console as console
from . import hot_settings as hot_settings
from . import http as http
from .capture import observe

__all__ = [
    "TOOL_GUIDE",
    "Config",
    "Consider",
    "CurrentScene",
    "GetProfile",
    "Memory",
    "MemoryContext",
    "MemoryToolbox",
    "MemoryTools",
    "PersonalContext",
    "RecordEnd",
    "SearchEvents",
    "SearchProfiles",
    "call_tool",
    "consider",
    "find_scene",
    "get_memory",
    "observe",
    "record_end",
    "scene_of",
    "tool_guide",
    "tool_schemas",
]
