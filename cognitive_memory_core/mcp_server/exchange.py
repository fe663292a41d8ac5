"""Answers the protocol's methods from a memory or a running bot, in the protocol's own JSON forms."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from typing import Any, cast
from urllib.parse import quote, unquote

import httpx

from .. import sentences
from ..domain.scope import Scene
from ..errors import MistakeError, UnavailableError
from ..models.client import member
from ..tools import ToolCaller, agent_answer, agent_schemas
from ..tools.actions import Answer

Json = Mapping[str, Any]
Exchange = Callable[[str, Json], Awaitable[Json]]
METHODS = ("tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read")
URI = "memory://profiles/"
URI_LENGTH = 512
MARKDOWN = "text/markdown"


class UnknownResource(MistakeError):
    """A resource that does not exist, or that the scene may not read."""


def memory_exchange(caller: ToolCaller) -> Exchange:
    """Return a function that answers ``METHODS`` from the memory, always in the caller's scene.

    The answer to a refused call has ``isError``; for a resource that cannot be read the function raises
    UnknownResource.
    """

    async def profile(entity_type: str, entity_id: str) -> Json | None:
        answer = await agent_answer(caller, "get_profile", {"entity_type": entity_type, "entity_id": entity_id})
        return cast("Json | None", answer.get("profile"))

    async def answer(method: str, params: Json) -> Json:
        if (described := description(method)) is not None:
            return described
        if method == "tools/call":
            return called(await agent_answer(caller, str(params.get("name", "")), params.get("arguments")))
        if method == "resources/list":
            listed: list[Json] = []
            for key in (("user", caller.scene.user_id), ("group", caller.scene.group_id)):
                if key[1] and (found := await profile(*key)):
                    uri = f"{URI}{found['entity_type']}/{quote(found['entity_id'], safe='/')}"
                    name = found["name"] or found["entity_id"]
                    listed.append({"uri": uri, "name": name, "mimeType": MARKDOWN})
            return {"resources": listed}
        uri = str(params.get("uri", ""))
        entity_type, _, entity_id = uri[:URI_LENGTH].removeprefix(URI).partition("/")
        is_ours = uri.startswith(URI) and len(uri) <= URI_LENGTH and entity_id
        found = await profile(entity_type, unquote(entity_id)) if is_ours else None
        if found is None:
            raise UnknownResource(sentences.tools.NO_SUCH_RESOURCE)
        parts = f"# {found['name'] or found['entity_id']}", "、".join(found["tags"]), found["summary"]
        return {"contents": [{"uri": uri, "mimeType": MARKDOWN, "text": "\n\n".join(filter(None, parts))}]}

    return answer


def description(method: str) -> Json | None:
    """Return the answer to a method that only describes what there is, and needs no memory; None for another."""
    if method == "tools/list":
        return {"tools": agent_schemas()}
    if method == "resources/templates/list":
        template = {"uriTemplate": f"{URI}{{entity_type}}/{{entity_id}}", "name": sentences.tools.PROFILE_RESOURCES}
        return {"resourceTemplates": [{**template, "mimeType": MARKDOWN}]}
    return None


def called(answer: Answer) -> Json:
    """Return the result of ``tools/call`` that carries a tool's answer as JSON text."""
    text = json.dumps(answer, ensure_ascii=False)
    return {"content": [{"type": "text", "text": text}], "isError": not answer.get("ok")}


PATH = "/memory/mcp"
USER_HEADER, GROUP_HEADER = "x-memory-user", "x-memory-group"
PROTOCOL = "2025-06-18"
PATIENCE = 60.0  # seconds; a model of the bot's may take part in an answer
REFUSALS: Mapping[int, str] = {
    401: sentences.command_line.BOT_REFUSES_US,
    403: sentences.command_line.BOT_REFUSES_US,
    404: sentences.command_line.BOT_SERVES_NO_AGENTS,
}


def bot_exchange(url: str, token: str, scene: Scene) -> Exchange:
    """Return a function that forwards requests to the bot at ``url`` (scheme, host and port), always in one scene.

    Person and place are sent as headers. The function raises UnavailableError, or MistakeError if the bot rejects the
    request.
    """
    address, numbers = url.rstrip("/") + PATH, count(1)
    headers = {
        "authorization": f"Bearer {token}",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": PROTOCOL,
        USER_HEADER: quote(scene.user_id),
        **({GROUP_HEADER: quote(scene.group_id)} if scene.group_id else {}),
    }

    async def ask(method: str, params: Json) -> Json:
        request = {"jsonrpc": "2.0", "id": next(numbers), "method": method, "params": params}
        try:
            async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as client:
                answer = await client.post(address, json=request, headers=headers)
        except (httpx.HTTPError, httpx.InvalidURL) as unreachable:
            raise UnavailableError(sentences.command_line.BOT_IS_SILENT.format(url=address)) from unreachable
        if not answer.is_success:
            refusal = REFUSALS.get(answer.status_code)
            raise UnavailableError(refusal or sentences.command_line.BOT_ANSWERS.format(status=answer.status_code))
        try:
            body = cast("object", answer.json())
        except ValueError:
            body = None
        if isinstance(result := member(body, "result"), dict):
            return cast("Json", result)
        if message := member(member(body, "error"), "message"):
            raise MistakeError(str(message))
        raise UnavailableError(sentences.command_line.BOT_SERVES_NO_AGENTS)

    return ask
