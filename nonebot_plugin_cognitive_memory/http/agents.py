"""Serves MCP clients: a request's token decides which place is read for whom; no argument of a tool changes that.

A client's own token gives access to one place for one person. The operator's token gives access to the place and
person named in the request's headers, which are configured with the token; the model never sees them.
"""

from __future__ import annotations

from functools import partial
from urllib.parse import unquote

from starlette.types import Receive, Scope, Send

import cognitive_memory_core as core

from .. import replies, toolbox
from .gates import TokenGate, only_header, refused
from .routes import Backing

HEADERS = (b"x-memory-user", b"x-memory-group", b"x-memory-agent")


class AgentGate:
    """Serves each request according to the token that it carries."""

    def __init__(self, settings: core.HttpSettings, backing: Backing) -> None:
        """Accept the tokens of the agents in ``settings``, and the operator's."""
        self._backing = backing
        self._operator = TokenGate(self._by_headers, settings.token.get_secret_value())
        self._agents = [
            TokenGate(partial(self._answer, one.user, one.group, one.agent), one.token.get_secret_value())
            for one in settings.agents
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request to the gate of its token, or to the operator's gate, which refuses unknown tokens."""
        gate = next((gate for gate in self._agents if gate.is_operator(scope)), self._operator)
        await gate(scope, receive, send)

    async def _by_headers(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = [unquote((only_header(scope, name) or b"").decode("latin-1")).strip() for name in HEADERS]
        if not given[0]:
            await refused(400, replies.agents.NO_PERSON)(scope, receive, send)
        else:
            await self._answer(given[0], given[1], given[2], scope, receive, send)

    async def _answer(self, user: str, group: str, agent: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that reads ``user``'s private chat, or ``group`` for that person."""
        memory, settings = self._backing.memory(), self._backing.settings()
        if not memory.is_running:
            await refused(503, memory.reason)(scope, receive, send)
            return
        of = agent or settings.agent
        try:
            where = core.Scene.group(group, user, agent=of) if group else core.Scene.private(user, agent=of)
        except core.BadArgument as strange:
            await refused(400, str(strange))(scope, receive, send)
            return
        caller = toolbox.caller(memory, where, settings)
        await core.mcp_server.answer_http(core.mcp_server.memory_exchange(caller), scope, receive, send)
