"""docs/http.md: the part that lists the routes, made from the OpenAPI document."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

BEGIN, END = "<!-- routes:begin -->", "<!-- routes:end -->"
SHARED = ("401", "408", "413", "415", "422", "429", "503")
PLACES = {"path": "路径", "query": "查询"}


def with_routes(text: str, document: Mapping[str, Any]) -> str:
    """Return a text with the list of routes between its markers."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{routes(document)}\n{END}{after}"


def routes(document: Mapping[str, Any]) -> str:
    """Describe every route: title, parameters, an example of its body and of its answer, refusals of its own."""
    listed = [
        "\n".join(_route(document, method.upper(), path, described))
        for path, methods in document["paths"].items()
        for method, described in methods.items()
    ]
    return "\n\n".join(listed)


def _route(document: Mapping[str, Any], method: str, path: str, described: Mapping[str, Any]) -> Iterator[str]:
    yield f"### `{method} /memory{path}`"
    yield ""
    yield f"{described['summary']}。{described['description']}"
    parameters = [one for one in described.get("parameters", []) if one["name"] != "agent"]
    if parameters:
        yield from ("", "| 参数 | 在哪里 | 默认 | 说明 |", "| --- | --- | --- | --- |", *map(_parameter, parameters))
    if body := described.get("requestBody"):
        yield from ("", *_example(document, "请求正文，例如：", body["content"]["application/json"]["schema"]))
    answer = described["responses"]["200"]["content"]
    if "application/json" in answer:
        yield from ("", f"回答：{_fields(document, answer['application/json']['schema'])}。")
    own = [f"{status} {one['description']}" for status, one in described["responses"].items() if _is_own(status)]
    if own:
        yield from ("", f"{'；'.join(own)}。")


def _is_own(status: str) -> bool:
    return status not in ("200", *SHARED)


def _parameter(parameter: Mapping[str, Any]) -> str:
    schema = parameter["schema"]
    default = schema.get("default")
    shown = "必填" if parameter["required"] else "" if default in (None, "", []) else f"`{default}`"
    return f"| `{parameter['name']}` | {PLACES[parameter['in']]} | {shown} | {parameter.get('description', '')} |"


def _example(document: Mapping[str, Any], heading: str, schema: Mapping[str, Any]) -> list[str]:
    fields = _resolved(document, schema)["properties"].items()
    example = {name: field["examples"][0] for name, field in fields if "examples" in field}
    return [heading, "", "```json", json.dumps(example, ensure_ascii=False), "```"]


def _fields(document: Mapping[str, Any], schema: Mapping[str, Any], depth: int = 2) -> str:
    """Return the names of the fields of an answer, each with those of the objects in it."""
    listed: list[str] = []
    for name, field in _resolved(document, schema).get("properties", {}).items():
        inner = _fields(document, field.get("items", field), depth - 1) if depth else ""
        listed.append(f"`{name}`（{inner}）" if inner else f"`{name}`")
    return "、".join(listed)


def _resolved(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    if "anyOf" in schema:
        schema = schema["anyOf"][0]
    if "$ref" in schema:
        return document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema
