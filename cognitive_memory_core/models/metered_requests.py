"""Sends requests to models, reads the JSON of the answers, and counts the cost."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, cast

import orjson

from .. import sentences
from ..errors import BadAnswer, PermanentError, TooSlow, UnavailableError
from ..ports.models import Meter
from .client import ModelClient, PostedRequest
from .json_access import member

LARGE = 65_536  # bytes from which an answer is parsed in a thread
_MOST_TOKENS = 1_000_000_000


async def answered(client: ModelClient, question: PostedRequest, meter: Meter, purpose: str) -> Mapping[str, Any]:
    """Post a request and return the answer's JSON object; count every call that may be billed.

    A call without a readable answer, such as one that timed out, is counted with zero tokens.
    """
    tokens, written, is_paid = 0, 0, True
    try:
        raw = await client.post(question)
        answer = await asyncio.to_thread(_object, raw) if len(raw) > LARGE else _object(raw)
        tokens, written = _tokens(answer), _count(member(member(answer, "usage"), "completion_tokens"))
    except (UnavailableError, PermanentError) as failure:
        is_paid = isinstance(failure, TooSlow)
        raise
    else:
        return answer
    finally:
        if is_paid:
            meter.count(purpose, tokens, written)


def sendable(text: str, limit: int) -> str:
    """Cut a text and replace what cannot be sent: lone surrogates, and an empty text."""
    clean = text[:limit].encode("utf-8", "replace").decode("utf-8")
    return clean if clean.strip() else "…"


def _object(raw: bytes) -> Mapping[str, Any]:
    try:
        answer = orjson.loads(raw)
    except orjson.JSONDecodeError:
        is_page = raw[:200].lstrip().startswith(b"<")
        raise BadAnswer(sentences.models.ANSWER_IS_A_PAGE if is_page else sentences.models.ANSWER_NOT_JSON) from None
    if not isinstance(answer, dict):
        raise BadAnswer(sentences.models.ANSWER_MALFORMED)
    return cast("dict[str, Any]", answer)


def _tokens(answer: Mapping[str, Any]) -> int:
    usage = member(answer, "usage")
    total = member(usage, "total_tokens") or member(usage, "prompt_tokens")
    return _count(total)


def _count(tokens: object) -> int:
    return min(max(tokens, 0), _MOST_TOKENS) if isinstance(tokens, int) else 0
