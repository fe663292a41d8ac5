"""Who is let in: by the Host header against DNS rebinding, by the token, by the rate, by the size of a body.

MCP clients are served here, too: a request's token decides which place is read for whom; no argument of a tool changes
that. A client's own token gives access to one place for one person. The operator's token gives access to the place and
person named in the request's headers, which are configured with the token; the model never sees them.
"""

from __future__ import annotations

import asyncio
import hmac
import math
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from hashlib import sha256
from ipaddress import ip_address
from urllib.parse import unquote

from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import cognitive_memory_core as core

from .. import injected, replies
from ..limits import TokenBuckets
from .routes import Backing

PER_MINUTE, BURST = 600, 120  # requests with the token
STRANGERS_PER_MINUTE, STRANGERS_BURST = 30, 30  # refused ones of one address; the token is admitted all the same
LARGEST = 256 * 1024  # bytes of a body
READ = 4 * LARGEST  # bytes read before a refusal: a connection closed upon unread bytes may lose the answer
SECONDS = 10.0  # within which a body must have arrived
MOST = 64  # unfinished bodies of one reader
_HOST = re.compile(r"(\[[0-9a-f:.]{2,45}\]|[0-9a-z.-]{1,253})(:[0-9]{1,5})?", re.ASCII)
_BEARER = re.compile(rb"bearer +(.+)", re.IGNORECASE | re.DOTALL)
_JSON = re.compile(rb"application/json *(;.*)?", re.IGNORECASE | re.DOTALL)
_GUARDING = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)


def refused(
    status: int,
    sentence: str,
    *,
    retry_after: float | None = None,
    headers: Mapping[str, str] | None = None,
    **fields: object,
) -> JSONResponse:
    """Return the answer to a refused request, with further fields; ``retry_after`` is in seconds."""
    more = {} if retry_after is None else {"Retry-After": str(max(math.ceil(retry_after), 1))}
    return JSONResponse({"success": False, "error": sentence, **fields}, status, {**(headers or {}), **more})


def body_reader() -> Callable[[Receive], Awaitable[bytes | int]]:
    """Return a function that reads bodies: it returns a whole one, or 413 if it is too large, 408 if it did not arrive.

    Beyond :data:`MOST` unfinished bodies the oldest is given up, so that slow clients block no other.
    """
    unfinished: dict[asyncio.Task[bytes | int], None] = {}

    async def read(receive: Receive) -> bytes | int:

        async def whole() -> bytes | int:
            body, size, more = b"", 0, True
            while more and size <= READ:
                message = await receive()
                if message["type"] != "http.request":
                    return 408
                part = message.get("body", b"")
                size += len(part)
                body = body + part if size <= LARGEST else b""
                more = message.get("more_body", False)
            return body if size <= LARGEST else 413

        task = asyncio.create_task(whole())
        await asyncio.sleep(0)  # what came with its head is read now, and no flood of others can give it up
        if not task.done():
            unfinished[task] = None
        if len(unfinished) > MOST:
            oldest = next(iter(unfinished))
            del unfinished[oldest]
            oldest.cancel()
        try:
            await asyncio.wait({task}, timeout=SECONDS)
            return task.result() if task.done() and not task.cancelled() else 408
        finally:
            task.cancel()
            unfinished.pop(task, None)

    return read


def host_gate(app: ASGIApp, names: Collection[str], mounted: Collection[str]) -> ASGIApp:
    """Return an application that forwards requests whose Host header is an IP address, ``localhost`` or a listed name.

    ``names`` may have a port. In a rebinding attack the header holds the attacker's domain name, never an address;
    therefore any address is admitted. WebSockets are refused. Every answer forbids caching. A path in ``mounted`` is
    the same with a slash at its end, which a mount needs.
    """
    known = frozenset({"localhost", *map(_host_name, names)} - {""})

    async def forward(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] == "http":
            name = _host_name((only_header(scope, b"host") or b"").decode("latin-1"))
            is_admitted = name in known or name.endswith(".localhost")
            with suppress(ValueError):
                ip_address(name.removeprefix("[").removesuffix("]"))
                is_admitted = True
            # a proxy that removes its prefix from the path leaves it in root_path only: then no mount would match
            if (prefix := scope.get("app_root_path", "")) and not scope["path"].startswith(scope["root_path"]):
                scope = {**scope, "path": prefix + scope["path"]}
            if scope["path"].removeprefix(scope.get("root_path", "")) in mounted:
                scope = {**scope, "path": scope["path"] + "/"}
            chosen = app if is_admitted else refused(400, replies.http.FOREIGN_HOST)
            await chosen(scope, *_guarded(scope, receive, send))

    return forward


def _host_name(host: str) -> str:
    """Return the name of a Host header in lower case; "" for anything but a name or address with an optional port."""
    match = _HOST.fullmatch(host.strip().lower())
    return match[1].rstrip(".") if match else ""


def _guarded(scope: Scope, receive: Receive, send: Send) -> tuple[Receive, Send]:
    """Return the channels of a request, with headers added to its answer.

    An answer before the body has arrived closes the connection, else the rest of the body would keep it open.
    """
    is_whole = not has_body(scope)

    async def take() -> Message:
        nonlocal is_whole
        message = await receive()
        is_whole |= not message.get("more_body", False)
        return message

    async def forward(message: Message) -> None:
        if message["type"] == "http.response.start":
            closing = () if is_whole else ((b"connection", b"close"),)
            message = {**message, "headers": [*message.get("headers", ()), *_GUARDING, *closing]}
        await send(message)

    return take, forward


class TokenGate:
    """Guards whole applications, so that no route or path in them can be reached without its token.

    Only the Authorization header may carry a token. The body of a request is read after the token was checked.
    """

    def __init__(self, apps: Mapping[str, ASGIApp], pace: TokenBuckets | None = None) -> None:
        """Guard applications, each by its token; a blank token is refused, because it would admit everybody."""
        if not all(map(str.strip, apps)):
            raise ValueError("blank token")
        digests = (sha256(token.strip().encode("utf-8", "surrogatepass")).digest() for token in apps)
        self._apps = dict(zip(digests, apps.values(), strict=True))
        self._pace = pace or TokenBuckets(PER_MINUTE, BURST)
        self._strangers = TokenBuckets(STRANGERS_PER_MINUTE, STRANGERS_BURST)
        self._read = body_reader()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward an admitted request with its whole body, or answer why it is refused."""
        if scope["type"] != "http":
            return
        token = self.token_of(scope)
        answer: ASGIApp | None = self._refusal(scope, token)
        replayed: list[Message] = []
        if answer is None:
            match await self._read(receive):
                case bytes(body):
                    answer = self._apps[token]
                    replayed = [{"type": "http.request", "body": body, "more_body": False}]
                case 408:
                    answer = refused(408, replies.http.TOO_SLOW)
                case status:
                    answer = refused(status, replies.http.TOO_LARGE.format(kilobytes=LARGEST // 1024))

        async def next_message() -> Message:
            return replayed.pop() if replayed else await receive()

        await answer(scope, next_message, send)

    def token_of(self, scope: Scope) -> bytes:
        """Return the digest of the known token that a request carries, else b""; compares in constant time."""
        bearer = _BEARER.fullmatch(only_header(scope, b"authorization") or b"")
        digest = sha256(bearer[1].strip() if bearer else b"").digest()
        known = [one for one in self._apps if hmac.compare_digest(digest, one)]
        return known[0] if known else b""

    def _refusal(self, scope: Scope, token: bytes) -> Response | None:
        """Return the answer to a request that is refused before its body is read."""
        address = (scope.get("client") or ("",))[0]
        if wait := self._pace.wait(token, take=True) if token else self._strangers.wait(address, take=True):
            whole = max(math.ceil(wait), 1)
            return refused(429, replies.http.TOO_FAST.format(seconds=whole), retry_after=whole)
        if not token:
            return refused(401, replies.http.UNAUTHORISED, headers={"WWW-Authenticate": "Bearer"})
        if has_body(scope) and not _JSON.fullmatch(dict(scope["headers"]).get(b"content-type", b"")):
            return refused(415, replies.http.JSON_ONLY)
        return None


def has_body(scope: Scope) -> bool:
    """Return whether a request announces a body."""
    lengths = {value for name, value in scope["headers"] if name == b"content-length"}
    return bool(lengths - {b"0"}) or any(name == b"transfer-encoding" for name, _ in scope["headers"])


def only_header(scope: Scope, wanted: bytes) -> bytes | None:
    """Return the value of a header; None if the request has none or several."""
    found = [value for name, value in scope["headers"] if name == wanted]
    return found[0] if len(found) == 1 else None


HEADERS = (b"x-memory-user", b"x-memory-group", b"x-memory-agent")


def agents_app(settings: core.HttpSettings, backing: Backing) -> ASGIApp:
    """Return the application that serves each request according to the token that it carries."""

    async def answer(user: str, group: str, agent: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that reads ``user``'s private chat, or ``group`` for that person."""
        memory, in_force = backing.memory(), backing.settings()
        if not memory.is_running:
            await refused(503, memory.reason)(scope, receive, send)
            return
        of = agent or in_force.agent
        try:
            where = core.Scene.group(group, user, agent=of) if group else core.Scene.private(user, agent=of)
        except core.BadArgument as strange:
            await refused(400, str(strange))(scope, receive, send)
            return
        exchange = core.mcp_server.memory_exchange(injected.caller(memory, where, in_force))
        await core.mcp_server.answer_http(exchange, scope, receive, send)

    async def by_headers(scope: Scope, receive: Receive, send: Send) -> None:
        user, group, agent = (unquote((only_header(scope, name) or b"").decode("latin-1")).strip() for name in HEADERS)
        if not user:
            await refused(400, replies.http.NO_PERSON)(scope, receive, send)
        else:
            await answer(user, group, agent, scope, receive, send)

    agents = {one.token.get_secret_value(): partial(answer, one.user, one.group, one.agent) for one in settings.agents}
    return TokenGate({settings.token.get_secret_value(): by_headers, **agents})
