"""What all bodies share."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

Instant = Annotated[datetime, AfterValidator(lambda at: at.astimezone(timezone.utc))]


class Answer(BaseModel):
    """An answer to a request that succeeded; instants are in UTC."""

    success: bool = True


class Asked(BaseModel):
    """The body of a request; unknown fields are refused, since they are mostly misspelt ones."""

    model_config = ConfigDict(extra="forbid")
