"""Paths of profiles; no other module builds them."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .. import sentences
from ..disk import Disk, refusals
from ..domain.ids import path_component
from ..domain.profile import EntityType, ProfileKey
from ..domain.scope import DEFAULT_AGENT
from ..errors import BadArgument, PermanentError

PROFILES, AGENTS, HISTORY = "profiles", "agents", "history"
FOLDERS: dict[EntityType, str] = {"user": "users", "member": "members", "group": "groups"}
SUFFIX = ".md"
_COMPONENT = re.compile(r"[0-9][0-9a-z_-]{0,63}|x-[0-9a-f]{32}")
_PLAIN = re.compile(r"[0-9][0-9a-z_-]{0,63}")


@dataclass(frozen=True)
class Ids:
    """The ids that a file states about its subject; "" if it states none."""

    entity_id: str = ""
    group_id: str = ""
    agent: str = ""


@dataclass(frozen=True)
class ProfileLocation:
    """The location of one profile and its revisions. ``agent``, ``group`` and ``name`` are path components, or ""."""

    root: Path
    agent: str
    entity_type: EntityType
    group: str
    name: str

    @classmethod
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

    def damaged_copy(self, revision_id: str) -> Path:
        """Return the path for a damaged copy, named after an instant."""
        return self.folder / f"{self.name}.damaged-{revision_id}"

    def key(self, ids: Ids) -> ProfileKey:
        """Return the key of the profile here, from its path and its file; raises PermanentError if they disagree."""
        agent = _id_of(self.agent, ids.agent) if self.agent else DEFAULT_AGENT
        name = _id_of(self.name, ids.entity_id)
        try:
            if self.entity_type == "member":
                return ProfileKey.member(_id_of(self.group, ids.group_id), name, agent)
            return ProfileKey.user(name, agent) if self.entity_type == "user" else ProfileKey.group(name, agent)
        except BadArgument as refused:
            raise PermanentError(str(refused)) from None


@dataclass(frozen=True)
class ProfilePaths:
    """All profile locations under a data directory."""

    root: Path
    disk: Disk

    def locations(self) -> Iterator[ProfileLocation]:
        """Yield every location with any file, of every agent, including those whose key is unknown."""
        for agent in ("", *filter(_COMPONENT.fullmatch, self.listed(self.root / AGENTS))):
            for entity_type in FOLDERS:
                yield from self.of_type(agent, entity_type)

    def listed(self, folder: Path) -> list[str]:
        """Return the sorted names in a folder; empty if it is missing or a link."""
        with refusals(folder), suppress(FileNotFoundError, NotADirectoryError):
            if stat.S_ISDIR(folder.lstat().st_mode):
                return sorted(self.disk.names(folder))
        return []

    def of_type(self, agent: str, entity_type: EntityType) -> Iterator[ProfileLocation]:
        """Yield the locations of users, members or groups; ``agent`` is a path component."""
        base, folder = _base(self.root, agent), FOLDERS[entity_type]
        groups = [""]
        if entity_type == "member":
            groups = sorted({*self.listed(base / folder), *self.listed(base / HISTORY / folder)})
        for group in groups:
            stems = {stem_of(name) for name in self.listed(base / folder / group)}
            pasts = self.listed(base / HISTORY / folder / group)
            yield from (
                ProfileLocation(self.root, agent, entity_type, group, name) for name in sorted(stems.union(pasts))
            )


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
