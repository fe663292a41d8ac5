"""The inner gate: admits requests with the operator's token, and limits their rate and the size of their bodies."""

from __future__ import annotations

import hmac
import re
from hashlib import sha256

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .. import replies
from .body_reader import LARGEST, BodyReader
from .refusals import refused, too_fast
from .token_buckets import CallerBuckets, TokenBucket

PER_MINUTE, BURST = 600, 120  # requests with the token
STRANGERS_PER_MINUTE, STRANGERS_BURST = 30, 30  # refused ones of one address; the token is admitted all the same
_BEARER = re.compile(rb"bearer +(.+)", re.IGNORECASE | re.DOTALL)
_JSON = re.compile(rb"application/json *(;.*)?", re.IGNORECASE | re.DOTALL)


class TokenGate:
    """Guards a whole application, so that no route or path in it can be reached without the token.

    Only the Authorization header may carry the token. The body of a request is read after the token was checked.
    """

    def __init__(self, app: ASGIApp, token: str, bucket: TokenBucket | None = None) -> None:
        """Guard an application; a blank token is refused, because it would admit everybody."""
        if not token.strip():
            raise ValueError("blank token")
        self._app = app
        self._digest = sha256(token.strip().encode("utf-8", "surrogatepass")).digest()
        self._pace = bucket or TokenBucket(PER_MINUTE, BURST)
        self._bodies = BodyReader()
        self._strangers = CallerBuckets(STRANGERS_PER_MINUTE, STRANGERS_BURST)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward an admitted request with its whole body, or answer why it is refused."""
        if scope["type"] != "http":
            return
        answer: ASGIApp | None = self._refusal(scope)
        if answer is None:
            match await self._bodies.read(receive):
                case bytes(body):
                    answer, receive = self._app, _replayed(body, receive)
                case 408:
                    answer = refused(408, replies.http.TOO_SLOW)
                case status:
                    answer = refused(status, replies.http.TOO_LARGE.format(kilobytes=LARGEST // 1024))
        await answer(scope, receive, send)

    def is_operator(self, scope: Scope) -> bool:
        """Return whether a request carries the token, in constant time; digests also hide its length."""
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        bearer = _BEARER.fullmatch(given[0]) if len(given) == 1 else None
        token = bearer[1].strip() if bearer else b""
        return hmac.compare_digest(sha256(token).digest(), self._digest) and bearer is not None

    def _refusal(self, scope: Scope) -> Response | None:
        """Return the answer to a request that is refused before its body is read."""
        if not self.is_operator(scope):
            address = (scope.get("client") or ("",))[0]
            if wait := self._strangers.take(address):
                return too_fast(wait)
            return refused(401, replies.http.UNAUTHORISED, headers={"WWW-Authenticate": "Bearer"})
        if wait := self._pace.take():
            return too_fast(wait)
        headers = dict(scope["headers"])
        has_body = headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers
        if has_body and not _JSON.fullmatch(headers.get(b"content-type", b"")):
            return refused(415, replies.http.JSON_ONLY)
        return None


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a channel that yields a body already read, then whatever follows."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message
