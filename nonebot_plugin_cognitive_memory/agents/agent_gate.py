"""Serves MCP clients: a request's token decides which place is read for whom; no argument of a tool changes that.

A client's own token gives access to one place for one person. The operator's token gives access to the place and
person named in the request's headers, which are configured with the token; the model never sees them.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

from starlette.types import ASGIApp, Receive, Scope, Send

import cognitive_memory_core as core

from .. import replies
from ..http.dependencies import Backing
from ..http.operator_token import TokenGate
from ..http.refusals import refused
from ..throttled_log import complain
from ..tool_actions import profile_limit

HEADERS = {"user": b"x-memory-user", "group": b"x-memory-group", "agent": b"x-memory-agent"}


class AgentGate:
    """Serves each request according to the token that it carries."""

    def __init__(self, settings: core.HttpSettings, backing: Backing) -> None:
        """Accept the tokens of the agents in ``settings``, and the operator's."""
        self._backing = backing
        self._operator = TokenGate(self._by_headers, settings.token.get_secret_value())
        self._agents = [
            TokenGate(self._in(_AgentPlace(one.user, one.group, one.agent)), one.token.get_secret_value())
            for one in settings.agents
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request to the gate of its token, or to the operator's gate, which refuses unknown tokens."""
        gate = next((gate for gate in self._agents if gate.is_operator(scope)), self._operator)
        await gate(scope, receive, send)

    def _in(self, place: _AgentPlace) -> ASGIApp:
        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            await self._answer(place, scope, receive, send)

        return answer

    async def _by_headers(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = {name: _single_header(scope, header) for name, header in HEADERS.items()}
        if not given["user"]:
            await refused(400, replies.agents.NO_PERSON)(scope, receive, send)
        else:
            await self._answer(_AgentPlace(**given), scope, receive, send)

    async def _answer(self, place: _AgentPlace, scope: Scope, receive: Receive, send: Send) -> None:
        memory, settings = self._backing.memory(), self._backing.settings()
        if not memory.is_running:
            await refused(503, memory.reason)(scope, receive, send)
            return
        try:
            where = place.scene(settings.agent)
        except core.BadArgument as strange:
            await refused(400, str(strange))(scope, receive, send)
            return
        caller = core.tools.ToolCaller(
            memory,
            where,
            settings,
            profile_limit=profile_limit,
            on_too_broad=lambda who: complain(replies.log.too_broad(who)),
        )
        await core.mcp_server.answer_http(core.mcp_server.memory_exchange(caller), scope, receive, send)


@dataclass(frozen=True)
class _AgentPlace:
    """The place that an agent reads, and the person for whom; with ``group`` "" it is that person's private chat."""

    user: str
    group: str = ""
    agent: str = ""

    def scene(self, usual_agent: str) -> core.Scene:
        """Return the scene, of ``usual_agent`` if none is named; raises BadArgument for an invalid id."""
        agent = self.agent or usual_agent
        if self.group:
            return core.Scene.group(self.group, self.user, agent=agent)
        return core.Scene.private(self.user, agent=agent)


def _single_header(scope: Scope, wanted: bytes) -> str:
    """Return a header's text; "" if it is missing or given more than once."""
    found = [value for name, value in scope["headers"] if name == wanted]
    return unquote(found[0].decode("latin-1")).strip() if len(found) == 1 else ""
