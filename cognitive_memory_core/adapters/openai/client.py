"""The one place that makes the vendor's client and translates what it raises."""

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

from ... import sentences
from ...errors import BadAnswer, CognitiveMemoryError, TooSlow, UnavailableError
from .address import Address, Reachable, is_forbidden
from .refusals import refusal
from .transport import BoundedTransport

EMBEDDING_LIMIT = 64 << 20
CHAT_LIMIT = 2 << 20
_CONNECT_SECONDS, _CONNECT_SHARE = 10.0, 0.75
_LONGEST_SECONDS = 600.0
_CONNECTIONS = httpx.Limits(max_connections=32, max_keepalive_connections=8)
_AWAY = (OSError, UnicodeError, httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, openai.OpenAIError)


def _holds_no_words(record: logging.LogRecord) -> bool:
    return not str(record.msg).startswith("Request options")


# releases before 3.20 write every request's body into their debug log: what people said is nobody's log line
logging.getLogger("openai._base_client").addFilter(_holds_no_words)


@dataclass(frozen=True)
class PostedRequest:
    """What is posted where below a model's address, and how many seconds its whole answer may take."""

    path: str
    body: Mapping[str, object]
    seconds: float


class ModelClient:
    """One model's address. Making it reads certificates from disk; what is wrong with the settings is said when asked.

    It asks once: who retries knows more. Nothing of the environment is sent; HTTPS_PROXY is used for https addresses
    only, where it sees no words.
    """

    def __init__(self, settings: Reachable, role: str, *, limit: int = CHAT_LIMIT) -> None:
        """Ask at the address of a role ("embedding", "historian"), for answers of ``limit`` bytes at most."""
        self._address = Address.of(settings, role)
        self._fault = self._address.fault()
        proxy = _proxy(self._address)
        self._is_checked = proxy is not None  # names are the proxy's affair then
        self._vendor = None if self._fault else _vendor(self._address, limit, proxy)

    async def post(self, question: PostedRequest) -> bytes:
        """Return the body of a successful answer, unread.

        Raises UnavailableError for everything that is away or to be configured, PermanentError where this very
        question was refused, BadAnswer for an answer over the limit.
        """
        if self._vendor is None:
            raise UnavailableError(self._fault)
        seconds = min(question.seconds, _LONGEST_SECONDS)
        try:
            return await asyncio.wait_for(self._posted(self._vendor, question), seconds)
        except asyncio.TimeoutError:
            raise TooSlow(sentences.model_too_slow(self._address.role, seconds)) from None

    async def close(self) -> None:
        """Close every connection; later calls raise UnavailableError."""
        if self._vendor is not None:
            vendor, self._vendor = self._vendor, None
            self._fault = sentences.model_unreachable(self._address.role)
            await vendor.close()

    async def _posted(self, vendor: openai.AsyncOpenAI, question: PostedRequest) -> bytes:
        try:
            await self._check_host()
            response = await vendor.post(
                question.path,
                body=dict(question.body),
                cast_to=cast("Any", httpx.Response),
                options={"timeout": cast("Any", httpx.Timeout(None, connect=_connecting(question)))},
            )
        except openai.APIStatusError as refused:
            answer = refused.response
            raise refusal(self._address.role, answer.status_code, answer.headers, answer.content) from None
        except _AWAY as away:
            raise self._translated(away) from None
        return cast("httpx.Response", response).content

    async def _check_host(self) -> None:
        """Look once where the name leads: a name, or a number in another spelling, may hide a forbidden address."""
        if self._is_checked:
            return
        found = await asyncio.get_running_loop().getaddrinfo(self._address.host, None)
        if any(is_forbidden(str(entry[4][0])) for entry in found):
            raise UnavailableError(sentences.address_forbidden(self._address.role))
        self._is_checked = True

    def _translated(self, away: Exception) -> CognitiveMemoryError:
        cause = away.__cause__  # older releases of the vendor's client wrap whatever its transport raises
        if isinstance(cause, BadAnswer):
            return cause
        if isinstance(cause, ssl.SSLError) or "SSL" in f"{cause}":
            return UnavailableError(sentences.certificate_refused(self._address.role))
        return UnavailableError(sentences.model_unreachable(self._address.role))


def _vendor(address: Address, limit: int, proxy: str | None) -> openai.AsyncOpenAI:
    key = address.key.get_secret_value()
    is_secure = address.url.startswith("https:")
    wire = httpx.AsyncHTTPTransport(
        verify=True if is_secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),  # one that trusts nobody is made at once
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
        api_key="none",  # a blank one would be looked for in the environment; the transport sends ours
        max_retries=0,
        timeout=None,
        http_client=cast("Any", http),  # from 3.0 on the vendor's types name httpx2 and its code takes both
    )


def _connecting(question: PostedRequest) -> float:
    """Give up on connecting before the whole deadline: what was never sent is no answer that came too late."""
    return min(_CONNECT_SECONDS, question.seconds * _CONNECT_SHARE)


def _proxy(address: Address) -> str | None:
    proxy = getproxies().get("https", "")
    usable = address.url.startswith("https:") and proxy.startswith(("http://", "https://"))
    return proxy if usable and not proxy_bypass(address.host) else None
