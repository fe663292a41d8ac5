"""The application of the console: its addresses, its login, and what it answers to errors."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Awaitable, Callable
from hashlib import sha256

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

import cognitive_memory_core as core

from ..cards.layout import TOKENS
from ..http.site import status_of
from ..limits import TokenBuckets
from . import beliefs, configuring, memories, people, question, running, transfers
from .pages import LANGUAGE_COOKIE, LANGUAGES, STATIC, language_of, rendered, words_for
from .sessions import COOKIE, LIFETIME, ConsoleAccess, SessionGate, cookie_of
from .visit import ConsoleContext, Page, Visit

TRIES_PER_MINUTE, TRIES_AT_ONCE = 6, 6  # failed log-ins from one address
YEAR = 365 * 86_400
TYPED = ("text", "value", "reason", "template", "until")  # fields in which people write
_PARTS = (memories, people, beliefs, question, running, configuring, transfers)
PAGES = tuple(page for part in _PARTS for page in part.PAGES)  # method, path and function of each


def console_application(access: ConsoleAccess, context: ConsoleContext, token: str) -> ASGIApp:
    """Return the application behind its gate; a session is opened by ``token``, or by a login code."""
    login = _Login(access, token)
    routes = [
        Route("/static/tokens.css", _tokens),
        Mount("/static", StaticFiles(directory=STATIC)),
        Route("/login", login.form, methods=["GET"]),
        Route("/login", login.entered, methods=["POST"]),
        Route("/logout", login.left, methods=["POST"]),
        Route("/language", _choose_language, methods=["POST"]),
        *(Route(path, _endpoint_of(page, context), methods=[method]) for method, path, page in PAGES),
        Route("/{rest:path}", _endpoint_of(_unknown, context)),
    ]
    return SessionGate(Starlette(routes=routes, exception_handlers={Exception: _answer_unexpected}), access.sessions)


def _endpoint_of(page: Page, context: ConsoleContext) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint of a page; an error of the memory is shown with what was typed, so that nothing is lost."""

    async def endpoint(request: Request) -> Response:
        visit = Visit(request, context, request.state.session, request.state.fields)
        try:
            return await page(visit)
        except core.CognitiveMemoryError as error:
            return await visit.show("error.html", status=status_of(error), reason=str(error), typed=_typed(request))

    return endpoint


def _typed(request: Request) -> list[str]:
    """Return what a person wrote in the form that was sent."""
    return [value for name in TYPED for value in request.state.fields.get(name, ()) if value]


async def _answer_unexpected(request: Request, _: Exception) -> Response:
    """Answer an unexpected error with a general message; the error itself is written to the bot's log only."""
    return PlainTextResponse(words_for(language_of(request.headers))("error.unforeseen"), 500)


async def _tokens(_: Request) -> Response:
    return FileResponse(TOKENS, media_type="text/css")


async def _unknown(visit: Visit) -> Response:
    return await visit.show("error.html", status=404, reason=visit.words("error.no_page"), typed=())


async def _choose_language(request: Request) -> Response:
    language = request.state.fields.get("language", [""])[0]
    back = request.state.fields.get("back", [""])[0]
    base = request.scope.get("root_path", "")
    answer = RedirectResponse(base + (back if back.startswith("/") and not back.startswith("//") else "/"), 303)
    return _in_language(answer, language, base) if language in LANGUAGES else answer


def _in_language(answer: Response, language: str, base: str) -> Response:
    answer.set_cookie(LANGUAGE_COOKIE, language, max_age=YEAR, path=base, httponly=True, samesite="strict")
    return answer


class _Login:
    """The page on which a session is opened, by the operator's token or by a login code."""

    def __init__(self, access: ConsoleAccess, token: str) -> None:
        """Open sessions in ``access``; the secrets are the operator's ``token`` and the login codes of ``access``."""
        self._access = access
        self._digest = sha256(token.encode("utf-8", "surrogatepass")).digest()
        self._tries = TokenBuckets(TRIES_PER_MINUTE, TRIES_AT_ONCE)

    async def form(self, request: Request, status: int = 200, problem: str = "") -> Response:
        """Show the login form, and what was typed before the session ended; redirect who is logged in to ``/``."""
        base = request.scope.get("root_path", "")
        if request.state.session is not None and not problem:
            return RedirectResponse(f"{base}/", 303)
        chosen = request.query_params.get("language", "")
        language = chosen if chosen in LANGUAGES else language_of(request.headers)
        words = words_for(language)
        visit, typed = {"base": base, "language": language}, _typed(request)
        values = {"t": words, "visit": visit, "problem": problem and words(problem), "typed": typed}
        answer = HTMLResponse(await asyncio.to_thread(rendered, "login.html", values), 401 if typed else status)
        return _in_language(answer, language, base) if chosen else answer

    async def entered(self, request: Request) -> Response:
        """Open a session if the secret is the operator's token or a valid code, and end the browser's old session.

        Failed attempts are counted by address. After too many of them codes from this address are refused without a
        check, because codes are short enough to be guessed. The token still works then: behind a proxy all browsers
        have one address.
        """
        secret = request.state.fields.get("secret", [""])[0].strip()
        address = request.client.host if request.client else ""
        if not self._is_token(secret):
            if self._tries.wait(address):
                return await self.form(request, 429, "login.too_often")
            if not self._access.codes.redeem(secret):
                self._tries.wait(address, take=True)
                return await self.form(request, 401, "login.wrong")
        self._access.sessions.close(cookie_of(request.scope))
        base = request.scope.get("root_path", "")
        answer = RedirectResponse(f"{base}/", 303)
        answer.set_cookie(
            COOKIE,
            self._access.sessions.open(),
            max_age=int(LIFETIME),
            path=base,
            secure=request.url.scheme == "https",
            httponly=True,
            samesite="strict",
        )
        return answer

    async def left(self, request: Request) -> Response:
        """End the session and redirect to the login page."""
        base = request.scope.get("root_path", "")
        self._access.sessions.close(cookie_of(request.scope))
        answer = RedirectResponse(f"{base}/login", 303)
        answer.delete_cookie(COOKIE, path=base, httponly=True, samesite="strict")
        return answer

    def _is_token(self, secret: str) -> bool:
        given = sha256(secret.encode("utf-8", "surrogatepass")).digest()
        return hmac.compare_digest(given, self._digest)
