"""Profiles for search: their keys as columns, their rows and vectors."""

from __future__ import annotations

from collections.abc import Callable, Collection
from sqlite3 import Connection

from ..domain.profile import Profile, ProfileKey
from ..domain.scope import Scene, Scope
from ..ports import Vector
from .database.database import Table, reads, writes
from .database.rows import KEY, LISTED, PROFILE, bound, key_values, listed, profile_digest, vector_of
from .search.filters import Filter
from .vectors import drop

OF_KEY = " AND ".join(f"{name} = ?" for name in KEY)


def keys_in(scope: Scope) -> Filter:
    """Return the SQL condition for profiles of a place: a group with its members, or the person of a private chat."""
    if scope.kind == "group":
        return "agent = ? AND entity_type IN ('group', 'member') AND group_id = ?", bound(scope.agent, scope.place_id)
    return "agent = ? AND entity_type = 'user' AND user_id = ?", bound(scope.agent, scope.place_id)


def words_of(profile: Profile) -> str:
    """Return the searchable text of a profile: name, tags, and the summary without Markdown marks."""
    lines = [profile.name, " ".join(profile.tags), *(line.strip("-*# \t") for line in profile.summary.split("\n"))]
    return "\n".join(line for line in lines if line.strip())


class ProfileIndex(Table):
    """A searchable copy of the profiles. The profile files are the source of truth."""

    @writes
    def take_in(self, connection: Connection, key: ProfileKey, read: Callable[[ProfileKey], Profile | None]) -> None:
        """Copy a profile that was just written or removed; its vector is kept if its text is unchanged.

        It is read with ``read`` in the writing thread, so that whoever copies last copies the last content.
        """
        profile, of_key = read(key), key_values(key)
        if profile is None:
            connection.execute(f"DELETE FROM profiles WHERE {OF_KEY}", of_key)
        elif row := connection.execute(f"SELECT seq FROM profiles WHERE {OF_KEY}", of_key).fetchone():
            reword(connection, row[0], profile)
        else:
            connection.execute(PROFILE.insert, PROFILE.values(profile))

    @reads
    def readable(
        self, connection: Connection, scene: Scene, shared: Collection[str] | None, fingerprint: str
    ) -> list[tuple[Profile, Vector | None]]:
        """Return the profiles that a scene may read (:meth:`ProfileKey.readable_by`), with vectors of a fingerprint.

        ``shared`` holds the ids of people who share their profile; None means everybody. In a group a shared profile is
        returned if its person asks or is known there by name; it is not returned in a private chat with another person.
        """
        clause, values = _readable_filter(scene, shared)
        rest = f"LEFT JOIN profile_vectors v ON v.seq = e.seq AND e.embedded_as = ? WHERE {clause} ORDER BY e.seq"
        found = PROFILE.beside(connection, "v.vector", rest, (*bound(fingerprint), *values))

        def is_readable(key: ProfileKey) -> bool:
            is_open = scene.kind == "group" and (shared is None or key.user_id in shared)
            return key.readable_by(scene, shared=is_open)

        return [(one, None if vector is None else vector_of(vector)) for vector, one in found if is_readable(one.key)]

    @reads
    def versions(self, connection: Connection) -> dict[ProfileKey, str]:
        """Return the version of every indexed profile."""
        rows = connection.execute(f"SELECT {', '.join(KEY)}, version FROM profiles")
        return {ProfileKey(*key): version for *key, version in rows}


def reword(connection: Connection, seq: int, profile: Profile) -> None:
    """Rewrite a profile; its vector is deleted if the text changed."""
    words = connection.execute("SELECT words FROM profiles WHERE seq = ?", (seq,)).fetchone()[0]
    connection.execute(f"{PROFILE.update} WHERE seq = ?", (*PROFILE.values(profile), seq))
    if words != profile_digest(profile):
        drop(connection, "profiles", "profile_vectors", seq)


def _readable_filter(scene: Scene, shared: Collection[str] | None) -> Filter:
    """Return the SQL condition for the ``profiles e`` that a scene may read, and its parameters.

    In a group, a profile across all places is readable only if its person asks or is known there by name.
    """
    if scene.kind == "operator":
        return "e.agent = ?", bound(scene.agent)
    if scene.kind == "private":
        own = "e.agent = ? AND e.entity_type IN ('user', 'member') AND e.user_id = ?"
        return own, bound(scene.agent, scene.user_id)
    here = "e.agent = ? AND e.entity_type IN ('group', 'member') AND e.group_id = ?"
    known = "(e.user_id = ? OR e.user_id IN (SELECT user_id FROM names WHERE scope = ?))"
    is_open, opened = ("", ()) if shared is None else (f" AND e.user_id IN {LISTED}", (listed(shared),))
    values = (*bound(scene.agent, scene.group_id, scene.agent, scene.user_id, scene.scope.key), *opened)
    return f"(({here}) OR (e.agent = ? AND e.entity_type = 'user' AND {known}{is_open}))", values
