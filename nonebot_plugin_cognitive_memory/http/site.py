"""The applications of the HTTP interface and the gates before them."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.routing import Mount, Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from .dependencies import Backing
from .document import serve_document
from .failures import handle_failures
from .hosts import HostGate
from .operator_token import TokenGate
from .routes import ROUTERS
from .token_buckets import TokenBucket


class Site:
    """All that is served under ``/memory``: ``api``, which requires the operator's token, and added applications.

    The Host header of every request is checked first. Add only applications that authenticate by themselves, such as
    web pages with sessions; everything else belongs in ``api``.
    """

    def __init__(self, token: str, hosts: tuple[str, ...], backing: Backing, bucket: TokenBucket | None = None) -> None:
        """Build the interface; a blank token raises ValueError. ``bucket`` replaces the usual rate limit of ``api``."""
        self.backing = backing
        self.api = _api(backing)
        self._router = Router(routes=[Mount("", app=TokenGate(self.api, token, bucket))], redirect_slashes=False)
        self.app: ASGIApp = HostGate(self._router, hosts)

    def add(self, path: str, app: ASGIApp) -> None:
        """Add an application at a path below ``/memory``; the application must check access by itself.

        It serves this path and everything below it, and is matched before ``api``.
        """
        self._router.routes[:0] = [Route(path, endpoint=_Forwarding(path, app)), Mount(path, app=app)]


class _Forwarding:
    """Serves a mounted path without a slash at its end as the path with one, because a mount matches only the latter.

    A class, because Starlette takes an instance for an application, but a function for an endpoint.
    """

    def __init__(self, path: str, app: ASGIApp) -> None:
        self._path = path
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        root = scope.get("root_path", "")
        below = {"app_root_path": scope.get("app_root_path", root), "root_path": root + self._path}
        await self._app({**scope, **below, "path": f"{scope['path']}/"}, receive, send)


def _api(backing: Backing) -> FastAPI:
    api = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    api.state.backing = backing
    handle_failures(api)
    for router in ROUTERS:
        api.include_router(router)
    serve_document(api)
    return api
