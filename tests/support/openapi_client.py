"""A client that is generated from an OpenAPI document: it builds each request from schemas, defaults and examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx
from jsonschema import Draft202012Validator

_Schema = Mapping[str, Any]


@dataclass(frozen=True)
class Operation:
    """One operation of a document, with all that is needed to call it."""

    document: Mapping[str, Any]
    method: str
    path: str
    described: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Return the id of the operation."""
        return self.described["operationId"]

    @property
    def path_names(self) -> list[str]:
        """Return the names of the parameters in the path."""
        return [one["name"] for one in self._parameters("path")]

    def body(self) -> Any:
        """Return the example of the request's body; None if there is no body."""
        content = self.described.get("requestBody", {}).get("content", {})
        return self._example(content["application/json"]["schema"]) if content else None

    async def call(self, asking: httpx.AsyncClient, values: Mapping[str, str] | None = None) -> httpx.Response:
        """Send the request of this operation; ``values`` replace the examples of parameters."""
        given = values or {}
        path = self.path
        for one in self._parameters("path"):
            value = given.get(one["name"], _example_of(one))
            path = path.replace("{" + one["name"] + "}", quote(str(value), safe=""))
        wanted = [one for one in self._parameters("query") if one["required"] or _shown(one) or one["name"] in given]
        query = {one["name"]: given.get(one["name"]) or _example_of(one) for one in wanted}
        return await asking.request(self.method.upper(), path, params=query, json=self._json(given))

    def problems(self, answer: httpx.Response) -> list[str]:
        """Return what is wrong with an answer by the document: its status, its type, its fields."""
        described = self.described["responses"].get(str(answer.status_code))
        if described is None:
            return [f"status {answer.status_code} is not in the document"]
        kind = answer.headers["content-type"].partition(";")[0]
        if kind not in described.get("content", {}):
            return [f"type {kind} is not in the document"]
        if kind != "application/json":
            return []
        schema = {**described["content"][kind]["schema"], "components": self.document["components"]}
        return [error.message for error in Draft202012Validator(schema).iter_errors(answer.json())]

    def _parameters(self, place: str) -> list[Mapping[str, Any]]:
        return [one for one in self.described.get("parameters", []) if one["in"] == place]

    def _json(self, given: Mapping[str, str]) -> Any:
        body = self.body()
        return {name: given.get(name, value) for name, value in body.items()} if isinstance(body, dict) else None

    def _example(self, schema: _Schema) -> Any:
        if "$ref" in schema:
            return self._example(self.document["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
        if "anyOf" in schema:
            return self._example(next(one for one in schema["anyOf"] if one.get("type") != "null"))
        fields = schema["properties"].items()
        return {name: field["examples"][0] for name, field in fields if "examples" in field}


def operations(document: Mapping[str, Any]) -> Iterator[Operation]:
    """Yield every operation of a document, in its order."""
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            yield Operation(document, method, path, described)


def _example_of(parameter: Mapping[str, Any]) -> Any:
    """Return the example of a parameter, else its default."""
    shown = _shown(parameter)
    return shown[0] if shown else parameter["schema"]["default"]


def _shown(parameter: Mapping[str, Any]) -> list[Any]:
    """Return the examples of a parameter."""
    examples = parameter.get("examples") or parameter["schema"].get("examples") or []
    return [one["value"] for one in examples.values()] if isinstance(examples, dict) else list(examples)
