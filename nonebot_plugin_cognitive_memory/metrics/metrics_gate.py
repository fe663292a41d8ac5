"""Answers scrapes that carry the metrics' token or the operator's."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

import cognitive_memory_core as core

from .. import replies
from ..http.dependencies import Backing
from ..http.operator_token import TokenGate
from ..http.refusals import refused
from .exposition import Exposition


class MetricsGate:
    """A read-only application with one path."""

    def __init__(self, settings: core.HttpSettings, backing: Backing) -> None:
        """Serve the metrics of the memory behind ``backing``."""
        self._exposition = Exposition(backing.memory)
        tokens = (settings.metrics_token.get_secret_value(), settings.token.get_secret_value())
        self._gates = [TokenGate(self._answer, token) for token in tokens if token.strip()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request to the gate of the token that it carries; one without a known token is refused."""
        gate = next((gate for gate in self._gates if gate.is_operator(scope)), self._gates[-1])
        await gate(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            response: Response = refused(405, replies.http.NO_METHOD, headers={"Allow": "GET, HEAD"})
        else:
            text, content_type = await self._exposition.text()
            response = Response(text, media_type=content_type)
        await response(scope, receive, send)
