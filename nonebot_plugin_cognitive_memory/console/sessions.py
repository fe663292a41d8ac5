"""Who may use the console: sessions of browsers, and codes with which one session can be opened."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256

from ..limits import Lasting, Newest

Clock = Callable[[], float]
LIFETIME = 12 * 3600.0  # seconds after which a session ends
IDLE = 2 * 3600.0  # seconds without a request after which it ends
CODE_SECONDS = 5 * 60.0
MOST_SESSIONS = 64
MOST_CODES = 16
_SIGNS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # none that is read as another
_CODE_LENGTH = 10


@dataclass
class Session:
    """One browser that is logged in. Its forms carry ``form_token``; ``undo`` says how to revert its last change.

    ``notice`` is shown on the next page, together with the core's sentences in ``reported``.
    """

    opened_at: float
    seen_at: float
    form_token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    undo: Undo | None = None
    notice: str = ""
    reported: tuple[str, ...] = ()

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
