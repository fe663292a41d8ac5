"""The outer gate: admits requests by their Host header, against DNS rebinding."""

from __future__ import annotations

import re
from collections.abc import Collection
from ipaddress import ip_address

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .. import replies
from .refusals import refused

_HOST = re.compile(r"(\[[0-9a-f:.]{2,45}\]|[0-9a-z.-]{1,253})(:[0-9]{1,5})?", re.ASCII)
_GUARDING = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)


class HostGate:
    """Admits requests whose Host header is an IP address, ``localhost`` or a listed name.

    In a rebinding attack the header holds the attacker's domain name, never an address; therefore any address is
    admitted. WebSockets are refused. Every answer forbids caching.
    """

    def __init__(self, app: ASGIApp, names: Collection[str]) -> None:
        """Guard an application; ``names`` are further names, with or without a port."""
        self._app = app
        self._names = frozenset({"localhost", *(_name_of(name) for name in names)} - {""})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward an admitted request, or answer 400."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] == "http":
            app = self._app if self.admits(_values(scope, b"host")) else refused(400, replies.http.FOREIGN_HOST)
            await app(_rooted(scope), *_guarded(scope, receive, send))

    def admits(self, hosts: list[bytes]) -> bool:
        """Return whether a request with these Host headers is admitted; it must have exactly one."""
        name = _name_of(hosts[0].decode("latin-1")) if len(hosts) == 1 else ""
        return name in self._names or name.endswith(".localhost") or _is_address(name)


def _values(scope: Scope, wanted: bytes) -> list[bytes]:
    return [value for name, value in scope["headers"] if name == wanted]


def _name_of(host: str) -> str:
    """Return the name of a Host header in lower case; "" for anything but a name or address with an optional port."""
    match = _HOST.fullmatch(host.strip().lower())
    return match[1].rstrip(".") if match else ""


def _is_address(name: str) -> bool:
    try:
        ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def _rooted(scope: Scope) -> Scope:
    """Return the scope with the proxy's prefix added to ``path`` if ``path`` lacks it.

    A proxy that removes its prefix leaves it in ``root_path`` only; then Starlette would match no mounted application.
    """
    prefix = scope.get("app_root_path", "")
    if not prefix or scope["path"].startswith(scope["root_path"]):
        return scope
    return {**scope, "path": prefix + scope["path"]}


def _guarded(scope: Scope, receive: Receive, send: Send) -> tuple[Receive, Send]:
    """Return the channels of a request, with headers added to its answer.

    An answer before the body has arrived closes the connection, else the rest of the body would keep it open.
    """
    is_whole = not (set(_values(scope, b"content-length")) - {b"0"} or _values(scope, b"transfer-encoding"))

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
