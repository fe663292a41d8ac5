"""The routes in the order in which they are matched: fixed paths first, then those that begin with a belief's id."""

from __future__ import annotations

from . import beliefs, context, events, exporting, pins, profiles, report, status

ROUTERS = (
    status.router,
    report.router,
    events.router,
    profiles.router,
    pins.router,
    context.router,
    exporting.router,
    beliefs.router,
)
