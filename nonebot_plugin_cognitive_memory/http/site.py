"""The application of the HTTP interface: its gates, its routes, errors as statuses, and its document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Router
from starlette.types import ASGIApp

import cognitive_memory_core as core

from .. import replies
from ..limits import TokenBuckets
from ..replies import http_guide as guide
from .bodies import EventBody
from .gates import TokenGate, host_gate, refused
from .routes import Backing, EventChanged, NothingThere, add_routes

VERSION = "1"
BUSY = 5.0  # seconds after which an unavailable memory is worth another request
NOT_FOUND = (
    NothingThere,
    core.NotPermitted,  # what the operator may not see does not exist
    core.UnknownBelief,
    core.UnknownEvent,
    core.UnknownPin,
    core.UnknownRevision,
)


class Site:
    """All that is served under ``/memory``: ``api``, which requires the operator's token, and added applications.

    The Host header of every request is checked first. Add only applications that authenticate by themselves, such as
    web pages with sessions; everything else belongs in ``api``.
    """

    def __init__(self, token: str, hosts: tuple[str, ...], backing: Backing, pace: TokenBuckets | None = None) -> None:
        """Build the interface; a blank token raises ValueError. ``pace`` replaces the usual rate limit of ``api``."""
        self.backing = backing
        self.api = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
        self.api.state.backing = backing
        for kind in (core.CognitiveMemoryError, RequestValidationError, HTTPException, Exception):
            self.api.add_exception_handler(kind, _failed)
        add_routes(self.api)
        self.api.add_api_route("/openapi.json", _openapi, include_in_schema=False)
        self._router = Router(routes=[Mount("", app=TokenGate({token: self.api}, pace))], redirect_slashes=False)
        self._mounted: set[str] = set()
        self.app = host_gate(self._router, hosts, self._mounted)

    def add(self, path: str, app: ASGIApp) -> None:
        """Add an application at a path below ``/memory``; the application must check access by itself.

        It serves this path and everything below it, and is matched before ``api``.
        """
        self._mounted.add(path)
        self._router.routes.insert(0, Mount(path, app=app))


async def _openapi(request: Request) -> Mapping[str, Any]:
    root = request.scope.get("root_path", "").rstrip("/")  # the prefix that the client used
    return {**document(request.app), "servers": [{"url": root or "/"}]}


def status_of(error: core.CognitiveMemoryError) -> int:
    """Return the HTTP status for an error of the memory."""
    if isinstance(error, NOT_FOUND):
        return 404
    if isinstance(error, core.BadArgument):
        return 422
    if isinstance(error, core.MistakeError):
        return 409
    return 429 if isinstance(error, core.QueueFull) else 503


async def _failed(_: Request, error: Exception) -> Response:
    """Answer an error with a status and one Chinese sentence."""
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        return refused(422, replies.http.refused_value(first["loc"], first["type"], first.get("ctx", {})))
    if isinstance(error, HTTPException):
        sentences = {400: replies.http.BROKEN_JSON, 404: replies.http.NO_PATH, 405: replies.http.NO_METHOD}
        sentence = sentences.get(error.status_code, replies.http.UNFORESEEN)
        return refused(error.status_code, sentence, headers=error.headers)
    if not isinstance(error, core.CognitiveMemoryError):
        return refused(500, replies.http.UNFORESEEN)
    status, sentence = status_of(error), " ".join(str(error).split()) or replies.http.UNAVAILABLE
    if isinstance(error, core.NotPermitted):
        sentence = replies.http.NOT_FOUND
    wait = (getattr(error, "retry_after", None) or BUSY) if status in (429, 503) else None
    present = EventBody.model_validate(error.event).model_dump(mode="json") if isinstance(error, EventChanged) else None
    return refused(status, sentence, retry_after=wait, **({"event": present} if present else {}))


def document(api: FastAPI) -> Mapping[str, Any]:
    """Return the OpenAPI document, without the address of its server; each field of a request's body has an example."""
    described = get_openapi(title=guide.TITLE, version=VERSION, description=guide.DESCRIPTION, routes=api.routes)
    described.setdefault("components", {})["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return {**described, "security": [{"token": []}]}
