"""Profiles for search: their keys as columns, their rows and vectors."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from sqlite3 import Connection

from .. import sentences
from ..domain.ids import derived_id
from ..domain.profile import Profile, ProfileKey
from ..domain.scope import Scene, Scope
from ..errors import BadArgument
from ..ports.models import Vector
from .database.rows import Row, bound, moment_of, vector_of
from .database.statements import LISTED, bounded, delete, insert, listed, select, update
from .database.table import Table, reads, writes
from .search.read_filter_sql import Filter
from .vectors import has_direction

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


PROFILE_FIELDS = (*KEY_COLUMNS, "name", "tags", "summary", "updated_at", "source_event_id", "version")
_COLUMNS = (*PROFILE_FIELDS, "words")
_OF_OTHER_MODELS = "(p.embedded_as < ?1 OR p.embedded_as > ?1)"  # equivalent to <>, in a form that uses an index
_FIELDS = ", ".join(f"p.{name}" for name in PROFILE_FIELDS)
_OF_LISTED = " AND ".join(f"p.{name} = json_extract(k.value, '$[{at}]')" for at, name in enumerate(KEY_COLUMNS))
_STORED = select("k.key", "json_each(?) k CROSS JOIN profiles p", _OF_LISTED)  # one statement for any number of keys


@dataclass(frozen=True)
class IndexedProfile:
    """A profile in the index, with its vector by the model of the requested fingerprint, or None."""

    profile: Profile
    vector: Vector | None = None


class ProfileIndex(Table):
    """A searchable copy of the profiles. The profile files are the source of truth."""

    @writes
    def put(self, connection: Connection, profile: Profile) -> None:
        """Insert or replace a profile; its vector is kept if its text is unchanged."""
        row = connection.execute(select("seq", "profiles", OF_KEY), key_values(profile.key)).fetchone()
        if row is None:
            connection.execute(insert("profiles", _COLUMNS), _values(profile))
        else:
            reword(connection, row[0], profile)

    @writes
    def remove(self, connection: Connection, keys: Sequence[ProfileKey]) -> None:
        """Remove profiles from the index."""
        connection.executemany(delete("profiles", OF_KEY), [key_values(key) for key in keys])

    @reads
    def waiting(self, connection: Connection, fingerprint: str, limit: int) -> list[Profile]:
        """Return profiles without a vector of this fingerprint (embedding model)."""
        query = select(_FIELDS, "profiles p", _OF_OTHER_MODELS, "ORDER BY +p.seq LIMIT ?2")
        return [profile_of(row) for row in connection.execute(query, (*bound(fingerprint), bounded(limit)))]

    async def store(self, fingerprint: str, profile: Profile, vector: Vector) -> None:
        """Store a vector; does nothing if the profile's text has changed since."""
        if not has_direction(vector):
            raise BadArgument(
                sentences.caller.bad_value("vector", profile.key, sentences.storage_errors.VECTOR_WITH_DIRECTION)
            )
        await self.database.write(_store, fingerprint, profile, vector)

    @reads
    def readable(
        self, connection: Connection, scene: Scene, shared: Collection[str] | None, fingerprint: str
    ) -> list[IndexedProfile]:
        """Return the profiles that a scene may read (:meth:`ProfileKey.readable_by`).

        ``shared`` holds the ids of people who share their profile; None means everybody. In a group a shared profile is
        returned if its person asks or is known there by name; it is not returned in a private chat with another person.
        """
        source = "profiles p LEFT JOIN profile_vectors v ON v.seq = p.seq AND p.embedded_as = ?"
        clause, values = _readable_filter(scene, shared)
        query = select(f"{_FIELDS}, v.vector", source, clause, "ORDER BY p.seq")
        rows = [_indexed_of(row) for row in connection.execute(query, (*bound(fingerprint), *values))]
        return [row for row in rows if _is_readable(row.profile.key, scene, shared)]

    @reads
    def versions(self, connection: Connection) -> dict[ProfileKey, str]:
        """Return the version of every indexed profile."""
        rows = connection.execute(select(", ".join((*KEY_COLUMNS, "version")), "profiles", "TRUE"))
        return {ProfileKey(*key): version for *key, version in rows}

    @reads
    def stored_keys(self, connection: Connection, keys: Collection[ProfileKey]) -> frozenset[ProfileKey]:
        """Return which of the keys are indexed; the cost grows with ``keys``, not with the index."""
        asked = dict(enumerate(keys))
        rows = connection.execute(_STORED, (json.dumps([key_values(key) for key in asked.values()]),))
        return frozenset(asked[number] for (number,) in rows)


def reword(connection: Connection, seq: int, profile: Profile) -> None:
    """Rewrite a profile; its vector is deleted if the text changed."""
    values = _values(profile)
    words = connection.execute("SELECT words FROM profiles WHERE seq = ?", (seq,)).fetchone()[0]
    connection.execute(update("profiles", _COLUMNS, "seq = ?"), (*values, seq))
    if words != values[-1]:
        connection.execute("DELETE FROM profile_vectors WHERE seq = ?", (seq,))
        connection.execute("UPDATE profiles SET embedded_as = '' WHERE seq = ?", (seq,))


def found(connection: Connection, which: Filter) -> list[tuple[int, Profile]]:
    """Return profiles of ``profiles p``, each with its seq."""
    rows = connection.execute(select(f"p.seq, {_FIELDS}", "profiles p", which[0], "ORDER BY p.seq"), which[1])
    return [(row[0], profile_of(row[1:])) for row in rows.fetchall()]


def _store(connection: Connection, fingerprint: str, profile: Profile, vector: Vector) -> None:
    of_words = (*key_values(profile.key), _words(profile))
    row = connection.execute(select("seq", "profiles", f"{OF_KEY} AND words = ?"), of_words).fetchone()
    if row is not None:
        connection.execute("INSERT OR REPLACE INTO profile_vectors VALUES (?, ?)", (*row, vector.tobytes()))
        connection.execute("UPDATE profiles SET embedded_as = ? WHERE seq = ?", (*bound(fingerprint), *row))


def _readable_filter(scene: Scene, shared: Collection[str] | None) -> Filter:
    """Return the SQL condition for the ``profiles p`` that a scene may read, and its parameters.

    In a group, a profile across all places is readable only if its person asks or is known there by name.
    """
    if scene.kind == "operator":
        return "p.agent = ?", bound(scene.agent)
    if scene.kind == "private":
        own = "p.agent = ? AND p.entity_type IN ('user', 'member') AND p.user_id = ?"
        return own, bound(scene.agent, scene.user_id)
    here = "p.agent = ? AND p.entity_type IN ('group', 'member') AND p.group_id = ?"
    known = "(p.user_id = ? OR p.user_id IN (SELECT user_id FROM names WHERE scope = ?))"
    is_open, opened = ("", ()) if shared is None else (f" AND p.user_id IN {LISTED}", (listed(shared),))
    values = (*bound(scene.agent, scene.group_id, scene.agent, scene.user_id, scene.scope.key), *opened)
    return f"(({here}) OR (p.agent = ? AND p.entity_type = 'user' AND {known}{is_open}))", values


def _is_readable(key: ProfileKey, scene: Scene, shared: Collection[str] | None) -> bool:
    is_open = scene.kind == "group" and (shared is None or key.user_id in shared)
    return key.readable_by(scene, shared=is_open)


def _values(profile: Profile) -> tuple[str, ...]:
    tags = json.dumps(bound(*profile.tags))
    texts = (profile.name, tags, profile.summary, profile.updated_at.isoformat())
    return (*key_values(profile.key), *bound(*texts, profile.source_event_id, profile.version), _words(profile))


def profile_of(row: Row) -> Profile:
    """Convert a row of :data:`PROFILE_FIELDS` to a profile."""
    agent, entity_type, group_id, user_id, name, tags, summary, updated_at, source_event_id, version = row
    key = ProfileKey(agent, entity_type, group_id, user_id)
    return Profile(key, name, tuple(json.loads(tags)), summary, moment_of(updated_at), source_event_id, version)


def _indexed_of(row: Row) -> IndexedProfile:
    *fields, vector = row
    return IndexedProfile(profile_of(fields), None if vector is None else vector_of(vector))


def _words(profile: Profile) -> str:
    """Return the digest of the text that a profile's vector is made from."""
    return derived_id(json.dumps(bound(profile.name, *profile.tags)), *bound(profile.summary))
