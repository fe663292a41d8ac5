"""Answers to refused requests: a status and one sentence as JSON."""

from __future__ import annotations

import math

from starlette.responses import JSONResponse

from .. import replies


def refused(status: int, sentence: str, *, retry_after: float | None = None, **headers: str) -> JSONResponse:
    """Return the answer to a refused request; ``retry_after`` is in seconds."""
    if retry_after is not None:
        headers["Retry-After"] = str(max(math.ceil(retry_after), 1))
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return JSONResponse({"success": False, "error": sentence}, status, named)


def too_fast(seconds: float) -> JSONResponse:
    """Return the answer to a request over the rate limit."""
    whole = max(math.ceil(seconds), 1)
    return refused(429, replies.http.TOO_FAST.format(seconds=whole), retry_after=whole)
