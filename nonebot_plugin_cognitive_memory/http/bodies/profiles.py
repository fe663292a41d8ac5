"""Bodies on profiles."""

from __future__ import annotations

from pydantic import BaseModel, Field

import cognitive_memory_core as core

from ...replies import http_guide as guide
from .body import Answer, Instant, RequestBody, example
from .events import EVENT_ID

_REVISION_ID = "20260305T103000.123456Z"
_PROFILE = {
    "entity_type": "member",
    "group_id": "10001",
    "user_id": "2000001",
    "name": guide.NAME,
    "tags": [guide.TAG],
    "summary": guide.SUMMARY,
    "updated_at": "2026-03-06T12:30:00Z",
    "sources": {guide.SUMMARY.removeprefix("- "): [EVENT_ID]},
}


class ProfileBody(BaseModel):
    """A profile, present or past; ``summary`` is Markdown.

    ``sources`` are the ids of the events that each line, without its bullet, or tag rests on.
    """

    entity_type: str
    group_id: str
    user_id: str
    name: str
    tags: tuple[str, ...]
    summary: str
    updated_at: Instant
    sources: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, profile: core.Profile) -> ProfileBody:
        """Build the body from a profile."""
        return cls(
            entity_type=profile.key.entity_type,
            group_id=profile.key.group_id,
            user_id=profile.key.user_id,
            name=profile.name,
            tags=profile.tags,
            summary=profile.summary,
            updated_at=profile.updated_at,
            sources=dict(profile.sources),
        )


class OneProfile(Answer):
    """A profile."""

    model_config = example(success=True, profile=_PROFILE)
    profile: ProfileBody

    @classmethod
    def of(cls, profile: core.Profile) -> OneProfile:
        """Build the body from a profile."""
        return cls(profile=ProfileBody.of(profile))


class RevisionBody(BaseModel):
    """A past profile and the id by which it is restored."""

    id: str
    profile: ProfileBody


class RevisionList(Answer):
    """The past profiles, newest first."""

    model_config = example(success=True, revisions=[{"id": _REVISION_ID, "profile": _PROFILE}])
    revisions: tuple[RevisionBody, ...]

    @classmethod
    def of(cls, revisions: list[core.Revision]) -> RevisionList:
        """Build the body from past profiles."""
        return cls(revisions=tuple(RevisionBody(id=one.id, profile=ProfileBody.of(one.profile)) for one in revisions))


class RevisionWanted(RequestBody):
    """The id of the past profile to restore."""

    model_config = example(revision_id=_REVISION_ID)
    revision_id: str = Field(min_length=1, max_length=128)
