"""The place that a request names: a group, a private chat, or a member of a group."""

from __future__ import annotations

import cognitive_memory_core as core

from ... import replies
from ..dependencies import OperatorAccess


def place(operator: OperatorAccess, group_id: str | None, user_id: str | None) -> core.Scene:
    """Return a member's scene for both ids, a private chat's for ``user_id``, the operator's for ``group_id``.

    Raises BadArgument without any id.
    """
    if group_id and user_id:
        return core.Scene.group(group_id, user_id, agent=operator.agent)
    if user_id:
        return core.Scene.private(user_id, agent=operator.agent)
    if not group_id:
        raise core.BadArgument(replies.http.PLACE_WANTED)
    return operator.scene(group_id)
