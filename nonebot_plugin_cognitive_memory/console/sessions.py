"""Who may use the console: sessions of browsers, codes that open one, and the gate in front of every page.

The gate requires a session and, for a change, a form that was given to this session.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..http.gates import body_reader
from ..limits import Lasting, Newest
from .pages import language_of, words_for

Clock = Callable[[], float]
LIFETIME = 12 * 3600.0  # seconds after which a session ends
IDLE = 2 * 3600.0  # seconds without a request after which it ends
CODE_SECONDS = 5 * 60.0
MOST_SESSIONS = 64
MOST_CODES = 16
COOKIE = "cognitive_memory_console"
MOST_FIELDS = 1_000
FORM, UPLOAD = "application/x-www-form-urlencoded", "multipart/form-data"
UPLOADS = frozenset({"/transfers/import"})  # their pages read the form themselves, and check its token
LARGEST = 1 << 30  # bytes of an upload
Fields = dict[str, list[str]]
_SIGNS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # none that is read as another
_CODE_LENGTH = 10
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)


@dataclass
class Session:
    """One browser that is logged in. Its forms carry ``form_token``; ``undo`` says how to revert its last change.

    ``notice`` is shown on the next page, in its part ``at``, together with the core's sentences in ``reported``;
    ``retried`` are the ids of jobs that it queued again, the latest first.
    """

    opened_at: float
    seen_at: float
    form_token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    undo: Undo | None = None
    notice: str = ""
    at: str = ""
    reported: tuple[str, ...] = ()
    retried: tuple[str, ...] = ()

    def owns(self, form_token: str) -> bool:
        """Return whether a form was given to this session."""
        return hmac.compare_digest(form_token.encode("utf-8", "replace"), self.form_token.encode())


@dataclass(frozen=True)
class Undo:
    """What one change did: it forgot or restored these events, or replaced the first of them by the second."""

    action: str
    event_ids: tuple[str, ...]


class Sessions:
    """The open sessions. Only digests of cookies are kept, so that a memory dump reveals none."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        """Start without a session; ``clock`` returns seconds of a monotonic clock."""
        self._clock = clock
        self._open: Newest[bytes, Session] = Newest(MOST_SESSIONS)

    def open(self) -> str:
        """Open a session and return its cookie; over :data:`MOST_SESSIONS` the one used longest ago ends."""
        cookie = secrets.token_urlsafe(32)
        now = self._clock()
        self._open[_digest(cookie)] = Session(now, now)
        return cookie

    def find(self, cookie: str) -> Session | None:
        """Return the session of a cookie and count this as its use; None if it has ended or never existed."""
        key, now = _digest(cookie), self._clock()
        session = self._open.get(key)
        if session is None:
            return None
        if now - session.opened_at > LIFETIME or now - session.seen_at > IDLE:
            del self._open[key]
            return None
        session.seen_at = now
        self._open.move_to_end(key)
        return session

    def close(self, cookie: str) -> None:
        """End a session; does nothing for one that ended."""
        self._open.pop(_digest(cookie), None)


class LoginCodes:
    """Codes that each open one session, until :data:`CODE_SECONDS` after they were issued."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        """Start without a code; ``clock`` returns seconds of a monotonic clock."""
        self._issued: Lasting[bytes, bool] = Lasting(CODE_SECONDS, MOST_CODES, clock)

    def issue(self) -> str:
        """Return a new random login code; only its digest is kept, for the newest :data:`MOST_CODES` codes.

        Earlier codes stay valid.
        """
        code = "".join(secrets.choice(_SIGNS) for _ in range(_CODE_LENGTH))
        self._issued.put(_digest(code), True)  # a value
        return code

    def redeem(self, code: str) -> bool:
        """Return whether a code is valid, and make it invalid: it opens one session only."""
        digest = _digest(code.strip().upper())
        is_valid = self._issued.find(digest) is not None
        self._issued.drop(digest)
        return is_valid


@dataclass(frozen=True)
class ConsoleAccess:
    """The login codes and the open sessions of a console."""

    codes: LoginCodes = field(default_factory=LoginCodes)
    sessions: Sessions = field(default_factory=Sessions)


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


class SessionGate:
    """Guards a whole application, so that no page in it is reached without a session.

    ``/login`` and ``/static`` are open. Methods other than GET, HEAD and POST are refused. A POST is admitted only from
    a page of the same origin, with a form of bounded size that holds the session's form token; the pages of
    :data:`UPLOADS` check the token themselves. A form sent after its session has ended is answered by the log-in form,
    which shows what was typed.
    """

    def __init__(self, app: ASGIApp, sessions: Sessions) -> None:
        """Guard an application, which reads ``session`` and ``fields`` from the state of the scope."""
        self._app = app
        self._sessions = sessions
        self._read, self._read_stranger = body_reader(), body_reader()  # log-ins of strangers delay no operator's form

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward an admitted request, or answer why not."""
        if scope["type"] != "http":
            return
        session = self._sessions.find(cookie_of(scope))
        state = scope.setdefault("state", {})
        state["session"], state["fields"] = session, {}
        refusal = self._refusal(scope, session)
        if path_of(scope) in UPLOADS:
            if refusal is not None:
                await self._read_stranger(receive)  # else a browser that is still sending sees a broken connection
        elif refusal is None and scope["method"] == "POST":
            body = await (self._read_stranger if session is None else self._read)(receive)
            fields = None if isinstance(body, int) else _fields(body)
            refusal = _form_refusal(scope, session, fields)
            if body == 408:  # noqa: PLR2004  # a status
                refusal = _text_answer(scope, 408, "too_slow")
            state["fields"] = fields
            if session is None and refusal is None and path_of(scope) != "/login":
                scope["method"], scope["path"] = "GET", f"{scope.get('root_path', '')}/login"
        await (refusal or self._app)(scope, receive, _guarded(send))

    def _refusal(self, scope: Scope, session: Session | None) -> Response | None:
        path = path_of(scope)
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return _text_answer(scope, 405, "no_method")
        if scope["method"] == "POST":
            headers = Headers(scope=scope)
            wanted = UPLOAD if path in UPLOADS else FORM
            if headers.get("content-type", "").partition(";")[0].strip().lower() != wanted:
                return _text_answer(scope, 415, "forms_only")
            if path in UPLOADS and not 0 < _length(headers) <= LARGEST:
                return _text_answer(scope, 413, "form_too_large")
            if not is_of_same_origin(headers):
                return _text_answer(scope, 403, "foreign_origin")
        is_kept = scope["method"] == "POST" and path not in UPLOADS and "hx-request" not in Headers(scope=scope)
        if session is None and path != "/login" and not path.startswith("/static/") and not is_kept:
            return _to_login(scope)
        return None


def path_of(scope: Scope) -> str:
    """Return the path of a request, relative to the console."""
    return scope["path"].removeprefix(scope.get("root_path", "")) or "/"


def cookie_of(scope: Scope) -> str:
    """Return the session cookie of a request; "" without one."""
    return cookie_parser(Headers(scope=scope).get("cookie", "")).get(COOKIE, "")


def is_of_same_origin(headers: Headers) -> bool:
    """Return whether a page of the same origin sent a request.

    Browsers set the headers that decide this, and pages cannot change them. A request without these headers does not
    come from a page and is refused: programs use the HTTP interface.
    """
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = headers.get("origin", "")
    return bool(origin) and urlsplit(origin).netloc.lower() == headers.get("host", "").lower()


def _length(headers: Headers) -> int:
    text = headers.get("content-length", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 12 else 0  # noqa: PLR2004  # digits


def _fields(body: bytes) -> Fields | None:
    """Read the fields of a form; None if it is none."""
    try:
        return parse_qs(body.decode("ascii"), keep_blank_values=True, errors="replace", max_num_fields=MOST_FIELDS)
    except ValueError:
        return None


def _form_refusal(scope: Scope, session: Session | None, fields: Fields | None) -> Response | None:
    if fields is None:
        return _text_answer(scope, 413, "form_too_large")
    if path_of(scope) == "/login" or session is None:  # without a session nothing but the log-in form is reached
        return None
    if not session.owns("".join(fields.get("form_token", ()))):
        return _text_answer(scope, 403, "foreign_form")
    return None


def _to_login(scope: Scope) -> Response:
    target = f"{scope.get('root_path', '')}/login"
    if "hx-request" in Headers(scope=scope):
        return Response(status_code=401, headers={"HX-Redirect": target})
    return RedirectResponse(target, 303)


def _text_answer(scope: Scope, status: int, key: str) -> Response:
    return PlainTextResponse(words_for(language_of(Headers(scope=scope)))(f"gate.{key}"), status)


def _guarded(send: Send) -> Send:
    async def forward(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *_HEADERS]}
        await send(message)

    return forward
