"""OpenAI's client, made to send listed headers only, to read bounded answers, and to try once."""

from __future__ import annotations

import logging
import ssl
from typing import Any, cast

import httpx
import openai

from .. import sentences
from ..errors import BadAnswer

UNREACHABLE = (openai.OpenAIError, httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, UnicodeError)
_SENT = ("host", "content-type", "content-length", "transfer-encoding")
_KEPT = ("content-type", "retry-after", "retry-after-ms")
_REFUSAL_LIMIT = 16_384  # bytes read of a refusal

# releases before 3.20 log every request's body at debug level; what people said must not be logged
logging.getLogger("openai._base_client").addFilter(lambda record: not str(record.msg).startswith("Request options"))


def vendor_client(url: str, key: str, limit: int, proxy: str | None) -> openai.AsyncOpenAI:
    """Return a client that does not retry and sends nothing from the environment; reads certificates from disk."""
    is_secure = url.startswith("https:")
    transport = httpx.AsyncHTTPTransport(
        verify=True if is_secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),  # no trust store: created faster
        limits=httpx.Limits(max_connections=32, max_keepalive_connections=8),
        proxy=proxy,
        trust_env=False,
    )
    http = httpx.AsyncClient(transport=_Bounded(transport, key, limit), follow_redirects=False, trust_env=False)
    return openai.AsyncOpenAI(
        base_url=url,
        api_key="none",  # a blank key would be replaced from the environment; the transport sends ours
        max_retries=0,
        timeout=None,
        http_client=cast("Any", http),  # from 3.0 on the annotations name httpx2, but the code accepts both
    )


async def posted(client: openai.AsyncOpenAI, path: str, body: object, *, connect: float) -> httpx.Response:
    """Return any answer, already read; ``connect`` limits connecting, in seconds.

    ``post`` is called rather than a resource such as ``chat.completions``, whose classes a bridge patches.
    """
    try:
        answer: Any = await client.post(
            path,
            body=cast("Any", body),
            cast_to=cast("Any", httpx.Response),
            options={"timeout": cast("Any", httpx.Timeout(None, connect=connect))},
        )
    except openai.APIStatusError as refused:
        answer = refused.response
    return cast("httpx.Response", answer)


class _Bounded(httpx.AsyncBaseTransport):
    """Sends the given key and no header of the environment; reads whole answers of at most ``limit`` bytes."""

    def __init__(self, inner: httpx.AsyncBaseTransport, key: str, limit: int) -> None:
        """Send through another transport; a blank key sends no authorization."""
        self._inner = inner
        self._own = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",  # a small answer cannot unpack to a large one
            "User-Agent": "cognitive-memory",
            **({"Authorization": f"Bearer {key}"} if key else {}),
        }
        self._limit = limit

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request and return its answer, read up to the limit; of a refusal, the beginning."""
        headers = {name: request.headers[name] for name in _SENT if name in request.headers}
        response = await self._inner.handle_async_request(
            httpx.Request(
                request.method,
                request.url,
                headers={**headers, **self._own},
                stream=request.stream,
                extensions=request.extensions,
            )
        )
        limit, body = self._limit if response.is_success else _REFUSAL_LIMIT, bytearray()
        try:
            encoding = response.headers.get("content-encoding") or "identity"
            if response.is_success and encoding.strip().lower() != "identity":
                raise BadAnswer(sentences.models.ANSWER_PACKED)
            async for piece in response.aiter_raw():
                body += piece
                if len(body) > limit:
                    break
        finally:
            await response.aclose()
        if len(body) > limit and response.is_success:
            raise BadAnswer(sentences.models.ANSWER_TOO_LARGE.format(limit=limit))
        kept = {name: response.headers[name] for name in _KEPT if name in response.headers}
        return httpx.Response(response.status_code, headers=kept, content=bytes(body[:limit]), request=request)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._inner.aclose()
