"""The HTTP transport below the vendor's client: sends listed headers only and bounds answers while reading."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator

import httpx

from .. import sentences
from ..errors import BadAnswer

_SENT = ("host", "content-type", "content-length", "transfer-encoding")
_KEPT = ("content-type", "retry-after", "retry-after-ms")
_REFUSAL_LIMIT = 16_384  # bytes read of a refusal's message
_OK, _REDIRECT = 200, 300
_PIECE = 1 << 20  # decoded bytes between two yields to the event loop
_GZIP = 31
_ENCODINGS = ("", "identity", "gzip", "x-gzip")


class BoundedTransport(httpx.AsyncBaseTransport):
    """Sends the given key and only headers of its own; reads whole answers of at most ``limit`` bytes (decompressed).

    A longer answer is an error. The vendor's client would add headers from the environment (organisation, project,
    custom ones), describe the machine, and read an error response of any length.
    """

    def __init__(self, inner: httpx.AsyncBaseTransport, key: str, limit: int) -> None:
        """Send through another transport; a blank key sends no authorization."""
        self._inner = inner
        self._authorization = {"Authorization": f"Bearer {key}"} if key else {}
        self._limit = limit

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request and return its answer, already read."""
        response = await self._inner.handle_async_request(self._bare(request))
        try:
            body = await self._body(response)
        finally:
            await response.aclose()
        headers = {name: response.headers[name] for name in _KEPT if name in response.headers}
        return httpx.Response(response.status_code, headers=headers, content=body, request=request)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._inner.aclose()

    def _bare(self, request: httpx.Request) -> httpx.Request:
        headers = {name: request.headers[name] for name in _SENT if name in request.headers}
        ours = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": "cognitive-memory"}
        return httpx.Request(
            request.method,
            request.url,
            headers={**headers, **ours, **self._authorization},
            stream=request.stream,
            extensions=request.extensions,
        )

    async def _body(self, response: httpx.Response) -> bytes:
        is_refusal = not _OK <= response.status_code < _REDIRECT
        limit = _REFUSAL_LIMIT if is_refusal else self._limit
        body = bytearray()
        async for piece in _decoded(response):
            body += piece
            if len(body) > limit:
                if is_refusal:
                    break
                raise BadAnswer(sentences.models.ANSWER_TOO_LARGE.format(limit=limit))
        return bytes(body[:limit])


async def _decoded(response: httpx.Response) -> AsyncIterator[bytes]:
    """Decompress gzip piece by piece, so that a compression bomb is cut at the limit; other encodings are refused."""
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in _ENCODINGS:
        raise BadAnswer(sentences.models.ANSWER_UNDECODABLE)
    decoder = zlib.decompressobj(_GZIP) if "gzip" in encoding else None
    async for chunk in response.aiter_raw():
        if decoder is None:
            yield chunk
            continue
        waiting = chunk
        while waiting:
            try:
                yield decoder.decompress(waiting, _PIECE)
            except zlib.error:
                raise BadAnswer(sentences.models.ANSWER_UNDECODABLE) from None
            waiting = decoder.unconsumed_tail
            await asyncio.sleep(0)
