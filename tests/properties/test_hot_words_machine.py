"""The rows of places in memory against newly loaded rows, after any history of the ledger."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from cognitive_memory_core.domain.event import Draft, Event
from cognitive_memory_core.domain.message import Message
from cognitive_memory_core.domain.reading import ReadFilter
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.store.ledger import Ledger
from cognitive_memory_core.store.search.corpora import Corpora
from tests.support.builders import OTHER_GROUP, PRIVATE, a_message, an_event
from tests.support.clock import NOON
from tests.support.ledgers import MODEL, a_vector, committed, events_with, later
from tests.support.lines import lines_with
from tests.support.sizes import sized

PEOPLE = ("2000001", "2000002")
SCENES = (Scene.group("10001", PEOPLE[0]), Scene.group("10001", PEOPLE[1]), OTHER_GROUP, PRIVATE)
WORDS = ("乌龙", "红茶", "散步", "下雨", "2000002")
ASKED = (*WORDS, "某位", "3月4日", "没有")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map("，".join)
WHICH = st.integers(0, 30)
READ_FILTERS = (
    ReadFilter(SCENES[0]),
    ReadFilter(SCENES[0], user_id=PEOPLE[1]),
    ReadFilter(SCENES[0], without=frozenset({PEOPLE[0]})),
    ReadFilter(PRIVATE),
    ReadFilter(Scene.operator(), group_id="10002"),
)


class HotWordsMachine(RuleBasedStateMachine):
    """The rows in memory always equal the content of the ledger."""

    def __init__(self) -> None:
        """Start with an empty ledger."""
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.root = Path(tempfile.mkdtemp(prefix="hot-words-"))
        self.ledger = self.run(Ledger.open, self.root / "ledger.db")
        self.events: list[Event] = []
        self.messages: list[Message] = []
        self.run(self.ask_all)

    def run(self, work: Callable[..., Awaitable[Any]], *args: Any, **options: Any) -> Any:
        """Call a function in the event loop and wait for its answer."""

        async def answer() -> Any:
            return await work(*args, **options)

        return self.loop.run_until_complete(answer())

    @rule(text=TEXTS, scene=st.sampled_from(SCENES), absolute=st.booleans())
    def tell(self, text: str, scene: Scene, absolute: bool) -> None:
        """Write an event."""
        event = an_event(text, scene, is_absolute=absolute)
        self.events.append(event)
        self.run(committed, self.ledger, event)

    @rule(text=TEXTS, scene=st.sampled_from(SCENES), is_bot=st.booleans(), days=st.integers(0, 5))
    def say(self, text: str, scene: Scene, is_bot: bool, days: int) -> None:
        """Write a message, and an event made from it."""
        message = a_message(text, scene, is_bot=is_bot, sent_at=later(days=-days))
        self.messages.append(message)
        self.run(self.ledger.log.append, [message])
        event = an_event(f"{text}说过", scene, message_ids=(message.id,))
        self.events.append(event)
        self.run(committed, self.ledger, event)

    @rule(which=WHICH)
    def retire(self, which: int) -> None:
        """Retire an event."""
        if self.events:
            self.run(self.ledger.eraser.forget, self.events[which % len(self.events)].id, NOON, "correction")

    @rule(which=WHICH)
    def restore(self, which: int) -> None:
        """Restore an event."""
        if self.events:
            self.run(self.ledger.events.restore, self.events[which % len(self.events)].id)

    @rule(which=WHICH, text=TEXTS)
    def lift(self, which: int, text: str) -> None:
        """Repeat an event in absolute words, which replace those of an event that is not absolute."""
        if self.events:
            twin = self.events[which % len(self.events)]
            again = replace(an_event(text), id=f"{len(self.events)}-again", sender_id=twin.sender_id)
            again = replace(again, user_id=twin.user_id, group_id=twin.group_id, request_type=twin.request_type)
            self.run(self.ledger.events.commit, Draft(again.id, (again,), repeats={again.id: twin.id}))
            self.events.append(again)

    @rule(which=WHICH)
    def embed(self, which: int) -> None:
        """Store a vector of an event."""
        if self.events:
            event = self.events[which % len(self.events)]
            row = (event.id, event.text, a_vector(1, 0))
            self.run(self.ledger.vectors.store, MODEL, [row])

    @rule(which=WHICH)
    def withdraw(self, which: int) -> None:
        """Withdraw a message."""
        if self.messages:
            message = self.messages[which % len(self.messages)]
            self.run(self.ledger.log.withdraw, message.scene.scope, message.id, NOON)

    @rule(days=st.integers(1, 5))
    def prune(self, days: int) -> None:
        """Prune old messages."""
        self.run(self.ledger.log.prune, later(days=-days))

    @rule(person=st.sampled_from(PEOPLE))
    def forget_person(self, person: str) -> None:
        """Erase a person, and hide them in what others said."""
        self.run(self.ledger.eraser.forget_person, person, NOON, lambda text: text.replace(person, "某位成员"))

    @rule()
    def forget_place(self) -> None:
        """Erase a place."""
        self.run(self.ledger.eraser.forget_place, OTHER_GROUP.scope, NOON)

    @invariant()
    def all_agree(self) -> None:
        """Held rows, and rows that are loaded for one search only, give the same rows and scores."""
        self.run(self.ask_all)

    async def ask_all(self) -> None:
        """Query every index."""
        held = self.ledger.corpora
        for read_filter in READ_FILTERS:
            for search in (events_with, lines_with):
                found = await search(held, ASKED, read_filter, 100)
                anew = await search(Corpora(self.ledger.database, held_bytes=0), ASKED, read_filter, 100)
                assert [(item, round(score, 9)) for item, score in found] == [
                    (item, round(score, 9)) for item, score in anew
                ]
        assert held.bytes <= held.limit

    def teardown(self) -> None:
        """Remove the folder."""
        self.run(self.ledger.close)
        self.loop.close()
        shutil.rmtree(self.root)


TestHotWordsMachine = HotWordsMachine.TestCase
TestHotWordsMachine.settings = settings(
    max_examples=sized(5, 80), stateful_step_count=20, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
