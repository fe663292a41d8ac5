"""Removes people and places from profile files of any origin; blocking."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ..disk import TEMP, Disk, Vanished, refusals
from ..domain.ids import path_component
from ..domain.profile import ProfileKey
from ..domain.scope import Scope
from ..errors import LimitReached, PermanentError
from ..text.names import clean_text
from ..text.safety.redaction import LONG_ID
from .format import Hide, ProfileFile
from .paths import Ids, ProfileLocation, ProfilePaths, stem_of

_ENCODINGS = ("utf-8", "gb18030", "utf-16-le", "utf-16-be")  # encodings that editors commonly write


@dataclass(frozen=True)
class ProfileErasure:
    """Erases profile by profile, each under its lock; after an error, profiles done before stay erased."""

    paths: ProfilePaths
    disk: Disk
    read: Callable[[bytes, ProfileLocation], ProfileFile]
    locked: Callable[[ProfileLocation], AbstractContextManager[object]]
    repair: Callable[[ProfileLocation], object]

    def person(self, user_id: str, hide: Hide) -> list[ProfileKey]:
        """Remove a person's own files and hide them in all others; return the keys of the changed profiles."""
        name, touched = path_component(user_id), set[ProfileKey]()
        for location in self.paths.locations():
            with self.locked(location):
                if location.entity_type != "group" and location.name == name:
                    touched |= self._removed(location)
                else:
                    touched |= self._reworded(location, user_id, hide)
        return sorted(touched)

    def place(self, scope: Scope) -> list[ProfileKey]:
        """Remove the files of a group and its members, or of the person of a private chat."""
        if scope.kind == "private":
            return self.profiles([ProfileKey.user(scope.place_id, scope.agent)])
        touched = set[ProfileKey]()
        for location in self.paths.in_group(scope.agent, scope.place_id):
            with self.locked(location):
                touched |= self._removed(location)
        for folder in self.paths.emptied(scope.agent, scope.place_id):
            self._remove_if_empty(folder)
        return sorted(touched)

    def reword(self, key: ProfileKey, hide: Hide, events: Collection[str] = ()) -> bool:
        """Remove the lines of events and hide text in one profile and its revisions; return whether it changed."""
        location = ProfileLocation.of(self.paths.root, key)
        with self.locked(location):
            return bool(self._reworded(location, "", hide, events))

    def profiles(self, keys: Iterable[ProfileKey]) -> list[ProfileKey]:
        """Remove the files of some profiles; return the keys of those that existed."""
        touched = set[ProfileKey]()
        for key in keys:
            location = ProfileLocation.of(self.paths.root, key)
            with self.locked(location):
                touched |= self._removed(location)
        return sorted(touched)

    def key_at(self, location: ProfileLocation) -> ProfileKey | None:
        """Return the key of a location from its path or, if that has a hash, from its files; None if it is unknown."""
        with suppress(PermanentError):
            return location.key(Ids())
        for path in (location.file, *self._revision_files(location)):
            with suppress(PermanentError, Vanished):
                return self.read(self.disk.read(path), location).profile.key
        return None

    def _removed(self, location: ProfileLocation) -> set[ProfileKey]:
        """Remove everything at a location, last the file that states the key; return the key if anything existed."""
        past, there = [*self._revision_files(location)], [*self._current_files(location)]
        key = self.key_at(location) if past or there else None
        for path in (*past, *sorted(there, key=lambda path: path == location.file)):
            self._remove(path)
        if there:
            self.disk.sync_folder(location.folder)
        self._remove_if_empty(location.history)
        return {key} if key else set()

    def _reworded(
        self, location: ProfileLocation, user_id: str, hide: Hide, events: Collection[str] = ()
    ) -> set[ProfileKey]:
        """Hide a person in every file of a location; an unreadable file that mentions them is removed."""
        if self.key_at(location):
            self.repair(location)
        cleaning = partial(self._without, location=location, user_id=user_id, hide=hide, events=events)
        changed: list[Path] = []
        for path in (*self._revision_files(location), *self._current_files(location)):
            if path.name.endswith(TEMP):
                self._remove(path)
            elif self.disk.find(path) and self._is_cleaned(path, cleaning):
                changed.append(path)
        for folder in {path.parent for path in changed}:
            self.disk.sync_folder(folder)
        key = self.key_at(location) if changed else None
        return {key} if key else set()

    def _is_cleaned(self, path: Path, cleaning: Callable[[bytes], bytes | None]) -> bool:
        try:
            return self.disk.clean(path, cleaning) is not None
        except Vanished:
            return False

    def _without(
        self, data: bytes, *, location: ProfileLocation, user_id: str, hide: Hide, events: Collection[str]
    ) -> bytes | None:
        """Return a file's content without a person; None if the file does not mention them and may stay."""
        if _is_plain(data) and not _mentions(data, user_id, hide) and not any(one.encode() in data for one in events):
            return None
        try:
            file = self.read(data, location)
        except PermanentError:
            return b"" if _mentions(data, user_id, hide) else None
        try:
            rest = file.without(hide, events).written()
            is_silent = not _mentions(data, user_id, hide) and rest == file.written()
        except LimitReached:
            return b""
        return None if is_silent or rest == data else rest

    def _revision_files(self, location: ProfileLocation) -> Iterator[Path]:
        yield from (location.history / name for name in self.paths.listed(location.history))

    def _current_files(self, location: ProfileLocation) -> Iterator[Path]:
        """Yield the profile's file, its drafts, and damaged copies beside it."""
        names = self.paths.listed(location.folder)
        yield from (location.folder / name for name in names if stem_of(name) == location.name)

    def _remove(self, path: Path) -> None:
        if path.is_dir() and not path.is_symlink():
            with refusals(path):
                self.disk.act("rmdir", shutil.rmtree, path)
        else:
            self.disk.remove(path)

    def _remove_if_empty(self, folder: Path) -> None:
        """Remove a folder if it is empty, because its name identifies somebody."""
        if folder.is_dir() and not folder.is_symlink():
            with refusals(folder):
                self.disk.act("rmdir", os.rmdir, folder)
            self.disk.sync_folder(folder.parent)


def _is_plain(data: bytes) -> bool:
    """Return whether a file's text can be searched as it is: no escapes, folded lines or invisible characters."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    front = text.partition("\n---")[0]
    return not any(sign in front for sign in ("\\", "\n ", "\n\t")) and clean_text(text) == text


def _mentions(data: bytes, user_id: str, hide: Hide) -> bool:
    """Return whether bytes hold an id or text to be hidden, in any plausible encoding."""
    try:
        texts = [data.decode("utf-8")]
        if "\0" in texts[0]:
            texts += [data.decode(encoding, "replace") for encoding in _ENCODINGS[2:]]
    except UnicodeDecodeError:
        texts = [data.decode(encoding, "replace") for encoding in _ENCODINGS]
    number = user_id if len(user_id) >= LONG_ID else None
    return any((number and number in text) or hide(text) != text for text in texts)
