"""Answers to refused requests: a status and one sentence as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping

from starlette.responses import JSONResponse

from .. import replies


def refused(
    status: int,
    sentence: str,
    *,
    retry_after: float | None = None,
    headers: Mapping[str, str] | None = None,
    **fields: object,
) -> JSONResponse:
    """Return the answer to a refused request, with further fields; ``retry_after`` is in seconds."""
    more = {} if retry_after is None else {"Retry-After": str(max(math.ceil(retry_after), 1))}
    return JSONResponse({"success": False, "error": sentence, **fields}, status, {**(headers or {}), **more})


def too_fast(seconds: float) -> JSONResponse:
    """Return the answer to a request over the rate limit."""
    whole = max(math.ceil(seconds), 1)
    return refused(429, replies.http.TOO_FAST.format(seconds=whole), retry_after=whole)
