"""Export and import of profiles and their revisions."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace

from .. import sentences
from ..domain.profile import Profile, Revision
from ..errors import MistakeError
from ..profiles.files import FileProfiles, Overtaken

log = logging.getLogger(__name__)
IsExcluded = Callable[[Profile], bool]
ProfileEdit = Callable[[Profile], Awaitable[Profile]]


async def exported_profiles(
    profiles: FileProfiles, user_id: str | None, edited: ProfileEdit | None = None
) -> AsyncIterator[Profile | Revision]:
    """Yield all profiles, or one person's, each followed by its revisions, oldest first; ``edited`` edits each."""
    for key in await profiles.keys():
        if user_id is not None and key.user_id != user_id:
            continue
        current = await profiles.find(key)
        if current:
            yield await edited(current) if edited else current
            for one in reversed(await profiles.revisions(key)):
                yield replace(one, profile=await edited(one.profile)) if edited else one


async def absorb_profiles(profile_rows: Sequence[Profile | Revision], profiles: FileProfiles) -> int:
    """Import profiles that do not exist yet and unknown revisions; return how many were new."""
    count = 0
    for row in profile_rows:
        try:
            is_past = isinstance(row, Revision)
            count += await profiles.add_revision(row) if is_past else await _is_first(row, profiles)
        except MistakeError as refused:
            log.warning("%s", sentences.log.PROFILE_LEFT_OUT.format(reason=refused))
    return count


async def _is_first(row: Profile, profiles: FileProfiles) -> bool:
    if await profiles.find(row.key):
        return False
    try:
        await profiles.write(replace(row, version=""))
    except Overtaken:
        return False
    return True
