"""Translates errors into HTTP statuses; no other module does."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

import cognitive_memory_core as core

from .. import replies
from .bodies.events import EventBody
from .dependencies import EventChanged, NothingThere
from .refusals import refused

BUSY = 5.0  # seconds after which an unavailable memory is worth another request
NOT_FOUND = (NothingThere, core.UnknownBelief, core.UnknownEvent, core.UnknownPin, core.UnknownRevision)


def handle_failures(app: FastAPI) -> None:
    """Register handlers that answer every error with a status and one Chinese sentence."""
    app.add_exception_handler(core.CognitiveMemoryError, _of_memory)
    app.add_exception_handler(RequestValidationError, _of_value)
    app.add_exception_handler(HTTPException, _of_routing)
    app.add_exception_handler(Exception, _answer_unexpected)


def status_of(error: core.CognitiveMemoryError) -> int:
    """Return the HTTP status for an error of the memory; 404 also for what the operator may not see."""
    if isinstance(error, (*NOT_FOUND, core.NotPermitted)):
        return 404
    if isinstance(error, core.BadArgument):
        return 422
    if isinstance(error, core.MistakeError):
        return 409
    return 429 if isinstance(error, core.QueueFull) else 503


async def _of_memory(_: Request, error: Exception) -> Response:
    if not isinstance(error, core.CognitiveMemoryError):
        raise error
    status = status_of(error)
    sentence = " ".join(str(error).split()) or replies.http.UNAVAILABLE
    if status in (429, 503):
        return refused(status, sentence, retry_after=getattr(error, "retry_after", None) or BUSY)
    if isinstance(error, EventChanged):
        return refused(status, sentence, event=EventBody.model_validate(error.event).model_dump(mode="json"))
    return refused(status, replies.http.NOT_FOUND if isinstance(error, core.NotPermitted) else sentence)


async def _of_value(_: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        raise error
    first = error.errors()[0]
    return refused(422, replies.http.refused_value(first["loc"], first["type"], first.get("ctx", {})))


async def _of_routing(_: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    sentences = {400: replies.http.BROKEN_JSON, 404: replies.http.NO_PATH, 405: replies.http.NO_METHOD}
    return refused(error.status_code, sentences.get(error.status_code, replies.http.UNFORESEEN), headers=error.headers)


async def _answer_unexpected(_: Request, __: Exception) -> Response:
    return refused(500, replies.http.UNFORESEEN)
