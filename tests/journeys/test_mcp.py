"""An agent that speaks MCP by the official SDK uses the memory, beside a running bot and without one."""

from __future__ import annotations

from pathlib import Path

from tests.support.agents import TOOLS, stdio_agent
from tests.support.waiting import until

USER, GROUP = "2000001", "10001"


async def test_every_tool_without_a_bot(tmp_path: Path) -> None:
    """Over standard input and output, each tool answers from the directory when no bot owns it."""
    async with stdio_agent(
        "--data", str(tmp_path / "memory"), "--user", USER, "--group", GROUP, home=tmp_path
    ) as agent:
        assert set(await agent.tools()) == TOOLS
        assert (await agent.call("remember", observations=["阿棠(2000001) 喜欢喝乌龙茶"]))["id"]

        async def found() -> bool:
            return bool((await agent.call("search_events", query="乌龙茶"))["events"])

        await until(found)
