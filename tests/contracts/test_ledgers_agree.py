"""Both ledgers are one ledger: whatever is done to them, in whatever order, they answer the same."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest

from cognitive_memory_core.adapters.inmemory import InMemoryLedger
from cognitive_memory_core.adapters.sqlite import SqliteLedger
from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.hit import Reading
from cognitive_memory_core.domain.interval import Interval
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.ports.ledger import Alias, ArchiveRow, EmbeddedEvent, Mark, OptOut, VectorRow, Wiped
from cognitive_memory_core.ports.models import Vector
from cognitive_memory_core.text.redaction import Redaction
from cognitive_memory_core.text.terms import query_terms
from tests.support.builders import GROUP, OPERATOR, OTHER_GROUP, PRIVATE, a_draft, a_message, an_event
from tests.support.clock import NOON, FrozenClock
from tests.support.ledgers import MODEL, Ledger, a_memo, a_pin, a_vector, archived, later

SCENES = (GROUP, OTHER_GROUP, PRIVATE, Scene.group("10001", "2000002"), Scene.private("2000002"))
PEOPLE = ("2000001", "2000002", "2000003")
MESSAGES = tuple(f"m-{number}" for number in range(6))
SAID = ("喜欢乌龙茶", "不喜欢乌龙茶", "乌龙茶，喜欢", "住在上海", "养了一只猫", "猫不见了")
TEXTS = (*SAID, "阿棠(2000003)养了猫", "小林养了猫")
READINGS = (
    *(Reading(scene) for scene in (*SCENES, OPERATOR)),
    Reading(OPERATOR, user_id="2000003"),
    Reading(GROUP, without=frozenset({"2000002"})),
    Reading(GROUP, kinds=("preference",)),
    Reading(PRIVATE, group_id="10002"),
    Reading(OPERATOR, window=Interval(later(hours=-10), later(hours=10))),
)
Act = Callable[[Ledger], Awaitable[object]]


@dataclass
class Dice:
    """Makes up what happens next."""

    chance: random.Random

    def act(self) -> Act:
        """Choose one thing that can be done to a ledger."""
        often = [self.commit, self.commit, self.store, self.withdraw, self.append, self.retire, self.restore]
        seldom = [self.opt_out, self.opt_in, self.absorb, self.prune, self.note, self.write_notes, self.forget]
        return self.chance.choice([*often, *often, *seldom, *seldom[:-1]])()

    def commit(self) -> Act:
        """Write a draft, sometimes one that was written before."""
        draft = a_draft(*self.events(), job_id=f"job{self.chance.randrange(60)}")
        return lambda ledger: ledger.events.commit(draft)

    def absorb(self) -> Act:
        """Import a few rows."""
        rows = [*(EmbeddedEvent(event, MODEL, self.vector()) for event in self.events()), *self.messages(), a_memo()]
        return lambda ledger: ledger.archive.absorb(rows)

    def store(self) -> Act:
        """Give some events their vectors, some by another model."""
        rows = [VectorRow(self.event_id(), self.vector()) for _ in range(4)]
        model = self.chance.choice([MODEL, MODEL, MODEL, "another"])
        return lambda ledger: ledger.shelf.store(model, rows)

    def withdraw(self) -> Act:
        """Withdraw a message, seen or not."""
        place, message_id, at = self.scene().scope, self.chance.choice(MESSAGES), self.moment()
        return lambda ledger: ledger.log.withdraw(place, message_id, at)

    def append(self) -> Act:
        """Log some messages."""
        lines = self.messages()
        return lambda ledger: ledger.log.append(lines)

    def retire(self) -> Act:
        """Forget an event."""
        event_id, at = self.event_id(), self.moment()
        return lambda ledger: ledger.events.retire(event_id, at)

    def restore(self) -> Act:
        """Remember it again."""
        event_id = self.event_id()
        return lambda ledger: ledger.events.restore(event_id)

    def opt_out(self) -> Act:
        """Let somebody be left out from now on."""
        return lambda ledger: ledger.consent.opt_out("2000003", NOON)

    def opt_in(self) -> Act:
        """And back."""
        return lambda ledger: ledger.consent.opt_in("2000003")

    def prune(self) -> Act:
        """Drop what is old."""
        before = later(hours=self.chance.randrange(-30, -20))
        return lambda ledger: ledger.log.prune(before)

    def note(self) -> Act:
        """Hear a name."""
        place, person, at = self.scene().scope, self.chance.choice(PEOPLE), self.moment()
        name = self.chance.choice(["阿棠", "小林", " "])
        return lambda ledger: ledger.names.note(place, person, name, at)

    def write_notes(self) -> Act:
        """Write a memo and a pin down."""
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
        """Make up to three events; ids and texts meet often."""
        return [self.event() for _ in range(self.chance.randrange(1, 4))]

    def event(self) -> Event:
        """Make one event."""
        return an_event(
            self.chance.choice(TEXTS),
            self.scene(),
            id=self.event_id(),
            sender_id=self.chance.choice(PEOPLE),
            subjects=tuple(self.chance.sample(PEOPLE, self.chance.choice([0, 1, 1, 2]))),
            message_ids=tuple(self.chance.sample(MESSAGES, self.chance.choice([0, 1, 2]))),
            kind=self.chance.choice(["event", "preference"]),
            happened_at=self.moment(),
        )

    def messages(self) -> list[Message]:
        """Make two messages, with ids that may be known."""
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
        """Choose one of a few ids."""
        return f"event{self.chance.randrange(80)}"

    def scene(self) -> Scene:
        """Choose a place."""
        return self.chance.choice(SCENES)

    def moment(self) -> datetime:
        """Choose a time that no other has."""
        return later(seconds=self.chance.randrange(-100_000, 100_000), microseconds=self.chance.randrange(1_000_000))

    def vector(self) -> Vector:
        """Point anywhere."""
        return a_vector(*(self.chance.gauss(0, 1) for _ in range(3)))


async def forgotten(ledger: Ledger, person: str, at: datetime) -> Wiped:
    """Erase a person with the names that the ledger knows."""
    return await ledger.eraser.forget_person(person, at, Redaction.of([person], await ledger.names.names_of([person])))


async def seen(ledger: Ledger) -> list[object]:
    """Look at everything that a ledger answers."""
    answers: list[object] = [await ledger.archive.totals(), await ledger.consent.opted_out()]
    answers += [await ledger.shelf.waiting(model, 9) for model in ("another", MODEL)]
    answers += [await ledger.shelf.dimensions(MODEL), await ledger.shelf.embedded_ids(MODEL)]
    answers += [await ledger.eraser.purge_due()]
    answers += [[(one.event_id, one.row) for one in await ledger.shelf.changes(MODEL, Mark(), 999)]]
    answers += [[await ledger.events.done(f"job{number}") for number in range(60)]]
    answers += [[await ledger.events.find(f"event{number}") for number in range(80)]]
    answers += [await ledger.log.recent(scene.scope, 3, before=later(hours=5)) for scene in SCENES]
    answers += [await ledger.names.people(scene.scope) for scene in SCENES]
    answers += [sorted(await archived(ledger), key=identity)]
    for reading in READINGS:
        answers += [await ledger.events.recent(reading, 7, 2), await found(ledger, reading)]
    return answers


def identity(row: ArchiveRow) -> tuple[str, ...]:
    """Say which row it is, whatever stands in it."""
    match row:
        case EmbeddedEvent():
            return ("event", row.event.id)
        case Message():
            return ("message", row.scene.scope.key, row.id)
        case Alias():
            return ("alias", row.scope.key, row.user_id, row.name)
        case OptOut():
            return ("consent", row.user_id)
        case _:
            return ("note", row.id)


async def found(ledger: Ledger, reading: Reading) -> list[object]:
    """Give what is found by words, and by vectors with their cosines."""
    terms = query_terms("乌龙茶 猫")
    events = [event.id for event, _ in await ledger.lexical.events(terms, reading, 99)]
    lines = [(line.id, line.scene.scope) for line, _ in await ledger.lexical.messages(terms, reading, 99)]
    near = await ledger.index.nearest(a_vector(1, 0, 0), reading, 99)
    return [sorted(events), sorted(lines), [(event_id, round(cosine, 4)) for event_id, cosine in near]]


@pytest.mark.parametrize("seed", range(6))
async def test_the_same_acts_lead_to_the_same_answers(tmp_path: Path, seed: int) -> None:
    """After any mixture of writes both ledgers hold, hide and find the same."""
    dice = Dice(random.Random(seed))
    on_disk = await SqliteLedger.open(tmp_path / "ledger.db", clock=FrozenClock())
    in_memory = InMemoryLedger(clock=FrozenClock())
    for step in range(120):
        act = dice.act()
        assert await act(on_disk) == await act(in_memory)
        if step % 10 == 9:
            assert await seen(on_disk) == await seen(in_memory)
    assert (await on_disk.archive.totals()).events > 5
    await on_disk.close()
