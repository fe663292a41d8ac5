"""Export and import of profiles and their revisions."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Protocol

from ..domain.profile import Profile, Revision
from ..errors import MistakeError
from ..ports.profiles import Overtaken, ProfileStore

log = logging.getLogger(__name__)
StaysOut = Callable[[Profile], bool]
Worded = Callable[[Profile], Awaitable[Profile]]


class Gallery(ProfileStore, Protocol):
    """A profile store that can also import revisions."""

    async def add_revision(self, revision: Revision) -> bool:
        """Store an imported revision under its id; return False if it is known or older than those kept."""
        ...


async def stood(
    profiles: ProfileStore, user_id: str | None, worded: Worded | None = None
) -> AsyncIterator[Profile | Revision]:
    """Yield all profiles, or one person's, each followed by its revisions, oldest first; ``worded`` edits each."""
    for key in await profiles.keys():
        if user_id is not None and key.user_id != user_id:
            continue
        standing = await profiles.find(key)
        if standing:
            yield await worded(standing) if worded else standing
            for one in reversed(await profiles.revisions(key)):
                yield replace(one, profile=await worded(one.profile)) if worded else one


async def hung(portraits: Sequence[Profile | Revision], profiles: Gallery) -> int:
    """Import profiles that do not exist yet and unknown revisions; return how many were new."""
    count = 0
    for portrait in portraits:
        try:
            is_past = isinstance(portrait, Revision)
            count += await profiles.add_revision(portrait) if is_past else await _is_first(portrait, profiles)
        except MistakeError as refused:
            log.warning("import: portrait left out: %s", refused)
    return count


async def _is_first(portrait: Profile, profiles: ProfileStore) -> bool:
    if await profiles.find(portrait.key):
        return False
    try:
        await profiles.write(replace(portrait, version=""))
    except Overtaken:
        return False
    return True
