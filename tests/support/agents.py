"""An agent that speaks MCP by the SDK, whichever version of it is installed."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the SDK is imported by who starts an agent, not by the collection
    from mcp import ClientSession

TOOLS = {
    "catch_up",
    "search_events",
    "get_profile",
    "search_profiles",
    "remember",
    "context",
    "memory_list",
    "memory_add",
    "memory_update",
    "memory_delete",
    "beliefs",
}


class Agent:
    """A client whose answers are plain JSON."""

    def __init__(self, session: ClientSession) -> None:
        """Speak in an initialised session."""
        self.session = session

    async def tools(self) -> dict[str, Any]:
        """Return the tools by name."""
        listed = (await self.session.list_tools()).model_dump(mode="json", by_alias=True)["tools"]
        return {tool["name"]: tool for tool in listed}

    async def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its answer; whether it is an error is the same in the answer and in the protocol."""
        return await self.call_with(name, arguments)

    async def call_with(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Call a tool with arguments of any kind."""
        result = (await self.session.call_tool(name, dict(arguments))).model_dump(mode="json", by_alias=True)
        answer: dict[str, Any] = json.loads(result["content"][0]["text"])
        assert bool(result["isError"]) is not answer["ok"]
        return answer

    async def resources(self) -> list[str]:
        """Return the addresses of the listed resources."""
        listed = (await self.session.list_resources()).model_dump(mode="json", by_alias=True)["resources"]
        return [resource["uri"] for resource in listed]

    async def read(self, uri: str) -> str:
        """Return the text of a resource."""
        read = (await self.session.read_resource(uri)).model_dump(mode="json", by_alias=True)  # type: ignore[arg-type]
        text: str = read["contents"][0]["text"]
        return text


@asynccontextmanager
async def stdio_agent(*arguments: str, home: Path) -> AsyncGenerator[Agent, None]:
    """Start ``cognitive-memory mcp`` in a directory, as a client's configuration does, and speak to it."""
    from mcp import ClientSession, StdioServerParameters, stdio_client

    command = ["-m", "cognitive_memory_core.cli", "mcp", *arguments]
    server = StdioServerParameters(command=sys.executable, args=command, cwd=str(home))
    async with stdio_client(server) as (received, sent), ClientSession(received, sent) as session:
        await session.initialize()
        yield Agent(session)


@asynccontextmanager
async def http_agent(address: str, token: str, headers: Mapping[str, str] | None = None) -> AsyncGenerator[Agent, None]:
    """Speak to a server over streamable HTTP."""
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client

    given = {"Authorization": f"Bearer {token}", **(headers or {})}
    async with (
        create_mcp_http_client(headers=given) as client,
        streamable_http_client(address, http_client=client) as streams,
        ClientSession(streams[0], streams[1]) as session,
    ):
        await session.initialize()
        yield Agent(session)
