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

    async def answer(method: str, params: Json) -> Json:
        if (described := description(method)) is not None:
            return described
        if method == "tools/call":
            return called(await agent_answer(caller, str(params.get("name", "")), params.get("arguments")))
        if method == "resources/list":
            keys = [("user", caller.scene.user_id), ("group", caller.scene.group_id)]
            found = [await _profile(caller, *key) for key in keys if key[1]]
            return {"resources": [_listed(profile) for profile in found if profile]}
        return await _read(caller, str(params.get("uri", "")))

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


async def _profile(caller: ToolCaller, entity_type: str, entity_id: str) -> Json | None:
    answer = await agent_answer(caller, "get_profile", {"entity_type": entity_type, "entity_id": entity_id})
    return cast("Json | None", answer.get("profile"))


async def _read(caller: ToolCaller, uri: str) -> Json:
    entity_type, _, entity_id = uri[:URI_LENGTH].removeprefix(URI).partition("/")
    is_ours = uri.startswith(URI) and len(uri) <= URI_LENGTH and entity_id
    profile = await _profile(caller, entity_type, unquote(entity_id)) if is_ours else None
    if profile is None:
        raise UnknownResource(sentences.tools.NO_SUCH_RESOURCE)
    return {"contents": [{"uri": uri, "mimeType": MARKDOWN, "text": _markdown(profile)}]}


def _listed(profile: Json) -> Json:
    uri = f"{URI}{profile['entity_type']}/{quote(profile['entity_id'], safe='/')}"
    return {"uri": uri, "name": profile["name"] or profile["entity_id"], "mimeType": MARKDOWN}


def _markdown(profile: Json) -> str:
    tags = "、".join(profile["tags"])
    return "\n\n".join(filter(None, (f"# {profile['name'] or profile['entity_id']}", tags, profile["summary"])))
