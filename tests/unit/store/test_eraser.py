"""The contract of Eraser: erased data is found nowhere and cannot come back; all other data is unchanged."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest

from cognitive_memory_core.domain.consent import OptOut, Shared
from cognitive_memory_core.domain.erasure import Erasure
from cognitive_memory_core.domain.event import Event
from cognitive_memory_core.domain.people import Alias
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.ports import EmbeddedEvent
from cognitive_memory_core.store.archive import ArchiveRow
from cognitive_memory_core.text.redaction import Redaction
from cognitive_memory_core.text.terms import query_terms
from tests.support.builders import GROUP, OPERATOR, OTHER_GROUP, PRIVATE, a_draft, a_message, an_event
from tests.support.clock import NOON
from tests.support.ledgers import (
    MODEL,
    Ledger,
    a_ledger,
    a_memo,
    a_pin,
    a_vector,
    archived,
    committed,
    embedded,
    events_near,
    events_with,
    later,
    name_person,
    shown,
)
from tests.support.lines import lines_with

GONE = "2000001"
NAMES = ("阿棠", "海棠未眠")
HIDE = Redaction.of([GONE], NAMES)
OTHER = Scene.group("10001", "2000002", user_name="小林")
OTHER_PRIVATE = Scene.private("2000002", user_name="小林")
ANOTHER_AGENT = replace(PRIVATE, agent="another")
EVENING = later(hours=8)


async def forgotten(ledger: Ledger) -> Erasure:
    """Erase the person at evening."""
    return (await ledger.eraser.forget_person(GONE, EVENING, HIDE))[0]


async def found(ledger: Ledger, question: str, scene: Scene = OPERATOR) -> list[str]:
    """Return the texts of events and messages found by words."""
    terms = query_terms(question)
    events = await events_with(ledger.corpora, terms, ReadFilter(scene), 99)
    lines = await lines_with(ledger.corpora, terms, ReadFilter(scene), 99)
    return [event.text for event, _ in events] + [line.text for line, _ in lines]


def identity(row: ArchiveRow) -> tuple[str, ...]:
    """Return what identifies a row even after its text was changed."""
    if isinstance(row, Alias):
        return ("alias", row.scope.key, row.user_id, row.name)
    if isinstance(row, OptOut | Shared):
        return ("wish", type(row).__name__, row.user_id)
    return ("said", row.event.id if isinstance(row, EmbeddedEvent) else row.id)


async def test_two_events_that_say_the_same_without_the_person_become_one(ledger: Ledger) -> None:
    """Two events that become equal without the person's name are merged into the first."""
    first = an_event("阿棠请客了", OTHER, message_ids=("m-1",))
    second = an_event("海棠未眠请客了", OTHER, message_ids=("m-2",), happened_at=later(hours=1))
    aside = an_event("阿棠请客了", replace(OTHER, user_id="2000003"))
    await embedded(ledger, [(event, a_vector(1, 0)) for event in (first, second, aside)])
    await name_person(ledger, GROUP.scope, GONE, "阿棠", NOON)
    await name_person(ledger, GROUP.scope, GONE, "海棠未眠", NOON)
    wiped = await forgotten(ledger)
    assert (wiped.events, wiped.reworded) == (0, 3)
    assert await ledger.events.find(second.id) is None
    left = replace(first, text="某位成员请客了", count=2, last_seen_at=later(hours=1), message_ids=("m-1", "m-2"))
    assert await ledger.events.find(first.id) == left
    assert await ledger.events.find(second.id) is None
    assert await ledger.log.withdraw(GROUP.scope, "m-1", NOON) == 0
    assert await ledger.log.withdraw(GROUP.scope, "m-2", NOON) == 1
    assert len(await found(ledger, "请客")) == 1


async def test_a_reworded_event_is_found_as_a_duplicate_of_what_is_said_later(ledger: Ledger) -> None:
    """After an erasure an event's new text is compared for duplicates, the old one no longer."""
    event = an_event("阿棠请客了", OTHER)
    await committed(ledger, event)
    await name_person(ledger, GROUP.scope, GONE, "阿棠", NOON)
    await forgotten(ledger)
    await committed(ledger, an_event("某位成员请客了", OTHER, happened_at=later(days=1)))
    standing = await ledger.events.find(event.id)
    assert standing is not None
    assert standing.count == 2
    await committed(ledger, an_event("阿棠请客了", OTHER, happened_at=later(days=1)))
    assert (await ledger.archive.totals()).events == 2


async def test_a_job_of_what_was_forgotten_is_done_all_the_same(ledger: Ledger) -> None:
    """A job whose events are rejected because of an erasure still counts as done."""
    await forgotten(ledger)
    await ledger.events.commit(a_draft(an_event("我说的"), job_id="job"))
    assert await ledger.events.done("job")


async def test_withdrawals_of_what_was_forgotten_go_too(ledger: Ledger) -> None:
    """Erasing a person removes withdrawal marks that identify them, and the withdrawn lines still stay out."""
    await ledger.log.withdraw(PRIVATE.scope, "m-1", NOON)
    await ledger.log.withdraw(OTHER_PRIVATE.scope, "m-1", NOON)
    await forgotten(ledger)
    late = [a_message("晚", PRIVATE, later(days=1), id="m-1"), a_message("晚", OTHER_PRIVATE, later(days=1), id="m-1")]
    await ledger.log.append(late)
    assert await archived(ledger) == late[:1]


async def test_tombstones_tell_nobodys_id_and_keep_the_latest_time(ledger: Ledger) -> None:
    """A tombstone reveals no id without its key, and repeated erasures keep the latest time."""
    assert not (await ledger.eraser.tombstones()).marks
    key = (await ledger.eraser.tombstones()).key
    await forgotten(ledger)
    await ledger.eraser.forget_person(GONE, NOON, HIDE)
    await ledger.eraser.forget_place(GROUP.scope, NOON)
    tombstones = await ledger.eraser.tombstones()
    assert len(key) == 32
    assert tombstones.key == key
    assert GONE not in repr(tombstones)
    assert tombstones.covers(None, (GONE,), EVENING)
    assert not tombstones.covers(None, (GONE,), later(days=1))
    assert not tombstones.covers(None, ("2000002",), NOON)
    assert tombstones.covers(GROUP.scope, (), NOON)
    assert not tombstones.covers(GROUP.scope, (), EVENING)


async def test_a_name_counts_only_where_its_bearer_was_seen(ledger: Ledger) -> None:
    """A name is hidden only in places where the person had it, or where their id stands beside it."""
    elsewhere = Scene.group("10009", "2000002")
    events = [an_event(text, scene) for scene in (OTHER, elsewhere) for text in ("阿棠请客", "阿棠和2000001请客")]
    await committed(ledger, *events)
    lines = [a_message("阿棠呢", scene, id=f"m-{scene.group_id}") for scene in (OTHER, elsewhere)]
    rows = [a_memo("阿棠", elsewhere, user_id="2000002", id="memo"), a_pin("阿棠", elsewhere, id="pin")]
    await ledger.archive.import_rows([*lines, *rows, Alias(GROUP.scope, GONE, "阿棠", NOON, NOON)])
    await forgotten(ledger)
    here = ["某位成员和某位成员请客", "某位成员请客"]
    assert sorted(await shown(ledger, GROUP)) == here
    assert sorted(await shown(ledger, elsewhere)) == sorted(["阿棠请客", here[0]])
    assert [line.text for line in await ledger.log.recent(GROUP.scope, 9)] == ["某位成员呢"]
    assert [line.text for line in await ledger.log.recent(elsewhere.scope, 9)] == ["阿棠呢"]
    assert [memo.text for memo in await ledger.notes.memos(elsewhere.scope, 9)] == ["阿棠"]
    assert [pin.text for pin in await ledger.notes.pins(elsewhere.scope)] == ["阿棠"]


async def test_a_later_wish_mends_what_a_wrong_clock_covered(ledger: Ledger) -> None:
    """A tombstone dated years ahead is corrected by the next erasure; one dated hours ahead is kept."""
    for ahead, is_kept in ((3650, True), (0.5, False)):
        await ledger.eraser.forget_person(GONE, EVENING + timedelta(days=ahead), HIDE)
        await forgotten(ledger)
        event = an_event(f"新的话{ahead}", happened_at=EVENING + timedelta(hours=1))
        await committed(ledger, event)
        assert (await ledger.events.find(event.id) is not None) is is_kept


SCENES = (GROUP, OTHER_GROUP, PRIVATE, ANOTHER_AGENT, OTHER, OTHER_PRIVATE, Scene.group("10002", "2000003"))
PLACES = tuple({scene.scope: None for scene in SCENES})
READERS = (*SCENES, OPERATOR, Scene.operator("another"), Scene.private("2000003"))
FORBIDDEN = (GONE, *NAMES, "秘密")
Write = Callable[[Ledger], Awaitable[object]]


@dataclass
class History:
    """Generates writes: each for a ledger that knows the person, and for one that never did, if it is allowed there."""

    chance: random.Random
    number: int = 0

    def write(self) -> tuple[Write, Write | None]:
        """Return the next random write."""
        self.number += 1
        return self.chance.choice([self.event, self.event, self.message, self.note, self.name])()

    def event(self) -> tuple[Write, Write | None]:
        """Return the write of an event, with or without a vector."""
        scene, subjects = (
            self.scene(),
            tuple(self.chance.sample([GONE, "2000002", "2000003"], self.chance.randrange(3))),
        )
        speaker = self.chance.choice([scene.user_id, "2000002", ""])
        is_theirs = speaker == GONE or (scene.user_id == GONE and (scene.kind == "private" or not speaker))
        text = self.text(secret=is_theirs)
        lesson = dict.fromkeys(("pain", "solution", "outcome"), text) if self.number % 3 else {}
        event = an_event(text, scene, sender_id=speaker, subjects=subjects, happened_at=self.moment(), **lesson)
        left = replace(
            event,
            **dict.fromkeys(("text", *lesson), HIDE(text)),
            subjects=tuple(one for one in subjects if one != GONE),
            user_id="" if scene.user_id == GONE else scene.user_id,
        )
        return _told(event), None if is_theirs else _told(left, is_embedded=left.text == text)

    def message(self) -> tuple[Write, Write | None]:
        """Return the write of a message by a person or the bot."""
        scene = self.scene()
        is_theirs = scene.user_id == GONE
        is_bot = self.chance.random() < 0.3
        line = a_message(self.text(secret=is_theirs), scene, self.moment(), id=f"m-{self.number}", is_bot=is_bot)
        left = replace(line, text=HIDE(line.text))
        return (lambda one: one.log.append([line])), (None if is_theirs else lambda one: one.log.append([left]))

    def note(self) -> tuple[Write, Write | None]:
        """Return the write of a memo and a pin."""
        scene, person = self.scene(), self.chance.choice([GONE, "2000002", ""])
        is_theirs = GONE in (person, scene.scope.place_id)
        text = self.text(secret=is_theirs)
        rows = (
            a_memo(text, scene, self.moment(), user_id=person, id=f"memo-{self.number}"),
            a_pin(text, scene, self.moment(), owner_id=person, id=f"pin-{self.number}"),
        )
        left = [replace(row, text=HIDE(text)) for row in rows]
        return (lambda one: one.archive.import_rows(rows)), (
            None if is_theirs else lambda one: one.archive.import_rows(left)
        )

    def name(self) -> tuple[Write, Write | None]:
        """Return the write of a name."""
        place, person, at = self.scene().scope, self.chance.choice([GONE, "2000002"]), self.moment()
        name = self.chance.choice(NAMES) if person == GONE else "小林"
        is_theirs = GONE in (person, place.place_id)
        return (lambda one: name_person(one, place, person, name, at)), (
            None if is_theirs else lambda one: name_person(one, place, person, name, at)
        )

    def text(self, *, secret: bool) -> str:
        """Return a unique text; what only the person said holds a secret."""
        who = self.chance.choice(["阿棠", "海棠未眠(2000001)", "2000001", "小林(2000002)", "大家"])
        return f"第{self.number}件：{who} {'秘密' if secret else '公开'}"

    def scene(self) -> Scene:
        """Return a random scene."""
        return self.chance.choice(SCENES)

    def moment(self) -> datetime:
        """Return a random time before the evening."""
        return later(seconds=self.chance.randrange(20_000), microseconds=self.number)


def _told(event: Event, *, is_embedded: bool = True) -> Write:
    async def write(ledger: Ledger) -> None:
        await committed(ledger, event)
        if is_embedded:
            await ledger.vectors.store(MODEL, [(event.id, event.text, a_vector(1, len(event.text)))])

    return write


async def everything(ledger: Ledger) -> list[object]:
    """Return everything that a ledger shows, by every read path."""
    answers: list[object] = [*sorted(await archived(ledger), key=identity)]
    answers += [await ledger.archive.totals(), await ledger.vectors.waiting(MODEL, 999)]
    answers += [sorted(await ledger.vectors.embedded_ids(MODEL))]
    for place in PLACES:
        answers += [await ledger.log.recent(place, 99), await ledger.notes.memos(place, 99)]
        answers += [await ledger.notes.pins(place), await ledger.names.people(place)]
    for read_filter in map(ReadFilter, READERS):
        answers += [await ledger.events.recent(read_filter, 99)]
        for question in ("阿棠 海棠未眠", GONE, "公开", "秘密", "小林", "某位成员"):
            terms = query_terms(question)
            answers += [sorted(event.id for event, _ in await events_with(ledger.corpora, terms, read_filter, 99))]
            answers += [sorted(line.id for line, _ in await lines_with(ledger.corpora, terms, read_filter, 99))]
        near = await events_near(ledger.corpora, a_vector(1, 3), read_filter, 99)
        answers += [sorted((one.id, round(cosine, 4)) for one, cosine in near)]
    return answers


@pytest.mark.parametrize("seed", range(3))
async def test_a_ledger_that_forgot_is_as_one_that_never_knew(seed: int) -> None:
    """After any history, a ledger that erased a person equals one that never knew them."""
    history = History(random.Random(seed))
    knowing, innocent = a_ledger(), a_ledger()
    for place in PLACES:
        for name in NAMES:
            await name_person(knowing, place, GONE, name, NOON)
    for _ in range(70):
        known, left = history.write()
        await known(knowing)
        if left is not None:
            await left(innocent)
    before = repr(await everything(knowing))
    assert all(word in before for word in FORBIDDEN)
    await forgotten(knowing)
    after = await everything(knowing)
    assert [word for word in FORBIDDEN if word in repr(after)] == []
    assert after == await everything(innocent)
