"""Routes on profiles; the id of a member is "group/user", so the path parameter may contain a slash."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Path

import cognitive_memory_core as core

from ... import replies
from ...replies import http_guide as guide
from ..bodies.profiles import OneProfile, RevisionList, RevisionWanted
from ..dependencies import LONGEST_ID, NothingThere, Operator
from ..routers import DescribedRouter, refusals

router = DescribedRouter()
EntityType = Annotated[Literal["user", "member", "group"], Path(description=guide.ENTITY_TYPE, examples=["member"])]
EntityId = Annotated[
    str, Path(min_length=1, max_length=2 * LONGEST_ID + 1, description=guide.ENTITY_ID, examples=["10001/2000001"])
]
PROFILE = "/profiles/{entity_type}/{entity_id:path}"


@router.get(f"{PROFILE}/revisions", responses=refusals(404))
async def list_revisions(entity_type: EntityType, entity_id: EntityId, operator: Operator) -> RevisionList:
    """Return the past profiles of an entity; 404 for one that never had a profile."""
    key = core.ProfileKey.asked(operator.scene(), entity_type, entity_id)
    revisions = await operator.memory.profile_revisions(operator.scene(), key)
    if not revisions and await operator.memory.get_profile(operator.scene(), entity_type, entity_id) is None:
        raise NothingThere(replies.http.UNKNOWN_PROFILE)
    return RevisionList.of(revisions)


@router.post(f"{PROFILE}/restore", responses=refusals(404))
async def restore_profile(
    entity_type: EntityType, entity_id: EntityId, wanted: RevisionWanted, operator: Operator
) -> OneProfile:
    """Restore a past profile."""
    key = core.ProfileKey.asked(operator.scene(), entity_type, entity_id)
    return OneProfile.of(await operator.memory.restore_profile(operator.scene(), key, wanted.revision_id))


@router.get(PROFILE, responses=refusals(404))
async def get_profile(entity_type: EntityType, entity_id: EntityId, operator: Operator) -> OneProfile:
    """Return a profile."""
    profile = await operator.memory.get_profile(operator.scene(), entity_type, entity_id)
    if profile is None:
        raise NothingThere(replies.http.UNKNOWN_PROFILE)
    return OneProfile.of(profile)
