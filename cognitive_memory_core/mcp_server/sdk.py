"""Builds a server by the protocol's SDK, whose versions 1 and 2 register methods in different ways."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from functools import partial
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from .. import sentences
from ..errors import CognitiveMemoryError
from .exchange import METHODS, Exchange, Json

NAME = "cognitive-memory"
DISTRIBUTION = "nonebot-plugin-cognitive-memory"
RESOURCE_NOT_FOUND = -32002  # of the protocol
_NAMES = {  # what the SDK calls a method: its handler's keyword in version 2, and its request and result
    "tools/list": ("on_list_tools", "ListTools"),
    "tools/call": ("on_call_tool", "CallTool"),
    "resources/list": ("on_list_resources", "ListResources"),
    "resources/templates/list": ("on_list_resource_templates", "ListResourceTemplates"),
    "resources/read": ("on_read_resource", "ReadResource"),
}


def is_installed() -> bool:
    """Return whether the SDK can be imported; imports nothing."""
    return find_spec("mcp") is not None


def sdk_server(exchange: Exchange) -> Any:
    """Return an SDK server that answers by ``exchange``; a refusal becomes an error of the protocol."""
    types, lowlevel = import_module("mcp.types"), import_module("mcp.server.lowlevel")
    described = {"version": version(DISTRIBUTION), "instructions": sentences.tools.AGENT_GUIDE}
    is_first = version("mcp").partition(".")[0] == "1"

    async def answer(method: str, _context: object, params: Any) -> Any:
        given: Json = {} if params is None else params.model_dump(mode="json", by_alias=True, exclude_none=True)
        try:
            result = await exchange(method, given)
        except CognitiveMemoryError as refused:
            exceptions, error = import_module("mcp.shared.exceptions"), (RESOURCE_NOT_FOUND, str(refused))
            if is_first:
                raise exceptions.McpError(types.ErrorData(code=error[0], message=error[1])) from refused
            raise exceptions.MCPError(*error) from refused
        return getattr(types, f"{_NAMES[method][1]}Result").model_validate(result)

    async def wrapped(method: str, request: Any) -> Any:
        return types.ServerResult(await answer(method, None, request.params))

    if not is_first:
        return lowlevel.Server(NAME, **described, **{_NAMES[one][0]: partial(answer, one) for one in METHODS})
    server = lowlevel.Server(NAME, **described)
    for method in METHODS:
        server.request_handlers[getattr(types, f"{_NAMES[method][1]}Request")] = partial(wrapped, method)
    return server


async def serve_stdio(exchange: Exchange) -> None:
    """Serve a client over standard input and output until the client closes them."""
    server = sdk_server(exchange)
    async with import_module("mcp.server.stdio").stdio_server() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())


Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


async def answer_http(exchange: Exchange, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one ASGI request by a server of its own, so that no answer can reach another caller.

    Only POST is served: there is no session to end, and nothing to stream. The caller must authenticate the request and
    bound its body.
    """
    if scope["method"] != "POST":
        headers = [(b"content-length", b"0"), (b"allow", b"POST")]
        await send({"type": "http.response.start", "status": 405, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
        return
    transport = import_module("mcp.server.streamable_http_manager")
    manager = transport.StreamableHTTPSessionManager(app=sdk_server(exchange), json_response=True, stateless=True)
    async with manager.run():
        await manager.handle_request(scope, receive, send)
