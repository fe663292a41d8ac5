"""Requests over HTTP with listed headers only, each sent once, and answers that are read up to a limit."""

from __future__ import annotations

import ssl
from collections.abc import Mapping

import httpx

from .. import sentences
from ..errors import BadAnswer

UNREACHABLE = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, ValueError)  # also a body that is no JSON
_REFUSAL_LIMIT = 16_384  # bytes read of a refusal


def opened_transport(url: str, proxy: str) -> httpx.AsyncHTTPTransport:
    """Return what carries requests to an address; it takes nothing from the environment. Reads certificates."""
    is_secure = url.startswith("https:")
    return httpx.AsyncHTTPTransport(
        verify=True if is_secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),  # no trust store: created faster
        limits=httpx.Limits(max_connections=32, max_keepalive_connections=8),
        proxy=proxy or None,
        trust_env=False,
    )


async def posted(
    transport: httpx.AsyncHTTPTransport, url: str, key: str, body: Mapping[str, object], *, limit: int, connect: float
) -> tuple[httpx.Response, bytes]:
    """Post a body and return the answer, of any status, with its first ``limit`` bytes; of a refusal, the beginning.

    ``connect`` limits connecting, in seconds. A blank key sends no authorization. Raises BadAnswer for an answer that
    is packed or over the limit.
    """
    headers = {
        "Accept": "application/json",
        "Accept-Encoding": "identity",  # a small answer cannot unpack to a large one
        "User-Agent": "cognitive-memory",
        **({"Authorization": f"Bearer {key}"} if key else {}),
    }
    timeout = httpx.Timeout(None, connect=connect).as_dict()
    request = httpx.Request("POST", url, headers=headers, json=body, extensions={"timeout": timeout})
    response = await transport.handle_async_request(request)
    limit, content = limit if response.is_success else _REFUSAL_LIMIT, bytearray()
    try:
        encoding = response.headers.get("content-encoding") or "identity"
        if response.is_success and encoding.strip().lower() != "identity":
            raise BadAnswer(sentences.models.ANSWER_PACKED)
        async for piece in response.aiter_raw():
            content += piece
            if len(content) > limit:
                break
    finally:
        await response.aclose()
    if len(content) > limit and response.is_success:
        raise BadAnswer(sentences.models.ANSWER_TOO_LARGE.format(limit=limit))
    return response, bytes(content[:limit])
