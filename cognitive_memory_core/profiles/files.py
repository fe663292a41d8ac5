"""Stores profiles as files under ``profiles/``, with their revisions beside them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import threading
from collections.abc import Callable, Collection, Coroutine
from dataclasses import replace
from datetime import datetime, timezone, tzinfo
from functools import partial, wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from .. import sentences
from ..disk import TEMP, Disk, Vanished, is_withheld, reason_of, refusals
from ..domain.ids import path_component
from ..domain.profile import Profile, ProfileKey, Revision, is_revision_id, revision_id
from ..domain.scope import Scope
from ..errors import PermanentError, StorageRefused, TransientError, UnknownRevision
from ..loading_on_use import OnUse
from ..ports import Clock
from ..text.names import clean_name
from .paths import SUFFIX, ProfileLocation, all_locations, locations_of, stem_of

if TYPE_CHECKING:
    from . import codec
else:  # YAML is imported when the first file is read
    codec = OnUse(lambda: import_module(f"{__package__}.codec"))

P = ParamSpec("P")
T = TypeVar("T")
log = logging.getLogger(__name__)
_RECENT = 256  # files that are kept as they were read or written last: a write follows a read


def as_it_is(profile: Profile) -> Profile:
    """Return the profile unchanged."""
    return profile


class Overtaken(TransientError):
    """The profile changed since it was read: read it again and retry."""


def awaitable(
    blocking: Callable[Concatenate[FileProfiles, P], T],
) -> Callable[Concatenate[FileProfiles, P], Coroutine[Any, Any, T]]:
    """Make a blocking operation awaitable: it runs in a thread."""

    @wraps(blocking)
    async def threaded(self: FileProfiles, *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.to_thread(blocking, self, *args, **kwargs)

    return threaded


class FileProfiles:
    """One current profile per key, with its revisions: files that people can read and edit.

    Edits by people are detected and never overwritten. One thread at a time writes; reads do not wait for writes. Each
    write is durable when it returns. A write may raise StorageRefused, a read UnavailableError.
    """

    def __init__(
        self,
        root: Path,
        keep: int,
        clock: Clock,
        zone: tzinfo,
        *,
        disk: Disk | None = None,
        without_gone: Callable[[Profile], Profile] = as_it_is,
    ) -> None:
        """Keep ``keep`` revisions per profile under a data directory; ``zone`` applies to times written without one.

        ``without_gone`` removes from a revision that takes the place of a damaged file what was forgotten since.
        """
        self._disk = disk or Disk()
        self._root = root
        self._keep = keep
        self._clock = clock
        self._zone = zone
        self._without_gone = without_gone
        self._lock = threading.RLock()  # held by the thread that writes
        self._recent: dict[ProfileLocation, codec.ProfileFile] = {}
        self._synced: set[Path] = set()  # folders

    def read(self, key: ProfileKey) -> Profile | None:
        """Return the current profile; None if there is none. The file is read each time, and parsed only if it changed.

        An unreadable file is moved aside and replaced by the latest readable revision.
        """
        current = self._current(self._location(key))
        return current and current.profile

    find = awaitable(read)

    def put(self, profile: Profile) -> Profile:
        """Store a profile in place of the one with the same ``version`` ("" if none is stored); return it as stored.

        The replaced profile becomes a revision first; the latest ``revision_keep`` revisions are kept. Unknown keys of
        the file are preserved. The returned profile has a new version. Raises Overtaken, changing nothing, if the
        stored version differs because somebody changed the file in the meantime, be it a person with an editor.
        """
        location = self._location(profile.key)
        with self._lock:
            current = self._current(location)
            if profile.version != (current.profile.version if current else ""):
                raise Overtaken(sentences.storage_errors.PROFILE_OVERTAKEN)
            return self._replace_keeping_revision(location, current, profile)

    write = awaitable(put)

    @awaitable
    def rename(self, key: ProfileKey, name: str) -> Profile | None:
        """Change only the name, without making a revision; return the renamed profile, or None if there is none.

        A placeholder name changes nothing.
        """
        location, name = self._location(key), clean_name(name)
        with self._lock:
            current = self._current(location)
            if current is None or name in ("", current.profile.name):
                return current and current.profile
            newest = next(iter(self._revision_ids(location)), "")
            if newest and self._revision_equals(location, newest, current.data):  # as a crash may have left it
                self._disk.remove(location.revision(newest))
            return self._replace(location, current, codec.tidy(replace(current.profile, name=name)))

    @awaitable
    def revisions(self, key: ProfileKey) -> list[Revision]:
        """Return the readable revisions, newest first; a revision that equals the current file is left out."""
        location = self._location(key)
        current = self._current(location)
        return [
            Revision(past_id, replace(past.profile, version=""))
            for past_id in self._revision_ids(location)
            if (past := self._past(location, past_id)) and not (current and past.data == current.data)
        ]

    @awaitable
    def restore(
        self, key: ProfileKey, chosen: str, at: datetime, without: Callable[[Profile], Profile] = as_it_is
    ) -> Profile:
        """Make a revision the current profile; the current one becomes a revision. Raises UnknownRevision.

        ``at`` is the time of the change; ``without`` removes from the revision what must no longer be shown.
        """
        location = self._location(key)
        with self._lock:
            past = self._past(location, chosen) if is_revision_id(chosen) else None
            if past is None:
                raise UnknownRevision(sentences.caller.UNKNOWN_REVISION.format(revision_id=chosen))
            current = self._current(location)
            name = current.profile.name if current else past.profile.name
            rest = without(past.profile)
            return self._replace_keeping_revision(location, current, replace(rest, name=name, updated_at=at))

    @awaitable
    def keys(self) -> list[ProfileKey]:
        """Return the keys of all profiles, of every agent, sorted; files whose owner is unknown are left out."""
        there = (location for location in all_locations(self._root, self._disk) if self._disk.find(location.file))
        return sorted(filter(None, map(self._key_at, there)))

    @awaitable
    def add_revision(self, revision: Revision) -> bool:
        """Store an imported revision; return False if it is known or older than those kept."""
        location = self._location(revision.profile.key)
        with self._lock:
            ids = self._revision_ids(location)
            kept = sorted({revision.id, *ids}, reverse=True)[: self._keep]
            if revision.id in ids or revision.id not in kept or not is_revision_id(revision.id):
                return False
            self._create_folder(location.history)
            self._disk.create(location.revision(revision.id), codec.ProfileFile(codec.tidy(revision.profile)).written())
            self._prune(location)
            return True

    @awaitable
    def erase_person(self, user_id: str, hide: codec.Hide) -> list[ProfileKey]:
        """Remove a person's own profiles with their revisions, for every agent; hide the person in all others.

        ``hide`` returns a text without the person. Returns the keys of removed or reworded profiles. After an error,
        profiles done before stay erased.
        """
        name, touched = path_component(user_id), set[ProfileKey | None]()
        for location in all_locations(self._root, self._disk):
            is_theirs = location.entity_type != "group" and location.name == name
            touched.add(self._removed(location) if is_theirs else self._reworded(location, user_id, hide))
        return sorted(filter(None, touched))

    @awaitable
    def reword(self, key: ProfileKey, without: codec.Hide, events: Collection[str] = ()) -> bool:
        """Remove the lines of ``events`` from a profile and its revisions, and apply ``without`` to the other texts.

        Return whether anything changed.
        """
        return self._reworded(self._location(key), "", without, events) is not None

    @awaitable
    def erase(self, keys: Collection[ProfileKey]) -> list[ProfileKey]:
        """Remove these profiles with their revisions; return the keys for which anything existed."""
        return sorted({key for key in keys if self._removed(self._location(key))})

    @awaitable
    def erase_place(self, scope: Scope) -> list[ProfileKey]:
        """Remove the profiles of a group and its members, or of the person of a private chat, for one agent."""
        if scope.kind == "private":
            return sorted(filter(None, [self._removed(self._location(ProfileKey.user(scope.place_id, scope.agent)))]))
        group = self._location(ProfileKey.group(scope.place_id, scope.agent))
        members = locations_of(self._root, self._disk, group.agent, "member")
        touched = {self._removed(group), *(self._removed(one) for one in members if one.group == group.name)}
        member = self._location(ProfileKey.member(scope.place_id, "0", scope.agent))
        for folder in (member.history.parent, member.folder):
            self._remove_if_empty(folder)
        return sorted(filter(None, touched))

    def _removed(self, location: ProfileLocation) -> ProfileKey | None:
        """Remove everything at a location, last the file that states the key; return the key if anything existed."""
        with self._lock:
            past, there = self._files_of(location)
            key = self._key_at(location) if past or there else None
            for path in (*past, *sorted(there, key=lambda path: path == location.file)):
                self._remove(path)
            if there:
                self._disk.sync_folder(location.folder)
            self._remove_if_empty(location.history)
            self._recent.clear()
            return key

    def _reworded(
        self, location: ProfileLocation, user_id: str, hide: codec.Hide, events: Collection[str] = ()
    ) -> ProfileKey | None:
        """Hide a person in every file of a location; return its key if one changed."""
        with self._lock:
            if self._key_at(location):
                self._current(location)  # repairs a damaged file
            read = partial(self._read, location=location)
            cleaning = partial(codec.without_person, read=read, user_id=user_id, hide=hide, events=events)
            changed: set[Path] = set()
            past, there = self._files_of(location)
            for path in (*past, *there):
                if path.name.endswith(TEMP):
                    self._remove(path)
                elif self._disk.find(path) and self._disk.clean(path, cleaning) is not None:
                    changed.add(path.parent)
            for folder in changed:
                self._disk.sync_folder(folder)
            self._recent.clear()  # files that were parsed before
            return self._key_at(location) if changed else None

    def _files_of(self, location: ProfileLocation) -> tuple[list[Path], list[Path]]:
        """Return the revisions; and the profile's file, its drafts, and damaged copies beside it."""
        past = [location.history / name for name in self._disk.listed(location.history)]
        names = self._disk.listed(location.folder)
        return past, [location.folder / name for name in names if stem_of(name) == location.name]

    def _remove(self, path: Path) -> None:
        if path.is_dir() and not path.is_symlink():
            with refusals(path):
                self._disk.act("rmdir", shutil.rmtree, path)
        else:
            self._disk.remove(path)

    def _remove_if_empty(self, folder: Path) -> None:
        """Remove a folder if it is empty, because its name identifies somebody."""
        if folder.is_dir() and not folder.is_symlink():
            with refusals(folder):
                self._disk.act("rmdir", os.rmdir, folder)
            self._disk.sync_folder(folder.parent)

    def _key_at(self, location: ProfileLocation) -> ProfileKey | None:
        """Return the key of a location from its path or, if that has a hash, from its files; None if it is unknown."""
        with contextlib.suppress(PermanentError):
            return location.key()
        for path in (location.file, *self._files_of(location)[0]):
            with contextlib.suppress(PermanentError, Vanished):
                return self._read(self._disk.read(path), location).profile.key
        return None

    def _location(self, key: ProfileKey) -> ProfileLocation:
        return ProfileLocation.of(self._root, key)

    def _replace_keeping_revision(
        self, location: ProfileLocation, current: codec.ProfileFile | None, profile: Profile
    ) -> Profile:
        """Replace the current profile, which becomes a revision first."""
        profile = codec.tidy(profile)
        if current and profile == current.profile:
            return current.profile
        if current and self._keep:
            newest = next(iter(self._revision_ids(location)), "")
            if not newest or not self._revision_equals(location, newest, current.data):  # as a crash may have left it
                self._create_folder(location.history)
                self._disk.create(location.revision(revision_id(self._clock.now(), newest)), current.data)
        kept = self._replace(location, current, profile)
        self._prune(location)
        return kept

    def _replace(self, location: ProfileLocation, current: codec.ProfileFile | None, profile: Profile) -> Profile:
        """Replace a file atomically, unless it was changed in the meantime; then raise Overtaken."""
        others = current.others if current else ()
        data = codec.ProfileFile(profile, others).written()
        self._create_folder(location.folder)
        draft = location.file.with_name(location.file.name + TEMP)
        self._disk.draft(draft, data)
        overtaken = Overtaken(sentences.storage_errors.PROFILE_OVERTAKEN)
        try:
            if self._bytes(location.file) != (current.data if current else None):
                raise overtaken
            self._disk.put_in_place(draft, location.file)
        except Vanished:
            raise overtaken from None
        finally:
            self._disk.discard(draft)
        stored = replace(profile, version=codec.version_of(data))
        self._remember(location, codec.ProfileFile(stored, others, data))
        return stored

    def _create_folder(self, folder: Path) -> None:
        """Create a folder and its missing parents, accessible to their owner only.

        A process syncs each of them once, because a crash may have left it unsynced.
        """
        if folder in self._synced and folder.is_dir():
            return
        for level in reversed([folder, *(above for above in folder.parents if self._root in above.parents)]):
            if not level.is_dir():
                self._disk.make_folder(level)
            elif level in self._synced:
                continue
            self._disk.sync_folder(level.parent)
            self._synced.add(level)

    def _revision_equals(self, location: ProfileLocation, past_id: str, data: bytes) -> bool:
        """Return whether a revision has exactly these bytes."""
        with contextlib.suppress(PermanentError):
            return self._bytes(location.revision(past_id)) == data
        return False

    def _prune(self, location: ProfileLocation) -> None:
        """Remove the oldest revisions beyond the limit; after an error, the next call removes what remains."""
        with contextlib.suppress(StorageRefused):
            for name in self._disk.listed(location.history):
                if name.endswith(TEMP):
                    self._disk.remove(location.history / name)
            for past_id in self._revision_ids(location)[self._keep :]:
                self._disk.remove(location.revision(past_id))

    def _revision_ids(self, location: ProfileLocation) -> list[str]:
        """Return the ids of the revisions, newest first."""
        names = self._disk.listed(location.history)
        stems = (name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX))
        return sorted(filter(is_revision_id, stems), reverse=True)

    def _past(self, location: ProfileLocation, past_id: str) -> codec.ProfileFile | None:
        """Read a revision; None if it is gone or unreadable."""
        with contextlib.suppress(PermanentError):
            data = self._bytes(location.revision(past_id))
            return None if data is None else self._read(data, location)
        return None

    def _current(self, location: ProfileLocation) -> codec.ProfileFile | None:
        """Read the current profile; an unreadable file is first replaced by its newest readable revision."""
        try:
            return self._read_current(location)
        except PermanentError:
            with self._lock:
                return self._repaired(location)

    def _read_current(self, location: ProfileLocation) -> codec.ProfileFile | None:
        data, recent = self._bytes(location.file), self._recent.get(location)
        if data is None or (recent and recent.data == data):
            return recent if data is not None else None
        current = self._read(data, location)
        self._remember(location, current)
        return current

    def _remember(self, location: ProfileLocation, current: codec.ProfileFile) -> None:
        """Keep what a file holds for as long as it has the same bytes."""
        if len(self._recent) >= _RECENT:
            self._recent.clear()
        self._recent[location] = current

    def _repaired(self, location: ProfileLocation) -> codec.ProfileFile | None:
        """Copy an unreadable file aside and replace it by the newest readable revision, if there is one.

        The revision loses what was forgotten since. The copy is named after the file's time; what is no regular file is
        moved.
        """
        try:
            return self._read_current(location)  # another thread may have done it
        except PermanentError as damage:
            readable = (self._past(location, past_id) for past_id in self._revision_ids(location))
            past = next(filter(None, readable), None)
            if past and (profile := self._without_gone(past.profile)) != past.profile:
                rest = codec.ProfileFile(codec.tidy(profile), past.others)
                past = self._read(rest.written(), location)
            with refusals(location.file):
                changed_at = self._disk.act("stat", os.lstat, location.file).st_mtime
            at = datetime.fromtimestamp(min(max(changed_at, 0), self._clock.now().timestamp()), timezone.utc)
            copy = location.folder / f"{location.name}.damaged-{revision_id(at)}"
            if self._disk.find(location.file):
                self._disk.copy(location.file, copy)
            else:
                self._disk.move(location.file, copy)
            self._disk.sync_folder(location.folder)
            if past is None:
                self._disk.remove(location.file)
            else:
                self._disk.rewrite(location.file, past.data)
            words = sentences.storage_errors
            said = words.PROFILE_RESTORED if past else words.PROFILE_LOST
            log.warning("%s", said.format(reason=damage, path=copy))
            return past

    def _read(self, data: bytes, location: ProfileLocation) -> codec.ProfileFile:
        return codec.ProfileFile.read(data, location, self._zone, self._clock.now())

    def _bytes(self, path: Path) -> bytes | None:
        """Return a file's bytes, None if it is missing; raises PermanentError if it is not readable as a file."""
        try:
            return self._disk.read(path)
        except Vanished:
            return None
        except PermanentError as unreadable:
            cause = unreadable.__cause__
            if is_withheld(unreadable) and isinstance(cause, OSError):
                raise StorageRefused(
                    sentences.storage_errors.PROFILE_UNREADABLE.format(path=path, reason=reason_of(cause))
                ) from unreadable
            raise
