"""Routers whose routes are described in Chinese, from :mod:`..replies.http_guide`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter

from ..replies import http_guide as guide
from .bodies.body import Refusal

COMMON = (401, 408, 413, 415, 422, 429, 503)


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the description of answers with these statuses, for the document."""
    return {status: {"model": Refusal, "description": guide.STATUSES[status]} for status in statuses}


class DescribedRouter(APIRouter):
    """A router that takes the title and description of a route from the name of its function."""

    def __init__(self) -> None:
        """Describe the refusals that every route shares."""
        super().__init__(responses=refusals(*COMMON))

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        """Add a route; one without a description raises KeyError."""
        summary, description = guide.ROUTES[endpoint.__name__]
        described = {"summary": summary, "description": description, "operation_id": endpoint.__name__}
        super().add_api_route(path, endpoint, **{**options, **described})
