"""Answers the protocol's methods from a memory, in the protocol's own JSON forms."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast
from urllib.parse import quote, unquote

from .. import sentences
from ..errors import MistakeError
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
