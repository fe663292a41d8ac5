"""What all bodies share."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict

from ...replies import http_guide as guide

Instant = Annotated[datetime, AfterValidator(lambda at: at.astimezone(timezone.utc))]


def example(**fields: Any) -> ConfigDict:
    """Return the configuration of a body with an example."""
    return ConfigDict(json_schema_extra={"examples": [fields]})


def examples_of(body: type[BaseModel]) -> list[Any]:
    """Return the examples of a body."""
    extra = body.model_config.get("json_schema_extra")
    found = extra.get("examples") if isinstance(extra, dict) else None
    return found if isinstance(found, list) else []


class Answer(BaseModel):
    """An answer to a request that succeeded; instants are in UTC."""

    success: bool = True


class Refusal(BaseModel):
    """An answer to a request that was refused, with one sentence about why."""

    model_config = example(success=False, error=guide.REFUSAL)
    success: bool = False
    error: str


class RequestBody(BaseModel):
    """The body of a request; unknown fields are rejected, because most of them are misspelt."""

    model_config = ConfigDict(extra="forbid")
