"""Profile keys as columns."""

from __future__ import annotations

from ..domain.profile import ProfileKey
from ..domain.scope import Scope
from .database.rows import bound
from .search.read_filter_sql import Filter

KEY_COLUMNS = ("agent", "entity_type", "group_id", "user_id")
OF_KEY = " AND ".join(f"{name} = ?" for name in KEY_COLUMNS)


def key_values(key: ProfileKey) -> tuple[str, ...]:
    """Return a key's values in the order of :data:`KEY_COLUMNS`."""
    return bound(key.agent, key.entity_type, key.group_id, key.user_id)


def keys_in(scope: Scope) -> Filter:
    """Return the SQL condition for profiles of a place: a group with its members, or the person of a private chat."""
    if scope.kind == "group":
        return "agent = ? AND entity_type IN ('group', 'member') AND group_id = ?", bound(scope.agent, scope.place_id)
    return "agent = ? AND entity_type = 'user' AND user_id = ?", bound(scope.agent, scope.place_id)
