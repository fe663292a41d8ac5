"""The OpenAPI document of the interface, served behind the token as everything else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.requests import Request

from ..replies import http_guide as guide
from .bodies.body import Answer, RequestBody, examples_of

VERSION = "1"
TOKEN = {"type": "http", "scheme": "bearer"}


def serve_document(api: FastAPI) -> None:
    """Serve the OpenAPI document at ``/openapi.json``; its server address is the prefix that the client used."""

    @api.get("/openapi.json", include_in_schema=False)
    async def openapi(request: Request) -> Mapping[str, Any]:
        root = request.scope.get("root_path", "").rstrip("/")
        return {**document(api), "servers": [{"url": root or "/"}]}


def document(api: FastAPI) -> Mapping[str, Any]:
    """Return the document of an application, without the address of its server."""
    described: dict[str, Any] = get_openapi(
        title=guide.TITLE, version=VERSION, description=guide.DESCRIPTION, routes=api.routes
    )
    described.setdefault("components", {})["securitySchemes"] = {"token": TOKEN}
    for body in (*Answer.__subclasses__(), *RequestBody.__subclasses__()):
        schema = described["components"]["schemas"].get(body.__name__)
        if schema and (examples := examples_of(body)):
            schema["examples"] = examples  # the framework leaves out their null fields
    return {**described, "security": [{"token": []}]}
