"""The gate in front of every page: requires a session and, for a change, a form that was given to this session."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..http.gates import body_reader
from .languages import language_of, words_for
from .sessions import Session, Sessions

COOKIE = "cognitive_memory_console"
MOST_FIELDS = 1_000
FORM, UPLOAD = "application/x-www-form-urlencoded", "multipart/form-data"
UPLOADS = frozenset({"/transfers/import"})  # their pages read the form themselves, and check its token
LARGEST = 1 << 30  # bytes of an upload
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
Fields = dict[str, list[str]]


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
