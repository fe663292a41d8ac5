"""HTTP to models: sends listed headers only, reads bounded answers, and tries once."""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections.abc import AsyncIterator, Mapping

import httpx

from .. import sentences
from ..errors import BadAnswer

UNREACHABLE = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, UnicodeError)
_REFUSAL_LIMIT = 16_384  # bytes read of a refusal
_PIECE = 1 << 20  # decoded bytes between two yields to the event loop
_GZIP = 31


class Wire:
    """Connections to one address. A transport alone keeps no cookies, follows no redirect and reads no environment."""

    def __init__(self, url: str, key: str, limit: int, proxy: str | None) -> None:
        """Read at most ``limit`` bytes of an answer, with no authorization for a blank key; loads certificates."""
        self._url, self._limit = url, limit
        self._headers = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": "cognitive-memory"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self._transport = httpx.AsyncHTTPTransport(
            verify=True if url.startswith("https:") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),  # created faster
            limits=httpx.Limits(max_connections=32, max_keepalive_connections=8),
            proxy=proxy,
            trust_env=False,
        )
        self.close = self._transport.aclose

    async def post(self, path: str, body: object, *, connect: float) -> tuple[int, Mapping[str, str], bytes]:
        """Return status, headers and content of any answer, of a refusal the beginning; ``connect`` limits connecting.

        Raises BadAnswer for an answer over the limit or in an unknown encoding, and one of :data:`UNREACHABLE`.
        """
        timeout = httpx.Timeout(None, connect=connect).as_dict()
        request = httpx.Request(
            "POST", self._url + path, headers=self._headers, json=body, extensions={"timeout": timeout}
        )
        response = await self._transport.handle_async_request(request)
        limit, content = self._limit if response.is_success else _REFUSAL_LIMIT, bytearray()
        try:
            async for piece in _decoded(response):
                content += piece
                if len(content) > limit:
                    break
        finally:
            await response.aclose()
        if len(content) > limit and response.is_success:
            raise BadAnswer(sentences.models.ANSWER_TOO_LARGE.format(limit=limit))
        return response.status_code, response.headers, bytes(content[:limit])


async def _decoded(response: httpx.Response) -> AsyncIterator[bytes]:
    """Unpack gzip piece by piece, so that a compression bomb is cut at the limit; other encodings are refused."""
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip"):
        raise BadAnswer(sentences.models.ANSWER_UNDECODABLE)
    decoder = zlib.decompressobj(_GZIP) if "gzip" in encoding else None
    async for chunk in response.aiter_raw():
        waiting = chunk
        if decoder is None:
            yield chunk
        while decoder and waiting:
            try:
                yield decoder.decompress(waiting, _PIECE)
            except zlib.error:
                raise BadAnswer(sentences.models.ANSWER_UNDECODABLE) from None
            waiting = decoder.unconsumed_tail
            await asyncio.sleep(0)
