"""Both ledgers answer the same after any sequence of operations."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import pytest

from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.interval import Interval
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.profile import Profile, ProfileKey
from cognitive_memory_core.domain.read_filter import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.ports.ledger import (
    Alias,
    ArchiveRow,
    Checkpoint,
    EmbeddedEvent,
    ErasedRows,
    OptOut,
    Shared,
    VectorRow,
)
from cognitive_memory_core.ports.models import Vector
from cognitive_memory_core.store.ledger import SqliteLedger
from cognitive_memory_core.text.lexical.terms import query_terms
from cognitive_memory_core.text.safety.redaction import Redaction
from tests.inmemory import InMemoryLedger
from tests.support.builders import GROUP, OPERATOR, OTHER_GROUP, PRIVATE, a_draft, a_message, an_event
from tests.support.clock import NOON, FrozenClock
from tests.support.ledgers import MODEL, Ledger, a_fact, a_memo, a_pin, a_profile, a_vector, archived, later

SCENES = (GROUP, OTHER_GROUP, PRIVATE, Scene.group("10001", "2000002"), Scene.private("2000002"))
PEOPLE = ("2000001", "2000002", "2000003")
MESSAGES = tuple(f"m-{number}" for number in range(6))
SAID = ("喜欢乌龙茶", "不喜欢乌龙茶", "乌龙茶，喜欢", "住在上海", "养了一只猫", "猫不见了")
TEXTS = (*SAID, "阿棠(2000003)养了猫", "小林养了猫")
HEARD = ("我喜欢乌龙茶", "我喜欢乌龙茶！", "阿棠养了猫", "")
KEYS = (
    *(ProfileKey.user(person) for person in PEOPLE),
    *(ProfileKey.member(group, person) for group in ("10001", "10002") for person in PEOPLE),
    ProfileKey.group("10001"),
    ProfileKey.group("10002"),
)
READ_FILTERS = (
    *(ReadFilter(scene) for scene in (*SCENES, OPERATOR)),
    ReadFilter(OPERATOR, user_id="2000003"),
    ReadFilter(GROUP, without=frozenset({"2000002"})),
    ReadFilter(GROUP, kinds=("preference",)),
    ReadFilter(PRIVATE, group_id="10002"),
    ReadFilter(OPERATOR, window=Interval(later(hours=-10), later(hours=10))),
)
Act = Callable[[Ledger], Awaitable[object]]


@dataclass
class Dice:
    """Generates random operations."""

    chance: random.Random

    def act(self) -> Act:
        """Return one random operation on a ledger."""
        often = [self.commit, self.commit, self.store, self.withdraw, self.append, self.retire, self.restore]
        often += [self.learn, self.learn, self.put, self.put, self.store_profile]
        seldom = [self.opt_out, self.opt_in, self.import_rows, self.prune, self.note, self.write_notes, self.forget]
        seldom += [self.settle, self.fail, self.share, self.remove]
        return self.chance.choice([*often, *often, *seldom, *(act for act in seldom if act != self.forget)])()

    def commit(self) -> Act:
        """Commit a draft, sometimes one with a known job id."""
        draft = a_draft(*self.events(), job_id=f"job{self.chance.randrange(60)}")
        return lambda ledger: ledger.events.commit(draft)

    def learn(self) -> Act:
        """Commit a draft with facts, repetitions and wordings."""
        events = self.events()
        told = [a_fact(event, self.chance.choice(KEYS), text=self.chance.choice(TEXTS)) for event in events * 2]
        draft = replace(
            a_draft(*events, job_id=f"job{self.chance.randrange(60)}"),
            facts=tuple(told),
            repeats={event.id: self.event_id() for event in events if self.chance.random() < 0.5},
            observations={event.id: self.chance.choice(HEARD) for event in events},
        )
        return lambda ledger: ledger.events.commit(draft)

    def settle(self) -> Act:
        """Settle some of a profile's waiting facts."""
        key, most = self.chance.choice(KEYS), self.chance.randrange(4)

        async def settle(ledger: Ledger) -> None:
            facts = await ledger.facts.facts(key, most)
            await ledger.facts.mark_merged(key, facts)

        return settle

    def fail(self) -> Act:
        """Record a failed merge."""
        key, error, at = self.chance.choice(KEYS), self.chance.choice(TEXTS), self.moment()
        return lambda ledger: ledger.facts.fail(key, error, at)

    def put(self) -> Act:
        """Put a profile, sometimes with unchanged text."""
        profile = self.profile()
        return lambda ledger: ledger.profiles.put(profile)

    def store_profile(self) -> Act:
        """Store a profile's vector if its text still matches."""
        profile, vector, model = self.profile(), self.vector(), self.chance.choice([MODEL, MODEL, "another"])
        return lambda ledger: ledger.profiles.store(model, profile, vector)

    def remove(self) -> Act:
        """Remove profiles."""
        keys = self.chance.sample(KEYS, 2)
        return lambda ledger: ledger.profiles.remove(keys)

    def share(self) -> Act:
        """Share a profile, or stop sharing it."""
        person, is_open, at = self.chance.choice(PEOPLE), self.chance.random() < 0.6, self.moment()
        return lambda ledger: ledger.consent.set_sharing(person, shared=is_open, at=at)

    def import_rows(self) -> Act:
        """Import a few rows."""
        share = Shared(self.chance.choice(PEOPLE), self.moment())
        rows = [
            share,
            *(EmbeddedEvent(event, MODEL, self.vector()) for event in self.events()),
            *self.messages(),
            a_memo(),
        ]
        return lambda ledger: ledger.archive.import_rows(rows)

    def store(self) -> Act:
        """Store vectors of some events, some of another model."""
        rows = [VectorRow(self.event_id(), self.vector()) for _ in range(4)]
        model = self.chance.choice([MODEL, MODEL, MODEL, "another"])
        return lambda ledger: ledger.vectors.store(model, rows)

    def withdraw(self) -> Act:
        """Withdraw a message, known or not."""
        place, message_id, at = self.scene().scope, self.chance.choice(MESSAGES), self.moment()
        return lambda ledger: ledger.log.withdraw(place, message_id, at)

    def append(self) -> Act:
        """Log some messages."""
        lines = self.messages()
        return lambda ledger: ledger.log.append(lines)

    def retire(self) -> Act:
        """Retire an event."""
        event_id, at = self.event_id(), self.moment()
        return lambda ledger: ledger.events.retire(event_id, at)

    def restore(self) -> Act:
        """Restore an event."""
        event_id = self.event_id()
        return lambda ledger: ledger.events.restore(event_id)

    def opt_out(self) -> Act:
        """Opt a person out."""
        return lambda ledger: ledger.consent.opt_out("2000003", NOON)

    def opt_in(self) -> Act:
        """Opt the person in."""
        return lambda ledger: ledger.consent.opt_in("2000003")

    def prune(self) -> Act:
        """Prune the log."""
        before = later(hours=self.chance.randrange(-30, -20))
        return lambda ledger: ledger.log.prune(before)

    def note(self) -> Act:
        """Note a name."""
        place, person, at = self.scene().scope, self.chance.choice(PEOPLE), self.moment()
        name = self.chance.choice(["阿棠", "小林", " "])
        return lambda ledger: ledger.names.note(place, person, name, at)

    def write_notes(self) -> Act:
        """Write a memo and a pin."""
        memo = a_memo(self.chance.choice(TEXTS), self.scene(), self.moment(), user_id=self.chance.choice(PEOPLE))
        pin = a_pin(self.chance.choice(TEXTS), self.scene(), self.moment(), owner_id=self.chance.choice(["", *PEOPLE]))

        async def write(ledger: Ledger) -> None:
            await ledger.notes.write_memo(memo)
            await ledger.notes.write_pin(pin)

        return write

    def forget(self) -> Act:
        """Erase a person, or a place."""
        person, place, at = self.chance.choice(PEOPLE), self.scene().scope, later(seconds=-90_000)
        if self.chance.random() < 0.3:
            return lambda ledger: ledger.eraser.forget_place(place, at)
        return lambda ledger: forgotten(ledger, person, at)

    def events(self) -> list[Event]:
        """Return up to three events, often with equal ids and texts."""
        return [self.event() for _ in range(self.chance.randrange(1, 4))]

    def event(self) -> Event:
        """Return one event."""
        return an_event(
            self.chance.choice(TEXTS),
            self.scene(),
            id=self.event_id(),
            sender_id=self.chance.choice(PEOPLE),
            subjects=tuple(self.chance.sample(PEOPLE, self.chance.choice([0, 1, 1, 2]))),
            message_ids=tuple(self.chance.sample(MESSAGES, self.chance.choice([0, 1, 2]))),
            kind=self.chance.choice(["event", "preference"]),
            happened_at=self.moment(),
            is_absolute=self.chance.random() < 0.6,
        )

    def profile(self) -> Profile:
        """Return a profile, often with equal text."""
        words, tags = self.chance.choice(TEXTS), tuple(self.chance.sample(TEXTS, self.chance.randrange(2)))
        version = str(self.chance.randrange(3))
        return a_profile(self.chance.choice(KEYS), words, name="阿棠的群", tags=tags, version=version)

    def messages(self) -> list[Message]:
        """Return two messages, possibly with known ids."""
        return [
            a_message(
                self.chance.choice(TEXTS),
                self.scene(),
                self.moment(),
                id=self.chance.choice(MESSAGES),
                is_bot=self.chance.random() < 0.3,
            )
            for _ in range(2)
        ]

    def event_id(self) -> str:
        """Return one of a few ids."""
        return f"event{self.chance.randrange(80)}"

    def scene(self) -> Scene:
        """Return a random scene."""
        return self.chance.choice(SCENES)

    def moment(self) -> datetime:
        """Return a random unique time."""
        return later(seconds=self.chance.randrange(-100_000, 100_000), microseconds=self.chance.randrange(1_000_000))

    def vector(self) -> Vector:
        """Return a random vector."""
        return a_vector(*(self.chance.gauss(0, 1) for _ in range(3)))


async def forgotten(ledger: Ledger, person: str, at: datetime) -> ErasedRows:
    """Erase a person with the names that the ledger knows."""
    return await ledger.eraser.forget_person(person, at, Redaction.of([person], await ledger.names.names_of([person])))


async def seen(ledger: Ledger) -> list[object]:
    """Return everything that a ledger answers."""
    answers: list[object] = [await ledger.archive.totals(), await ledger.consent.opted_out()]
    answers += [await ledger.vectors.waiting(model, 9) for model in ("another", MODEL)]
    answers += [await ledger.vectors.dimensions(MODEL), await ledger.vectors.embedded_ids(MODEL)]
    answers += [await ledger.eraser.purge_due()]
    answers += [[(one.event_id, one.row) for one in await ledger.vectors.changes(MODEL, Checkpoint(), 999)]]
    answers += [[await ledger.events.done(f"job{number}") for number in range(60)]]
    answers += [[await ledger.events.find(f"event{number}") for number in range(80)]]
    answers += [await ledger.log.recent(scene.scope, 3, before=later(hours=5)) for scene in SCENES]
    people = [person for scene in SCENES for person in await ledger.names.people(scene.scope)]
    answers += [people, [person.aliases for person in people]]
    answers += [await learned(ledger), await profiles(ledger)]
    answers += [sorted(await archived(ledger), key=identity)]
    for read_filter in READ_FILTERS:
        answers += [await ledger.events.recent(read_filter, 7, 2), await found(ledger, read_filter)]
    return answers


async def learned(ledger: Ledger) -> list[object]:
    """Return what waits for profiles, and which wordings match."""
    observations = [
        await ledger.facts.events_of_observations(scene.scope, person, HEARD) for scene in SCENES for person in PEOPLE
    ]
    given = [await ledger.facts.facts(key, 3) for key in KEYS]
    return [await ledger.facts.waiting(), await ledger.facts.keys_to_update(), given, observations]


async def profiles(ledger: Ledger) -> list[object]:
    """Return the profiles as seen from every scene."""
    shared = await ledger.consent.shared()
    scenes = [(scene, opened) for scene in (*SCENES, OPERATOR) for opened in (shared, None)]
    rows = [sorted(await ledger.profiles.readable(*one, MODEL), key=lambda row: row.profile.key) for one in scenes]
    waiting = [await ledger.profiles.waiting(model, 3) for model in (MODEL, "another")]
    return [shared, rows, waiting, await ledger.profiles.versions()]


def identity(row: ArchiveRow) -> tuple[str, ...]:
    """Return what identifies a row, whatever its content."""
    match row:
        case EmbeddedEvent():
            return ("event", row.event.id)
        case Message():
            return ("message", row.scene.scope.key, row.id)
        case Alias():
            return ("alias", row.scope.key, row.user_id, row.name)
        case OptOut() | Shared():
            return ("consent", type(row).__name__, row.user_id)
        case _:
            return ("note", row.id)


async def found(ledger: Ledger, read_filter: ReadFilter) -> list[object]:
    """Return what is found by words, and by vectors with their cosines."""
    terms = query_terms("乌龙茶 猫")
    events = [event.id for event, _ in await ledger.lexical.events(terms, read_filter, 99)]
    lines = [(line.id, line.scene.scope) for line, _ in await ledger.lexical.messages(terms, read_filter, 99)]
    near = await ledger.index.nearest(a_vector(1, 0, 0), read_filter, 99)
    return [sorted(events), sorted(lines), [(event.id, round(cosine, 4)) for event, cosine in near]]


async def counted(ledger: Ledger) -> Counter[str]:
    """Return how much content there is to compare."""
    facts = sum(waiting.facts for waiting in await ledger.facts.waiting())
    profiles = len(await ledger.profiles.versions())
    return Counter(events=(await ledger.archive.totals()).events, facts=facts, profiles=profiles)


@pytest.mark.parametrize("seed", range(6))
async def test_the_same_acts_lead_to_the_same_answers(tmp_path: Path, seed: int) -> None:
    """After any sequence of writes both ledgers hold, hide and find the same."""
    dice = Dice(random.Random(seed))
    on_disk = await SqliteLedger.open(tmp_path / "ledger.db", clock=FrozenClock())
    in_memory = InMemoryLedger(clock=FrozenClock())
    most: Counter[str] = Counter()
    for step in range(160):
        act = dice.act()
        assert await act(on_disk) == await act(in_memory)
        if step % 10 == 9:
            assert await seen(on_disk) == await seen(in_memory)
        most |= await counted(on_disk)
    assert min(most[noun] for noun in ("events", "facts", "profiles")) > 2
    await on_disk.close()
