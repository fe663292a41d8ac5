"""Serves MCP clients: a request's token decides which place is read for whom; no argument of a tool changes that.

A client's own token gives access to one place for one person. The operator's token gives access to the place and
person named in the request's headers, which are configured with the token; the model never sees them.
"""

from __future__ import annotations

from functools import partial
from urllib.parse import unquote

from starlette.types import ASGIApp, Receive, Scope, Send

import cognitive_memory_core as core

from .. import injected, replies
from .gates import TokenGate, by_token, only_header, refused
from .routes import Backing

HEADERS = (b"x-memory-user", b"x-memory-group", b"x-memory-agent")


def agents_app(settings: core.HttpSettings, backing: Backing) -> ASGIApp:
    """Return the application that serves each request according to the token that it carries."""

    async def answer(user: str, group: str, agent: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that reads ``user``'s private chat, or ``group`` for that person."""
        memory, in_force = backing.memory(), backing.settings()
        if not memory.is_running:
            await refused(503, memory.reason)(scope, receive, send)
            return
        of = agent or in_force.agent
        try:
            where = core.Scene.group(group, user, agent=of) if group else core.Scene.private(user, agent=of)
        except core.BadArgument as strange:
            await refused(400, str(strange))(scope, receive, send)
            return
        exchange = core.mcp_server.memory_exchange(injected.caller(memory, where, in_force))
        await core.mcp_server.answer_http(exchange, scope, receive, send)

    async def by_headers(scope: Scope, receive: Receive, send: Send) -> None:
        user, group, agent = (unquote((only_header(scope, name) or b"").decode("latin-1")).strip() for name in HEADERS)
        if not user:
            await refused(400, replies.http.NO_PERSON)(scope, receive, send)
        else:
            await answer(user, group, agent, scope, receive, send)

    agents = [
        TokenGate(partial(answer, one.user, one.group, one.agent), one.token.get_secret_value())
        for one in settings.agents
    ]
    return by_token([*agents, TokenGate(by_headers, settings.token.get_secret_value())])
