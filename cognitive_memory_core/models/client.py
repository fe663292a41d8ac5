"""Posts requests to OpenAI-compatible addresses, and translates whatever comes back."""

from __future__ import annotations

import asyncio
import math
import re
import ssl
from array import array
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack, suppress
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from functools import partial
from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import orjson

from .. import sentences
from ..errors import BadAnswer, CognitiveMemoryError, ModelRefused, PermanentError, TooSlow, UnavailableError
from ..ports import Count, Vector
from ..sentences.models import told
from ..settings.schema import ServedModel

if TYPE_CHECKING:
    from openai import AsyncOpenAI

EMBEDDING_LIMIT = 64 << 20
CHAT_LIMIT = 2 << 20
_LARGE = 65_536  # bytes from which an answer is parsed in a thread
_MOST_TOKENS = 1_000_000_000
_MOST_NUMBERS = 65_536  # of a vector
_NOTHING = 1e-30  # norm below which float32 digits determine no direction
_CONNECT_SECONDS, _CONNECT_SHARE = 10.0, 0.75
_LONGEST_SECONDS, _LONGEST_PAUSE = 600.0, 60.0

_ENDPOINT = re.compile("/(?:embeddings|chat/completions|rerank)$")  # operators often include these
_SENDABLE = re.compile("[!-~]*")
_METADATA_HOSTS = frozenset({"metadata", "metadata.google.internal", "metadata.goog", "instance-data"})
_METADATA_ADDRESSES = frozenset({"fd00:ec2::254", "100.100.100.200", "168.63.129.16"})

_REDIRECT, _BAD_REQUEST, _NOT_FOUND, _SERVER = 300, 400, 404, 500
_LATER = (408, 425, 429)
_KEY = (401, 402, 403, 407)
_INPUT = (413, 422, _SERVER)
_WORDS = 200  # characters
_NO_SUCH_MODEL = (
    "model_not_found|model not exist|model.{0,100}(?:not found|does ?n[o']t exist)|no such model"
    r"|\u6a21\u578b.{0,100}\u4e0d\u5b58\u5728"  # 模型…不存在
)
_BAD_KEY = re.compile("invalid.{0,10}api[ _-]?key|invalid_authentication")
_BAD_PARAMETER = re.compile(
    "(?:unsupported|unrecogni[sz]ed|support|valid range).{0,60}(?:max_tokens|temperature)"
    "|(?:max_tokens|temperature).{0,20}not (?:be )?support"
)
_MISCONFIGURED = re.compile(f"{_NO_SUCH_MODEL}|{_BAD_KEY.pattern}|{_BAD_PARAMETER.pattern}")
_TOO_LARGE = re.compile("input.{0,40}too (?:large|long)|exceeds? .{0,30}context|maximum context length")
_NO_TOOLS = re.compile("support.{0,20}(?:tool|function)|(?:tool|function).{0,40}not support")


class ModelClient:
    """A client for one model's address. Make it in a thread: it imports openai and reads certificates.

    A fault of the settings is raised by the first request. Requests are not retried; the caller decides. Nothing from
    the environment is sent; HTTPS_PROXY is used for https addresses only, where the proxy cannot read the content.
    """

    def __init__(
        self,
        settings: ServedModel,
        role: str,
        count: Count,
        *,
        limit: int = CHAT_LIMIT,
        lender: str = "",
        proxy: str = "",
    ) -> None:
        """Configure the client of a role ("embedding", "historian"); answers are limited to ``limit`` bytes.

        ``lender`` is the program whose settings these are, for messages, and ``proxy`` the one that it goes through.
        """
        from urllib.request import getproxies, proxy_bypass  # noqa: PLC0415  # only for a model elsewhere

        from .wire import vendor_client  # noqa: PLC0415  # half a second

        self._role, self._count, self._lender = role, count, lender
        self._url = address_of(settings.api_url)
        key = settings.api_key.get_secret_value().strip()
        self._vendor: AsyncOpenAI | None = None
        self._is_checked = False
        self._fault = address_fault(self._url, key, role, lender)
        if proxy and (not _is_address(proxy) or is_forbidden(urlsplit(proxy).hostname or "")):
            self._fault = self._fault or self._told(sentences.models.PROXY_UNUSABLE)
        if self._fault:
            return
        host = urlsplit(self._url).hostname or ""
        if not proxy and self._url.startswith("https:") and not proxy_bypass(host):
            proxy = getproxies().get("https", "")
            proxy = proxy if proxy.startswith(("http://", "https://")) else ""
        self._is_checked = bool(proxy)  # a proxy resolves names itself
        self._vendor = vendor_client(self._url, key, limit, proxy or None)

    async def answer(self, purpose: str, path: str, body: Mapping[str, object], seconds: float) -> Mapping[str, Any]:
        """Post a body below the address and return the answer's JSON object, in at most ``seconds``.

        Every call that may be billed is counted for ``purpose``, one without a readable answer with zero tokens. Raises
        UnavailableError if the model is unavailable or misconfigured, PermanentError if this very request was refused,
        BadAnswer for an answer that is no object or over the limit.
        """
        tokens, written, is_paid = 0, 0, True
        seconds = min(seconds, _LONGEST_SECONDS)
        try:
            raw = await asyncio.wait_for(self._posted(path, body, seconds), seconds)
            answer = await asyncio.to_thread(_object, raw) if len(raw) > _LARGE else _object(raw)
            usage = member(answer, "usage")
            tokens = _count(member(usage, "total_tokens") or member(usage, "prompt_tokens"))
            written = _count(member(usage, "completion_tokens"))
        except asyncio.TimeoutError:
            raise TooSlow(sentences.models.MODEL_TOO_SLOW.format(role=self._role, seconds=seconds)) from None
        except (UnavailableError, PermanentError):
            is_paid = False
            raise
        else:
            return answer
        finally:
            if is_paid:
                self._count(purpose, tokens, written)

    async def close(self) -> None:
        """Close every connection; later calls raise UnavailableError."""
        if self._vendor is not None:
            vendor, self._vendor = self._vendor, None
            self._fault = self._told(sentences.models.MODEL_UNREACHABLE)
            await vendor.close()

    def _told(self, template: str) -> str:
        return told(template, self._role, lender=self._lender)

    async def _posted(self, path: str, body: Mapping[str, object], seconds: float) -> bytes:
        from .wire import UNREACHABLE, posted  # noqa: PLC0415  # already imported

        if self._vendor is None:
            raise UnavailableError(self._fault)
        try:
            if not self._is_checked:  # a name or an unusual number format may hide a forbidden address
                found = await asyncio.get_running_loop().getaddrinfo(urlsplit(self._url).hostname, None)
                if any(is_forbidden(str(entry[4][0])) for entry in found):
                    raise UnavailableError(self._told(sentences.models.ADDRESS_FORBIDDEN))
                self._is_checked = True
            # shorter than the request's: an unreachable host is not a model that answers slowly and may be billed
            response = await posted(self._vendor, path, body, connect=min(_CONNECT_SECONDS, seconds * _CONNECT_SHARE))
        except UNREACHABLE as error:
            cause = error.__cause__ or error  # some releases wrap what the transport raised
            if isinstance(cause, BadAnswer):
                raise cause from None
            is_certificate = isinstance(cause, ssl.SSLError) or "SSL" in str(cause)
            words = sentences.models.CERTIFICATE_REFUSED if is_certificate else sentences.models.MODEL_UNREACHABLE
            raise UnavailableError(self._told(words)) from None
        if not response.is_success:
            raise refusal(self._role, response.status_code, response.headers, response.content, self._lender)
        return response.content


async def opened_client(
    settings: ServedModel,
    role: str,
    count: Count,
    stack: AsyncExitStack,
    *,
    limit: int = CHAT_LIMIT,
    lender: str = "",
    proxy: str = "",
) -> ModelClient:
    """Return a client, made in a thread, that is closed with the ``stack``."""
    made = partial(ModelClient, settings, role, count, limit=limit, lender=lender, proxy=proxy)
    client = await asyncio.to_thread(made)
    stack.push_async_callback(client.close)
    return client


def address_of(written: str) -> str:
    """Return an address as an operator wrote it, without a slash or an endpoint at its end."""
    return _ENDPOINT.sub("", written.strip().rstrip("/"))


def address_fault(url: str, key: str, role: str, lender: str = "") -> str:
    """Return what the operator must correct before a request can be sent; "" if nothing."""
    parts = urlsplit(url) if _is_address(url) else None
    if parts is None or parts.query or parts.fragment or parts.username or parts.password:
        return told(sentences.models.ADDRESS_UNUSABLE, role, lender=lender)
    if is_forbidden(parts.hostname or ""):
        return told(sentences.models.ADDRESS_FORBIDDEN, role, lender=lender)
    return "" if _SENDABLE.fullmatch(key) else told(sentences.models.KEY_UNUSABLE, role, lender=lender)


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        is_whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return is_whole and _SENDABLE.fullmatch(url) is not None


def is_forbidden(host: str) -> bool:
    """Return whether a host is link-local or a cloud's metadata service, which hands out credentials."""
    host = host.rstrip(".").lower()
    if host in _METADATA_HOSTS:
        return True
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return address.is_link_local or str(address) in _METADATA_ADDRESSES


def refusal(role: str, status: int, headers: Mapping[str, str], body: bytes, lender: str = "") -> CognitiveMemoryError:
    """Translate an unsuccessful answer into an error; the answer's text is not in it, as it may quote a message."""
    words = _error_message(body)
    is_too_large = status == _SERVER and _TOO_LARGE.search(words)
    if status in _LATER or (status >= _SERVER and not is_too_large):
        pause = retry_after(headers, datetime.now(timezone.utc))
        return UnavailableError(told(sentences.models.MODEL_AWAY, role, status, lender), retry_after=pause)
    is_unwanted = status == _BAD_REQUEST and not _MISCONFIGURED.search(words)
    if is_unwanted or status in _INPUT or (status == _NOT_FOUND and _NO_TOOLS.search(words)):
        return PermanentError(told(sentences.models.INPUT_REFUSED, role, status, lender))
    if _BAD_PARAMETER.search(words):
        return ModelRefused(told(sentences.models.PARAMETER_REFUSED, role, status, lender))
    if status in _KEY or _BAD_KEY.search(words):
        return ModelRefused(told(sentences.models.KEY_REFUSED, role, status, lender))
    if _REDIRECT <= status < _BAD_REQUEST:
        return ModelRefused(told(sentences.models.ADDRESS_MOVED, role, status, lender))
    return ModelRefused(told(sentences.models.NO_MODEL_THERE, role, status, lender))


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the pause that ``retry-after-ms`` or ``Retry-After`` (seconds or a date) requests, in seconds, at most 60.

    Returns None for zero, a past date or an unreadable value, so that the caller's own pause applies.
    """
    pause, written = 0.0, headers.get("retry-after", "").strip()[:64]
    with suppress(ValueError, TypeError, OverflowError, IndexError):
        date = parsedate_to_datetime(written)
        pause = ((date if date.tzinfo else date.replace(tzinfo=timezone.utc)) - now).total_seconds()
    with suppress(ValueError):
        pause = float(written)
    with suppress(ValueError):
        pause = float(headers.get("retry-after-ms", "")[:64]) / 1000
    return min(pause, _LONGEST_PAUSE) if pause > 0 else None


def sendable(text: str, limit: int) -> str:
    """Cut a text and replace what cannot be sent: lone surrogates, and an empty text."""
    clean = text[:limit].encode("utf-8", "replace").decode("utf-8")
    return clean if clean.strip() else "…"


def member(value: object, key: str) -> object:
    """Return a member of a JSON object; None if there is none or the value is not an object."""
    return cast("Mapping[str, object]", value).get(key) if isinstance(value, dict) else None


def rows(value: object) -> list[object]:
    """Return a list's items; raises BadAnswer for anything else."""
    if not isinstance(value, list):
        raise BadAnswer(sentences.models.ANSWER_MALFORMED)
    return cast("list[object]", value)


def place(row: object, count: int, taken: Mapping[int, object]) -> int:
    """Return the ``index`` of a row of ``count``; raises BadAnswer if it is missing, out of range or in ``taken``."""
    index = member(row, "index")
    if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < count or index in taken:
        raise BadAnswer(sentences.models.ANSWER_MALFORMED)
    return index


def unit_of(numbers: Iterable[float], length: int = 0) -> Vector:
    """Return what a model gave as a vector of length one; raises BadAnswer for anything else, such as NaN or zeros.

    ``numbers`` may be the bytes of float32; there must be ``length`` of them, 0 for any number.
    """
    try:
        vector = array("f", numbers)
    except (TypeError, ValueError, OverflowError):
        raise BadAnswer(sentences.models.VECTOR_UNUSABLE) from None
    if length and len(vector) != length:
        raise BadAnswer(sentences.models.WRONG_DIMENSIONS.format(given=len(vector), wanted=length))
    norm = math.hypot(*vector)  # by numpy, a caller's first answer would load it on the event loop
    if len(vector) > _MOST_NUMBERS or not _NOTHING < norm < math.inf:
        raise BadAnswer(sentences.models.VECTOR_UNUSABLE)
    return array("f", (number / norm for number in vector))


def _object(raw: bytes) -> Mapping[str, Any]:
    try:
        answer = orjson.loads(raw)
    except orjson.JSONDecodeError:
        is_page = raw[:200].lstrip().startswith(b"<")
        raise BadAnswer(sentences.models.ANSWER_IS_A_PAGE if is_page else sentences.models.ANSWER_NOT_JSON) from None
    if not isinstance(answer, dict):
        raise BadAnswer(sentences.models.ANSWER_MALFORMED)
    return cast("Mapping[str, Any]", answer)


def _count(tokens: object) -> int:
    return min(max(tokens, 0), _MOST_TOKENS) if isinstance(tokens, int) else 0


def _error_message(body: bytes) -> str:
    """Return the error message alone, lower-cased; quoted input elsewhere must not decide what the refusal means."""
    try:
        answer = cast("object", orjson.loads(body))
    except orjson.JSONDecodeError:
        return body[:_WORDS].decode("utf-8", "replace").lower()
    error = member(answer, "error")
    candidates = (error, member(error, "message"), member(error, "code"), member(answer, "message"))
    return " ".join(part[:_WORDS] for part in candidates if isinstance(part, str)).lower()
