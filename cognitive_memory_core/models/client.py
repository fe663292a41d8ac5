"""Creates the vendor's client and translates its errors; no other module does."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.request import getproxies, proxy_bypass

import httpx
import openai

from .. import sentences
from ..errors import BadAnswer, CognitiveMemoryError, TooSlow, UnavailableError
from .address import Address, EndpointSettings, is_forbidden
from .refusals import refusal
from .transport import BoundedTransport

EMBEDDING_LIMIT = 64 << 20
CHAT_LIMIT = 2 << 20
_CONNECT_SECONDS, _CONNECT_SHARE = 10.0, 0.75
_LONGEST_SECONDS = 600.0
_CONNECTIONS = httpx.Limits(max_connections=32, max_keepalive_connections=8)
_UNAVAILABLE = (OSError, UnicodeError, httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, openai.OpenAIError)


def _holds_no_words(record: logging.LogRecord) -> bool:
    return not str(record.msg).startswith("Request options")


# releases before 3.20 log every request's body at debug level; what people said must not be logged
logging.getLogger("openai._base_client").addFilter(_holds_no_words)


@dataclass(frozen=True)
class PostedRequest:
    """The path below a model's address, the body to post, and the time limit for the whole answer in seconds."""

    path: str
    body: Mapping[str, object]
    seconds: float


class ModelClient:
    """A client for one model's address; constructing it reads certificates from disk.

    A fault of the settings is raised by the first request. Requests are not retried; the caller decides. Nothing from
    the environment is sent; HTTPS_PROXY is used for https addresses only, where the proxy cannot read the content.
    """

    def __init__(self, settings: EndpointSettings, role: str, *, limit: int = CHAT_LIMIT) -> None:
        """Configure the client of a role ("embedding", "historian"); answers are limited to ``limit`` bytes."""
        self._address = Address.of(settings, role)
        self._fault = self._address.fault()
        proxy = _proxy(self._address)
        self._is_checked = proxy is not None  # a proxy resolves names itself
        self._vendor = None if self._fault else _vendor(self._address, limit, proxy)

    async def post(self, request: PostedRequest) -> bytes:
        """Return the unparsed body of a successful answer.

        Raises UnavailableError if the model is unavailable or misconfigured, PermanentError if this very request was
        refused, BadAnswer for an answer over the limit.
        """
        if self._vendor is None:
            raise UnavailableError(self._fault)
        seconds = min(request.seconds, _LONGEST_SECONDS)
        try:
            return await asyncio.wait_for(self._posted(self._vendor, request), seconds)
        except asyncio.TimeoutError:
            raise TooSlow(sentences.models.MODEL_TOO_SLOW.format(role=self._address.role, seconds=seconds)) from None

    async def close(self) -> None:
        """Close every connection; later calls raise UnavailableError."""
        if self._vendor is not None:
            vendor, self._vendor = self._vendor, None
            self._fault = sentences.models.model_unreachable(self._address.role)
            await vendor.close()

    async def _posted(self, vendor: openai.AsyncOpenAI, request: PostedRequest) -> bytes:
        try:
            await self._check_host()
            response = await vendor.post(
                request.path,
                body=dict(request.body),
                cast_to=cast("Any", httpx.Response),
                options={"timeout": cast("Any", httpx.Timeout(None, connect=_connecting(request)))},
            )
        except openai.APIStatusError as refused:
            answer = refused.response
            raise refusal(self._address.role, answer.status_code, answer.headers, answer.content) from None
        except _UNAVAILABLE as error:
            raise self._translated(error) from None
        return cast("httpx.Response", response).content

    async def _check_host(self) -> None:
        """Resolve the host once and refuse forbidden addresses, which a name or an unusual number format may hide."""
        if self._is_checked:
            return
        found = await asyncio.get_running_loop().getaddrinfo(self._address.host, None)
        if any(is_forbidden(str(entry[4][0])) for entry in found):
            raise UnavailableError(sentences.models.address_forbidden(self._address.role))
        self._is_checked = True

    def _translated(self, error: Exception) -> CognitiveMemoryError:
        cause = error.__cause__  # older releases of the vendor's client wrap every transport error
        if isinstance(cause, BadAnswer):
            return cause
        if isinstance(cause, ssl.SSLError) or "SSL" in f"{cause}":
            return UnavailableError(sentences.models.certificate_refused(self._address.role))
        return UnavailableError(sentences.models.model_unreachable(self._address.role))


def _vendor(address: Address, limit: int, proxy: str | None) -> openai.AsyncOpenAI:
    key = address.key.get_secret_value()
    is_secure = address.url.startswith("https:")
    wire = httpx.AsyncHTTPTransport(
        verify=True if is_secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),  # an empty trust store is created faster
        limits=_CONNECTIONS,
        proxy=proxy,
        trust_env=False,
    )
    http = httpx.AsyncClient(
        transport=BoundedTransport(wire, key, limit),
        follow_redirects=False,
        trust_env=False,
    )
    return openai.AsyncOpenAI(
        base_url=address.url,
        api_key="none",  # a blank key would be replaced from the environment; the transport sends ours
        max_retries=0,
        timeout=None,
        http_client=cast("Any", http),  # from 3.0 on the vendor's annotations name httpx2, but its code accepts both
    )


def _connecting(request: PostedRequest) -> float:
    """Return the time limit for connecting in seconds, shorter than the request's.

    Therefore an unreachable host is not mistaken for a model that answers slowly and may be billed.
    """
    return min(_CONNECT_SECONDS, request.seconds * _CONNECT_SHARE)


def _proxy(address: Address) -> str | None:
    proxy = getproxies().get("https", "")
    usable = address.url.startswith("https:") and proxy.startswith(("http://", "https://"))
    return proxy if usable and not proxy_bypass(address.host) else None
