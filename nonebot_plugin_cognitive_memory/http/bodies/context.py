"""Bodies on the context of a turn."""

from __future__ import annotations

from pydantic import BaseModel, Field

import cognitive_memory_core as core

from ...replies import http_guide as guide
from .body import Answer, RequestBody, example


class Question(RequestBody):
    """The question of a turn, its place and its person; ``budget`` is the maximum number of tokens."""

    model_config = example(query=guide.ASKED, group_id="10001", user_id="2000001")
    query: str = Field(max_length=4_000, description=guide.QUESTION)
    group_id: str | None = Field(default=None, min_length=1, max_length=128, description=guide.GROUP_ID)
    user_id: str | None = Field(default=None, min_length=1, max_length=128, description=guide.USER_ID)
    budget: int | None = Field(default=None, ge=0, le=100_000)


class SectionBody(BaseModel):
    """One titled part of a context."""

    title: str
    lines: tuple[str, ...]


class ContextBody(Answer):
    """The context that a model gets for this turn; ``degraded`` names the parts that were unavailable."""

    model_config = example(
        success=True,
        text=guide.CONTEXT,
        sections=[{"title": guide.SECTION, "lines": [guide.LIKES_TEA]}],
        tokens=32,
        degraded=[],
    )
    text: str
    sections: tuple[SectionBody, ...]
    tokens: int
    degraded: tuple[str, ...]

    @classmethod
    def of(cls, context: core.Context) -> ContextBody:
        """Build the body from a context."""
        sections = tuple(SectionBody(title=one.title, lines=one.lines) for one in context.sections)
        return cls(text=context.text, sections=sections, tokens=context.tokens, degraded=context.degraded)
