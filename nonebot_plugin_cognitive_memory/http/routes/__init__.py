"""The routes, in the order in which they are matched: fixed paths first, then those of single beliefs."""

from __future__ import annotations

from . import beliefs, status

ROUTERS = (status.router, beliefs.router)
