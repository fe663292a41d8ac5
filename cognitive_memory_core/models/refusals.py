"""Translates a refusal into an error, by its status and, where providers differ, by its text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import cast

import orjson

from .. import sentences
from ..errors import CognitiveMemoryError, ModelRefused, PermanentError, UnavailableError
from .json_access import member
from .retry_after import retry_after

_LATER = (408, 425, 429)
_KEY = (401, 402, 403, 407)
_BAD_REQUEST, _NOT_FOUND = 400, 404
_INPUT = (_BAD_REQUEST, 413, 422)
_WORDS = 200  # characters
_REDIRECT, _CLIENT, _SERVER = 300, 400, 500
_NO_SUCH_MODEL = re.compile(
    "model_not_found|model not exist|model.{0,100}(?:not found|does ?n[o']t exist)|no such model"
    r"|\u6a21\u578b.{0,100}\u4e0d\u5b58\u5728"  # 模型…不存在
)
_BAD_KEY = re.compile("invalid.{0,10}api[ _-]?key|invalid_authentication")
_BAD_PARAMETER = re.compile(
    "(?:unsupported|unrecogni[sz]ed|support|valid range).{0,60}(?:max_tokens|temperature)"
    "|(?:max_tokens|temperature).{0,20}not (?:be )?support"
)
_MISCONFIGURED = re.compile("|".join(one.pattern for one in (_NO_SUCH_MODEL, _BAD_KEY, _BAD_PARAMETER)))
_TOO_LARGE = re.compile("input.{0,40}too (?:large|long)|exceeds? .{0,30}context|maximum context length")
_NO_TOOLS = re.compile("support.{0,20}(?:tool|function)|(?:tool|function).{0,40}not support")


def refusal(role: str, status: int, headers: Mapping[str, str], body: bytes) -> CognitiveMemoryError:
    """Translate an unsuccessful answer into an error; the answer's text is not in it, as it may quote a message."""
    words = _error_message(body)
    is_broken = status >= _SERVER and not (status == _SERVER and _TOO_LARGE.search(words))
    if status in _LATER or is_broken:
        pause = retry_after(headers, datetime.now(timezone.utc))
        return UnavailableError(sentences.models.MODEL_AWAY.format(role=role, status=status), retry_after=pause)
    if _is_about_the_input(status, words):
        return PermanentError(sentences.models.INPUT_REFUSED.format(role=role, status=status))
    return ModelRefused(_fault(role, status, words))


def _is_about_the_input(status: int, words: str) -> bool:
    if status == _BAD_REQUEST:
        return not _MISCONFIGURED.search(words)
    return status in (*_INPUT, _SERVER) or (status == _NOT_FOUND and bool(_NO_TOOLS.search(words)))


def _fault(role: str, status: int, words: str) -> str:
    if _BAD_PARAMETER.search(words):
        return sentences.models.parameter_refused(role, status)
    if status in _KEY or _BAD_KEY.search(words):
        return sentences.models.key_refused(role, status)
    if _REDIRECT <= status < _CLIENT:
        return sentences.models.address_moved(role, status)
    return sentences.models.no_model_there(role, status)


def _error_message(body: bytes) -> str:
    """Return the error message alone, lower-cased; quoted input elsewhere must not decide what the refusal means."""
    try:
        answer = cast("object", orjson.loads(body))
    except orjson.JSONDecodeError:
        return body[:_WORDS].decode("utf-8", "replace").lower()
    error = member(answer, "error")
    candidates = (error, member(error, "message"), member(error, "code"), member(answer, "message"))
    return " ".join(part[:_WORDS] for part in candidates if isinstance(part, str)).lower()
