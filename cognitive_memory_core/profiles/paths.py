"""Paths of profiles; no other module builds them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from .. import sentences
from ..disk import Disk
from ..domain.ids import path_component
from ..domain.profile import EntityType, ProfileKey
from ..domain.scope import DEFAULT_AGENT
from ..errors import BadArgument, PermanentError
from ..text.characters import cleared_on_erasure

PROFILES, AGENTS, HISTORY = "profiles", "agents", "history"
FOLDERS: dict[EntityType, str] = {"user": "users", "member": "members", "group": "groups"}
SUFFIX = ".md"
_COMPONENT = re.compile(r"[0-9][0-9a-z_-]{0,63}|x-[0-9a-f]{32}")
_PLAIN = re.compile(r"[0-9][0-9a-z_-]{0,63}")


@dataclass(frozen=True)
class ProfileLocation:
    """The location of one profile and its revisions. ``agent``, ``group`` and ``name`` are path components, or ""."""

    root: Path
    agent: str
    entity_type: EntityType
    group: str
    name: str

    @classmethod
    @cleared_on_erasure
    @lru_cache(maxsize=4_096)  # a question looks for two files; building their paths takes longer than that
    def of(cls, root: Path, key: ProfileKey) -> ProfileLocation:
        """Return the location of a key under a data directory."""
        agent = "" if key.agent == DEFAULT_AGENT else path_component(key.agent)
        if key.entity_type == "group":
            return cls(root, agent, "group", "", path_component(key.group_id))
        group = path_component(key.group_id) if key.entity_type == "member" else ""
        return cls(root, agent, key.entity_type, group, path_component(key.user_id))

    @cached_property
    def folder(self) -> Path:
        """The folder of the file and its damaged copies."""
        return _base(self.root, self.agent) / FOLDERS[self.entity_type] / self.group

    @cached_property
    def file(self) -> Path:
        """The file of the current profile."""
        return self.folder / (self.name + SUFFIX)

    @cached_property
    def history(self) -> Path:
        """The folder of its revisions."""
        return _base(self.root, self.agent) / HISTORY / FOLDERS[self.entity_type] / self.group / self.name

    def revision(self, revision_id: str) -> Path:
        """Return the file of a revision."""
        return self.history / (revision_id + SUFFIX)

    def key(self, entity_id: str = "", group_id: str = "", agent: str = "") -> ProfileKey:
        """Return the key of the profile here, from its path and the ids that its file states ("" for none).

        Raises PermanentError if they disagree, or if the path has a digest and the file states no id.
        """
        agent = _id_of(self.agent, agent) if self.agent else DEFAULT_AGENT
        name = _id_of(self.name, entity_id)
        try:
            if self.entity_type == "member":
                return ProfileKey.member(_id_of(self.group, group_id), name, agent)
            return ProfileKey.user(name, agent) if self.entity_type == "user" else ProfileKey.group(name, agent)
        except BadArgument as refused:
            raise PermanentError(str(refused)) from None


def all_locations(root: Path, disk: Disk) -> Iterator[ProfileLocation]:
    """Yield every location with any file, of every agent, including those whose key is unknown."""
    for agent in ("", *filter(_COMPONENT.fullmatch, disk.listed(root / AGENTS))):
        for entity_type in FOLDERS:
            yield from locations_of(root, disk, agent, entity_type)


def locations_of(root: Path, disk: Disk, agent: str, entity_type: EntityType) -> Iterator[ProfileLocation]:
    """Yield the locations of users, members or groups; ``agent`` is a path component."""
    current = _base(root, agent) / FOLDERS[entity_type]
    past = _base(root, agent) / HISTORY / FOLDERS[entity_type]
    for group in sorted({*disk.listed(current), *disk.listed(past)}) if entity_type == "member" else ("",):
        names = {*map(stem_of, disk.listed(current / group)), *disk.listed(past / group)}
        yield from (ProfileLocation(root, agent, entity_type, group, name) for name in sorted(names))


def stem_of(name: str) -> str:
    """Return the component that a file belongs to: of 1.md, 1.md~, .1.md.swp and #1.md# it is 1."""
    return name.lstrip(".#~").partition(".")[0]


def _base(root: Path, agent: str) -> Path:
    return root / AGENTS / agent / PROFILES if agent else root / PROFILES


def _id_of(component: str, stated: str) -> str:
    """Return the id of a path component; if that is a hash, the id stated in the file."""
    identifier = stated or (component if _PLAIN.fullmatch(component) else "")
    if path_component(identifier) != component:
        raise PermanentError(sentences.storage_errors.PROFILE_OF_ANOTHER.format(expected=component, stated=stated))
    return identifier
