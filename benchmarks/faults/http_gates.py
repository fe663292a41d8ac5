"""A15: around the gates of the HTTP interface."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import Any

from tests.support.http_world import BELIEF
from tests.support.openapi_client import Operation
from tests.support.raw_http import Header, RawAnswer, RawRequest, bearer

from ..fault_row import Extent, Row
from .http_bots import JSON_TYPE, TOKEN, TOKENS, Seen, a_bot, document, is_let_in, paced, path_of, rows

TARGETS = tuple(
    path.encode()
    for path in (
        "/memory",
        "/memory/",
        "//memory/status",
        "/memory//status",
        "/memory///events",
        "/memory/./status",
        "/memory/../memory/status",
        "/memory/x/../status",
        "/memory/%2e/status",
        "/memory/%2e%2e/memory/status",
        "/memory%2fstatus",
        "/memory/%2fstatus",
        "/memory/status/",
        "/memory/status%00",
        "/memory/status%20",
        "/memory/status;a=b",
        "/memory/status?x=/memory/console/login",
        "/memory/status#/memory/console/login",
        "/MEMORY/status",
        "/Memory/Status",
        "/memory/console/../status",
        "/memory/console/..%2fstatus",
        "/memory/console/%2e%2e/status",
        "/memory/console//../events",
        "/memory/console/static/../../events",
        "/memory/console/static/..%2f..%2fevents",
        "/memory/mcp/../status",
        "/memory/openapi.json",
        "/memory/docs",
        "/memory/redoc",
        "/openapi.json",
        "http://evil.example.com/memory/status",
        "http://127.0.0.1/memory/events",
        "/memory/\\status",
        "/memory/statu%73",
        "/%6demory/status",
        "*",
    )
)
HOSTS = tuple(
    host.encode()
    for host in (
        "evil.example.com",
        "evil.example.com:80",
        "memory.example.com.evil.com",
        "xmemory.example.com",
        "127.0.0.1.evil.com",
        "127.0.0.1.nip.io",
        "localhost.evil.com",
        "localhosts",
        "127.0.0.1/memory/console",
        "127.0.0.1?",
        "127.0.0.1?x=",
        "127.0.0.1#",
        "127.0.0.1#@evil.com",
        "127.0.0.1@evil.com",
        "evil.com@127.0.0.1",
        "user:pw@127.0.0.1",
        "127.0.0.1:80:80",
        "127.0.0.1:x",
        "[::1",
        "[::1].evil.com",
        "::1",
        "0x7f.1",
        "2130706433",
        "memory.example.com, evil.com",
        "memory.example.com/..",
        "*",
        "例子.com",
        "",
        " ",
    )
)
TYPES = (b"text/plain", b"application/x-www-form-urlencoded", b"multipart/form-data; boundary=x", b"", b"text/json")
TYPES += (b"application/json-patch", b"text/plain; application/json", b"application/jsonp")
OVERRIDES: Sequence[Header] = (
    ("X-HTTP-Method-Override", b"DELETE"),
    ("X-HTTP-Method", b"DELETE"),
    ("X-Method-Override", b"DELETE"),
)


async def a15(extent: Extent) -> Row:
    """Go around the gates by path, Host, origin, content type and method; none may be carried out."""
    seen = Seen()
    async with a_bot(TOKENS["token"][0]) as bot:
        described, before = await document(bot.port, TOKEN), rows(bot)
        for what, request, is_bad in islice(_tricks(described), 0, None, extent.of(1, 8)):
            answer = await paced(request, bot.port, TOKEN)
            seen.note(f"{what} {request.target!r} {request.host!r}", answer, is_bad=is_bad(answer))
        changed = rows(bot) != before
    note = (
        f"lost: bypasses; twice: 500s and changes; {len(TARGETS)} paths, {len(HOSTS)} Hosts with and without token, "
        f"origins, {len(TYPES)} content types of simple requests, {len(OVERRIDES)} method overrides, WebSockets, "
        f"smuggled lengths; answers {seen.told}; first: {seen.first}"
    )
    return Row(seen.sent, seen.passed, seen.crashed + changed, note=note)


def _tricks(described: Sequence[Operation]) -> Iterator[tuple[str, RawRequest, Any]]:
    """Yield attempts: what they are, the request, and what must not be answered."""
    for target, method in product(TARGETS, ("GET", "HEAD", "POST", "DELETE")):
        yield "path", RawRequest(method, target), is_let_in
    reads = [path_of(one) for one in described if one.method == "get"]
    for host, target in product(HOSTS, reads):
        yield "Host", RawRequest(target=target, host=host), is_let_in
    for host, target in product(HOSTS, reads[:4]):
        yield "Host with token", RawRequest(target=target, host=host, headers=[bearer(TOKEN)]), is_let_in
    for headers in ([("Host", b"evil.com"), bearer(TOKEN)], [("Host", b"127.0.0.1"), bearer(TOKEN)]):
        yield "two Hosts", RawRequest(headers=headers), is_let_in
    yield "no Host", RawRequest(host=None, headers=[bearer(TOKEN)]), is_let_in
    yield from _across_origins(described)
    yield from _simple_requests(described)
    yield from _other_methods()


def _across_origins(described: Sequence[Operation]) -> Iterator[tuple[str, RawRequest, Any]]:
    for one, origin in product(described, (b"https://evil.example.com", b"null", b"http://127.0.0.1")):
        asked: list[Header] = [("Origin", origin), ("Access-Control-Request-Method", one.method.upper().encode())]
        asked.append(("Access-Control-Request-Headers", b"authorization,content-type"))
        yield "preflight", RawRequest("OPTIONS", path_of(one), asked), _allows_origins
        if one.method == "get":
            yield (
                "origin",
                RawRequest(target=path_of(one), headers=[("Origin", origin), bearer(TOKEN)]),
                _allows_origins,
            )


def _allows_origins(answer: RawAnswer) -> bool:
    return "access-control-" in answer.text.lower()


def _simple_requests(described: Sequence[Operation]) -> Iterator[tuple[str, RawRequest, Any]]:
    """Yield what a page may send to another origin without asking: with the token they are still no JSON."""
    for one, kind, token in product(described, TYPES, ([], [bearer(TOKEN)])):
        if one.method in ("post", "put"):
            body = json.dumps(one.body() or {}).encode()
            headers = [*token, *([("Content-Type", kind)] if kind else [])]
            yield "simple request", RawRequest(one.method.upper(), path_of(one), headers, body), is_let_in


def _other_methods() -> Iterator[tuple[str, RawRequest, Any]]:
    belief = b"/memory/" + BELIEF.encode()
    for override, method, target in product(OVERRIDES, ("GET", "POST", "PUT"), (belief, belief + b"?_method=DELETE")):
        yield "override", RawRequest(method, target, [bearer(TOKEN), override]), is_let_in
    for method in ("TRACE", "CONNECT", "PATCH", "PROPFIND", "get"):
        yield "method", RawRequest(method, belief, [bearer(TOKEN)]), is_let_in
    upgrade: list[Header] = [("Upgrade", b"websocket"), ("Connection", b"Upgrade"), ("Sec-WebSocket-Version", b"13")]
    upgrade.append(("Sec-WebSocket-Key", base64.b64encode(b"0" * 16)))
    for target in (b"/memory/status", b"/memory/console", b"/memory/mcp"):
        yield "WebSocket", RawRequest(target=target, headers=[bearer(TOKEN), *upgrade]), _is_switched
    smuggled = b"0\r\n\r\nDELETE " + belief + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    for lengths in ([("Content-Length", b"4"), ("Transfer-Encoding", b"chunked")], [("Content-Length", b"-1")]):
        yield "smuggled", RawRequest("POST", b"/memory/context", [JSON_TYPE, *lengths], smuggled), is_let_in


def _is_switched(answer: RawAnswer) -> bool:
    return answer.status == 101
