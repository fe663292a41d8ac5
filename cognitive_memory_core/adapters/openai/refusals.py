"""What a refusal means for whoever asked, by its status and, where providers differ, by its words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timezone

from ... import sentences
from ...errors import CognitiveMemoryError, PermanentError, UnavailableError
from .retry_after import retry_after

_LATER = (408, 425, 429)
_KEY = (401, 402, 403, 407)
_INPUT = (400, 413, 422)
_REDIRECT, _CLIENT, _SERVER = 300, 400, 500
_NO_SUCH_MODEL = re.compile(
    "model_not_found|model not exist|(?:model|模型).{0,100}(?:not found|does ?n[o']t exist|不存在)|no such model"
)
_BAD_KEY = re.compile("invalid.{0,10}api[ _-]?key|invalid_authentication|无效的令牌")
_NO_TOOLS = re.compile("support.{0,20}(?:tool|function)|(?:tool|function).{0,40}not support")


def refusal(role: str, status: int, headers: Mapping[str, str], body: bytes) -> CognitiveMemoryError:
    """Translate an answer that is no success; its words are looked at and never repeated, for they may echo ours."""
    if status in _LATER or status >= _SERVER:
        wished = retry_after(headers, datetime.now(timezone.utc))
        return UnavailableError(sentences.model_away(role, status), retry_after=wished)
    words = body.decode("utf-8", "replace").lower()
    if status in _INPUT and not _is_misconfigured(words):
        return PermanentError(sentences.input_refused(role, status))
    if status in _KEY or _BAD_KEY.search(words):
        return UnavailableError(sentences.key_refused(role, status))
    if _REDIRECT <= status < _CLIENT:
        return UnavailableError(sentences.address_moved(role, status))
    if _NO_TOOLS.search(words):
        return PermanentError(sentences.input_refused(role, status))
    return UnavailableError(sentences.no_model_there(role, status))


def _is_misconfigured(words: str) -> bool:
    return bool(_NO_SUCH_MODEL.search(words) or _BAD_KEY.search(words))
