"""Permanent forgetting of people and places, in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from cognitive_memory_core.domain.belief import Belief, Change, without_changer, without_supporter
from cognitive_memory_core.domain.erasure_rules import texts_of, without_person
from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.fact import Fact
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.missed_event import MissedEvent
from cognitive_memory_core.domain.note import Memo, Pin
from cognitive_memory_core.domain.profile import Profile, ProfileKey
from cognitive_memory_core.domain.scope import Scope
from cognitive_memory_core.domain.tombstones import Tombstones, covered_until
from cognitive_memory_core.errors import UnavailableError
from cognitive_memory_core.ports.ledger import Copy, ErasedRows, PurgeState

from . import beliefs
from .state import InMemoryState
from .waiting_facts import goes_with

Note = TypeVar("Note", Memo, Pin, MissedEvent)
K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True)
class _WhereSeen:
    user_id: str
    places: frozenset[Scope]
    hide: Callable[[str], str]

    def of(self, said: Event | Message | Memo | Pin | MissedEvent | Belief | Change) -> Callable[[str], str]:
        """Return the function that hides the person in an item; nothing is hidden where they were never seen."""
        place = said.scene.scope if isinstance(said, Message) else said.scope
        subjects = said.subjects if isinstance(said, Event) else ()
        texts = (said.text,) if isinstance(said, MissedEvent) else texts_of(said)
        is_meant = place in self.places or any(self.user_id in text for text in (*texts, *subjects))
        return self.hide if is_meant else str


class InMemoryEraser:
    """Forgets people and places in a state; an opt-out and the switch of a private chat are kept."""

    def __init__(self, state: InMemoryState) -> None:
        """Use a state that other ports share."""
        self._state = state

    async def forget_person(self, user_id: str, at: datetime, hide: Callable[[str], str]) -> ErasedRows:
        """Erase a person's data and hide the person in what others said."""
        state = self._state
        self._lay(state.erased.of_person(user_id), at)
        words = _WhereSeen(user_id, self._places(user_id), hide)
        wiped = self._wiped(
            lambda event: is_of_person(event, user_id),
            lambda message: message.scene.user_id == user_id,
            lambda scope, owners: user_id in owners or (scope.kind == "private" and scope.place_id == user_id),
        )
        self._drop_profiles(lambda key: key.user_id == user_id)
        state.sharing.pop(user_id, None)
        _without(state.missed, [one.id for one in state.missed.values() if one.user_id == user_id])
        for one in [one for one in state.decisions.values() if one.decided_by == user_id]:
            state.decisions[one.id] = replace(one, decided_by="")
        state.drop_incognito(lambda period: period.user_id == user_id and period.ends_at <= at)
        reworded, joined = self._hidden_in_events(words)
        state.facts.reword(lambda fact: self._hidden_in_fact(fact, words), hide)
        for profile in list(state.profiles.values()):
            state.put_profile(_without_person(profile, hide))
        reworded += self._hidden_in_messages(words) + _hidden_in(state.memos, words) + _hidden_in(state.pins, words)
        reworded += _hidden_in(state.missed, words)
        beliefs, changed = self._hidden_in_beliefs(words)
        wiped = replace(wiped, beliefs=beliefs, reworded=reworded + changed)
        return replace(wiped, event_ids=(*wiped.event_ids, *joined))

    async def forget_place(self, scope: Scope, at: datetime) -> ErasedRows:
        """Erase everything of a place except its switch."""
        state = self._state
        fed = state.keys_with_facts_of(scope)
        state.drop_profiles([key for key in state.profiles if key in fed or goes_with(key, scope)])
        if scope.kind == "group":  # a person also has facts from other places
            state.facts.drop(lambda key: goes_with(key, scope))
        self._lay(state.erased.of_place(scope), at)
        wiped = self._wiped(
            lambda event: event.scope == scope,
            lambda message: message.scene.scope == scope,
            lambda place, _: place == scope,
        )
        state.drop_incognito(lambda period: period.scope == scope and period.ends_at <= at)
        state.facts.mark_unmerged(fed)
        changes = [one.id for one in state.belief_changes.values() if one.scope == scope]
        _without(state.belief_changes, changes)
        state.evolved.pop(scope, None)
        _without(state.decisions, [one.id for one in state.decisions.values() if one.scope == scope])
        _without(state.missed, [one.id for one in state.missed.values() if one.scope == scope])
        gone = [one.id for one in state.beliefs.values() if one.scope == scope]
        return replace(wiped, beliefs=_without(state.beliefs, gone))

    async def tombstones(self) -> Tombstones:
        """Return all tombstones with the key of their hashes."""
        return self._state.erased

    async def purge(self, at: datetime, *, is_over: bool = True) -> None:
        """Record that the purge is done, unless data remains elsewhere; there is no file to clean."""
        if is_over:
            self._state.purge_state = PurgeState(purged_at=at)

    async def purge_due(self) -> PurgeState:
        """Return since when erased data waits for a purge, if any does, and when the last purge was."""
        return self._state.purge_state

    async def copy_to(self, path: Path, at: datetime, *, name: Path | None = None) -> None:  # the port's
        """Raise, since there is no file to copy."""
        raise UnavailableError("nothing on disk")

    async def copies(self, *, made: Copy | None = None, deleted: str = "") -> list[Copy]:
        """Return the known copies, oldest first, after adding one and dropping another."""
        known = self._state.copies
        known.pop(deleted, None)
        if made is not None:
            known[made.path] = made
        return sorted(known.values(), key=lambda copy: (copy.at, copy.path))

    def _lay(self, digest: str, at: datetime) -> None:
        state = self._state
        marks = {**state.erased.marks, digest: covered_until(at, state.erased.marks.get(digest))}
        state.erased = replace(state.erased, marks=marks)
        due = min(state.purge_state.erased_at or at, at)
        state.purge_state = replace(state.purge_state, erased_at=due)

    def _drop_profiles(self, goes: Callable[[ProfileKey], bool]) -> None:
        self._state.facts.drop(goes)
        self._state.drop_profiles([key for key in self._state.profiles if goes(key)])

    def _wiped(
        self,
        event_goes: Callable[[Event], bool],
        message_goes: Callable[[Message], bool],
        row_goes: Callable[[Scope, Collection[str]], bool],
    ) -> ErasedRows:
        state = self._state
        event_ids = tuple(event.id for event in state.events.values() if event_goes(event))
        memo_ids = tuple(memo.id for memo in state.memos.values() if row_goes(memo.scope, {memo.user_id}))
        pins = list(state.pins.values())
        for event_id in event_ids:
            state.drop(event_id)
        _without(state.withdrawn, [place for place in state.withdrawn if row_goes(place[0], ())])
        return ErasedRows(
            events=len(event_ids),
            messages=_without(state.messages, [key for key, one in state.messages.items() if message_goes(one)]),
            memos=_without(state.memos, memo_ids),
            pins=_without(state.pins, [pin.id for pin in pins if row_goes(pin.scope, {pin.owner_id, pin.author_id})]),
            names=_without(state.names, [key for key in state.names if row_goes(key[0], {key[1]})]),
            event_ids=event_ids,
            memo_ids=memo_ids,
        )

    def _places(self, user_id: str) -> frozenset[Scope]:
        """Return the places where a person was seen; elsewhere their name may be somebody else's."""
        state = self._state
        events = {event.scope for event in state.events.values() if user_id in (event.sender_id, event.user_id)}
        lines = {line.scene.scope for line in state.messages.values() if line.scene.user_id == user_id}
        return frozenset(events | lines | {scope for scope, one, _ in state.names if one == user_id})

    def _hidden_in_events(self, words: _WhereSeen) -> tuple[int, list[str]]:
        state = self._state
        changed, joined, revision = 0, list[str](), state.next_revision()
        for old in list(state.events.values()):
            new = without_person(old, words.user_id, words.of(old))
            is_reworded = texts_of(new) != texts_of(old)
            changed += is_reworded
            twin = state.active_duplicate(new) if is_reworded and new.retired_at is None else None
            if twin is not None and twin.id != old.id:
                state.import_rows(twin, new)
                state.drop(old.id)
                joined.append(old.id)
            elif new is not old:
                state.reword(new, revision, keeps_vector=not is_reworded)
                state.facts.unhear(new.id)
        return changed, joined

    def _hidden_in_beliefs(self, words: _WhereSeen) -> tuple[int, int]:
        """Erase what only the person said and hide the person elsewhere; return the numbers of both."""
        state, gone, changed = self._state, list[Belief](), 0
        for old in list(state.beliefs.values()):
            new = without_supporter(old, words.user_id, words.of(old), beliefs.senders_of(state, old))
            if new is None:
                gone.append(old)
            else:
                state.put_belief(new)
                changed += new.statement != old.statement
        ids = {one.id for one in gone}
        _without(state.beliefs, ids)
        for one in gone:
            state.relink(one.chain_id)
        for change in list(state.belief_changes.values()):
            if change.belief_id in ids:
                del state.belief_changes[change.id]
                continue
            left = replace(change, old_id=None, old_statement="") if change.old_id in ids else change
            state.belief_changes[change.id] = without_changer(left, words.user_id, words.of(left))
        return len(gone), changed

    def _hidden_in_fact(self, fact: Fact, words: _WhereSeen) -> str:
        """Hide the person in a fact if it was learned where they were seen, or contains their id."""
        is_meant = self._state.events[fact.event_id].scope in words.places or words.user_id in fact.text
        return words.hide(fact.text) if is_meant else fact.text

    def _hidden_in_messages(self, words: _WhereSeen) -> int:
        messages = self._state.messages
        hidden = {place: words.of(message)(message.text) for place, message in messages.items()}
        changed = {place: text for place, text in hidden.items() if text != messages[place].text}
        messages.update({place: replace(messages[place], text=text) for place, text in changed.items()})
        return len(changed)


def _without_person(profile: Profile, hide: Callable[[str], str]) -> Profile:
    """Return a profile with a person hidden; a profile name that belongs to another person is kept."""
    name = profile.name if profile.key.user_id else hide(profile.name)
    tags = tuple(dict.fromkeys(map(hide, profile.tags)))
    return replace(profile, name=name, tags=tags, summary=hide(profile.summary))


def _hidden_in(notes: dict[str, Note], words: _WhereSeen) -> int:
    hidden = {one: replace(note, text=words.of(note)(note.text)) for one, note in notes.items()}
    changed = {one: note for one, note in hidden.items() if note != notes[one]}
    notes.update(changed)
    return len(changed)


def _without(rows: dict[K, V], keys: Iterable[K]) -> int:
    return len([rows.pop(key) for key in list(keys)])


def is_of_person(event: Event, user_id: str) -> bool:
    """Return whether an event is erased with a person: they said it, alone or first of several, or in private."""
    return event.sender_id == user_id or (
        event.user_id == user_id and (event.request_type == "private" or not event.sender_id)
    )
