"""Who and where may be recorded and recalled, kept in memory beside its book."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from .domain.erasure import Tombstones
from .domain.event import Event
from .domain.forgetting import is_covered
from .domain.hit import Hit
from .domain.message import Message
from .domain.note import Memo, Pin
from .domain.profile import Profile
from .domain.scope import Scene, Scope
from .domain.turn import Dialogue, Turn
from .ports.ledger import ConsentBook, Eraser, NameBook, Switch
from .text.safety.redaction import Redaction

RECORDING: frozenset[Switch] = frozenset({"on", "record_only"})
RECALLING: frozenset[Switch] = frozenset({"on", "recall_only"})
HANDFUL = 1_000  # ids and names; more are sorted in another thread
Worded = TypeVar("Worded", Event, Message, Memo, Pin)


class Consent:
    """Answers from memory; every change is durable before it is in force."""

    def __init__(self, book: ConsentBook, names: NameBook, eraser: Eraser | None = None) -> None:
        """Begin with nobody left out; :meth:`load` reads the book, and whom an eraser erased."""
        self._book = book
        self._names = names
        self._eraser = eraser
        self._tombstones = Tombstones()
        self._changing = asyncio.Lock()  # what is read of the book is in force before the book changes
        self._switches: dict[Scope, Switch] = {}
        self.opted_out: frozenset[str] = frozenset()
        self.shared: frozenset[str] = frozenset()
        self._hide = Redaction()

    async def load(self) -> None:
        """Read the book, and who was erased; changes that are made meanwhile come before or after."""
        async with self._changing:
            if self._eraser is not None:
                self._tombstones = await self._eraser.tombstones()
            self._switches = dict(await self._book.switches())
            self.shared = await self._book.shared()
            await self._leave_out(await self._book.opted_out())

    def switch(self, scope: Scope) -> Switch:
        """Tell how a place is switched."""
        return self._switches.get(scope, "on")

    def may_record(self, scene: Scene) -> bool:
        """Tell whether what this person says here may be written down."""
        return scene.user_id not in self.opted_out and self.is_recorded(scene.scope)

    def is_recorded(self, scope: Scope) -> bool:
        """Tell whether anything said in a place may be written down."""
        return self.switch(scope) in RECORDING

    def may_recall(self, scene: Scene) -> bool:
        """Tell whether memory may be shown here; an operator always sees it."""
        return scene.kind == "operator" or self.switch(scene.scope) in RECALLING

    def is_erased(self, scene: Scene, at: datetime) -> bool:
        """Tell whether what this person said, or what was said in this place, was erased at ``at`` or later."""
        return is_covered(self._tombstones, scene.scope, (scene.user_id,), at)

    def keeps_out(self, profile: Profile) -> bool:
        """Tell whether a portrait from elsewhere may not come in: its person left, or they or its place were erased."""
        return profile.key.user_id in self.opted_out or self._tombstones.covers_profile(profile)

    async def opt_out(self, user_id: str, at: datetime) -> None:
        """Leave a person out from now on, everywhere."""
        async with self._changing:
            await self._book.opt_out(user_id, at)
            await self._leave_out(self.opted_out | {user_id})

    async def opt_in(self, user_id: str) -> None:
        """Let a person in again."""
        async with self._changing:
            await self._book.opt_in(user_id)
            await self._leave_out(self.opted_out - {user_id})

    async def set_sharing(self, user_id: str, shared: bool, at: datetime) -> None:
        """Open a person's own portrait to every place, or close it again."""
        async with self._changing:
            await self._book.set_sharing(user_id, shared=shared, at=at)
            self.shared = self.shared | {user_id} if shared else self.shared - {user_id}

    async def set_switch(self, scope: Scope, switch: Switch) -> None:
        """Switch a place."""
        async with self._changing:
            await self._book.set_switch(scope, switch)
            self._switches[scope] = switch

    def hidden(self, text: str) -> str:
        """Give a text without the people who want to be left out, by every name they had."""
        return self._hide(text)

    def worded(self, item: Worded) -> Worded:
        """Give something stored without them."""
        text = self._hide(item.text)
        return item if text == item.text else replace(item, text=text)

    def worded_hit(self, hit: Hit) -> Hit:
        """Give a hit, and the lines round it, without them."""
        return replace(hit, event=self.worded(hit.event), neighbours=tuple(map(self.worded, hit.neighbours)))

    def admitted(self, work: Turn | Dialogue) -> Turn | Dialogue:
        """Give a turn or dialogue without their lines and mentions, and without lines that were erased since."""
        work = self._standing(work)
        if not self.opted_out:
            return work
        return self._turn(work) if isinstance(work, Turn) else self._dialogue(work)

    def _standing(self, work: Turn | Dialogue) -> Turn | Dialogue:
        if not self._tombstones.marks:
            return work
        if isinstance(work, Turn):
            return replace(work, recent_messages=tuple(filter(self._stands, work.recent_messages)))
        return replace(work, messages=tuple(filter(self._stands, work.messages)))

    def _stands(self, line: Message | str) -> bool:
        return isinstance(line, str) or not self.is_erased(line.scene, line.sent_at)

    def _turn(self, turn: Turn) -> Turn:
        hide = self._hiding(turn.recent_messages)
        return replace(
            turn,
            memo=hide(turn.memo),
            observations=tuple(hide(text) for text in turn.observations),
            source_message=hide(turn.source_message),
            recent_messages=tuple(
                hide(line) if isinstance(line, str) else replace(line, text=hide(line.text))
                for line in turn.recent_messages
                if isinstance(line, str) or line.scene.user_id not in self.opted_out
            ),
        )

    def _dialogue(self, dialogue: Dialogue) -> Dialogue:
        hide = self._hiding(dialogue.messages)
        kept = (line for line in dialogue.messages if line.scene.user_id not in self.opted_out)
        return replace(dialogue, messages=tuple(replace(line, text=hide(line.text)) for line in kept))

    def _hiding(self, lines: Iterable[Message | str]) -> Redaction:
        """Know also the names that they bear in these very lines."""
        scenes = [line.scene for line in lines if isinstance(line, Message)]
        borne = [scene.user_name for scene in scenes if scene.user_id in self.opted_out]
        return self._hide.knowing(borne) if borne else self._hide

    async def _leave_out(self, user_ids: frozenset[str]) -> None:
        self.opted_out, self._hide = user_ids, self._hide.hiding(user_ids)  # in force, whatever comes next
        names, shared = await self._names.names_of(user_ids), await self._names.shared(user_ids)
        if len(user_ids) + len(names) > HANDFUL:
            known = await asyncio.to_thread(Redaction.of, user_ids, names, shared)
        else:
            known = Redaction.of(user_ids, names, shared)
        if self.opted_out == user_ids:
            self._hide = known
