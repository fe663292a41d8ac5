"""Random histories of people in many places, played to a real memory; every text has a unique token."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import cognitive_memory_core as core
from cognitive_memory_core.domain.consent import Switch
from cognitive_memory_core.transfer.exported_rows import HEAD, written

from .clock import FrozenClock
from .planted import TOKEN, Planted, Standing, tokens_in
from .sowing import AGENTS, NAMES, PEOPLE, Extent, Sower
from .waiting import PATIENCE

SWITCHES: tuple[Switch, ...] = ("off", "record_only", "recall_only")
UNRECORDED = ("off", "recall_only")
MOST_LEFT_OUT = 2
KEPT = core.Settings().profile.revision_keep


@dataclass
class History:
    """A memory, what was told to it, and actions that continue the history.

    ``_told`` are events that were forgotten. ``_resting`` maps a log line to the secret learned from it; ``_forgotten``
    maps a forgotten event to its tokens; ``_fresh`` are tokens that may not have reached the ledger yet.
    """

    memory: core.CognitiveMemory
    sower: Sower
    folder: Path
    clock: FrozenClock
    _resting: dict[str, str] = field(default_factory=dict[str, str])
    _forgotten: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    _told: list[core.Event] = field(default_factory=list[core.Event])
    _fresh: set[str] = field(default_factory=set[str])

    @property
    def standing(self) -> Standing:
        """Return what was planted, and what people requested since."""
        return self.sower.standing

    async def begin(self, extent: Extent) -> None:
        """Import the history's initial rows."""
        path = self.folder / "before.jsonl"
        lines = [HEAD, *(written(row) for row in self.sower.rows(extent))]
        path.write_bytes(b"\n".join(lines) + b"\n")
        await self.memory.import_(path)
        assert await self.memory.drain(PATIENCE)

    async def go_on(self, deeds: int, ask: Callable[[History], Awaitable[None]] | None = None) -> None:
        """Run random actions, with questions right after each; return after all work is done."""
        for deed in self.sower.dice.choices([*DEEDS], [*DEEDS.values()], k=deeds):
            self.clock.advance(minutes=1)
            await deed(self)
            if ask:
                await ask(self)
        assert await self.memory.drain(PATIENCE)
        self._fresh.clear()
        await self._note_outlived()

    async def _note_outlived(self) -> None:
        """Note the past profiles that were pruned because the limit of newer revisions is reached."""
        for one in self.standing.planted.values():
            if one.what == "past profile" and one.token not in self.standing.gone:
                past = await self.memory.profile_revisions(core.Scene.operator(one.agent), one.key)
                if len(past) >= KEPT and one.token not in tokens_in(past):
                    self.standing.erase([one.token])

    async def speak(self) -> None:
        """Say something, possibly under a new name."""
        scene, dice = self.sower.scene(), self.sower.dice
        scene = replace(scene, user_name=dice.choice(NAMES) if dice.random() < 0.2 else scene.user_name)
        message = self.sower.message(scene, self.clock.now())
        await self.memory.observe(message)
        self._note(scene, message.text, is_named=not message.is_bot)
        if message.is_bot and any(_is_near(scene, event) for event in self._told):
            self.standing.doubtful |= set(TOKEN.findall(message.text))  # it may repeat a forgotten event

    async def finish_turn(self) -> None:
        """Finish a turn: a memo, and a statement by its person that is learned from a message."""
        scene, sower = self.sower.scene(), self.sower
        memo = sower.text(sower.planted(scene, what="memo"))
        line = sower.message(scene, self.clock.now(), is_bot=False)
        words = sower.planted(scene, said_by=scene.user_id, kind="event")
        said = f"我喜欢{sower.text(words)}。"
        await self.memory.observe(line)
        await self.memory.remember(core.Turn(scene, memo=memo, message_ids=(line.id,)))
        await self.memory.consider(scene, [replace(line, text=said)])
        self._resting[line.id] = words.token
        self._note(scene, memo, line.text, said)

    async def pin(self) -> None:
        """Pin something, for oneself or for the group."""
        scene, for_group = self.sower.scene(), self.sower.dice.random() < 0.5
        owner = "" if for_group and scene.group_id else scene.user_id
        text = self.sower.text(self.sower.planted(scene, what="pin", person=owner, said_by=scene.user_id))
        try:
            await self.memory.pin(scene, text, for_group=not owner)
        except core.LimitReached:
            self.standing.erase(TOKEN.findall(text))

    async def leave(self) -> None:
        """Opt out, or in again."""
        person, out = self.sower.dice.choice(PEOPLE), self.standing.opted_out
        if person in out:
            await self.memory.opt_in(person)
            out.discard(person)
        elif len(out) < MOST_LEFT_OUT:
            await self.memory.opt_out(person)
            out.add(person)
            self.standing.doubtful |= self._fresh

    async def share(self) -> None:
        """Share one's own profile, or stop sharing it."""
        person, shared = self.sower.dice.choice(PEOPLE), self.sower.dice.random() < 0.6
        await self.memory.set_sharing(person, shared)
        (self.standing.shared.add if shared else self.standing.shared.discard)(person)

    async def switch(self) -> None:
        """Change a place's switch, mostly to "on"."""
        scene, dice = self.sower.scene(), self.sower.dice
        switch: Switch = dice.choice(SWITCHES) if dice.random() < 0.4 else "on"
        await self.memory.set_switch(scene, switch)
        self.standing.switches[_place(scene)] = switch

    async def withdraw(self) -> None:
        """Withdraw a message; what was learned from it alone is withdrawn too."""
        planted, dice = self.standing.planted.values(), self.sower.dice
        lines = [one for one in planted if one.is_message and one.token not in self.standing.gone]
        if not lines:
            return
        line = dice.choice([one for one in lines if one.id in self._resting and dice.random() < 0.7] or lines)
        await self.memory.recall_message(scene_of(line), line.id)
        self.standing.take_back({line.token, self._resting.pop(line.id, line.token)})
        self.standing.doubtful |= self._fresh

    async def forget(self) -> None:
        """Forget an event."""
        behind = core.Scene.operator(self.sower.dice.choice(AGENTS))
        found = await self.memory.events(behind, limit=20)
        if not found:
            return
        event = self.sower.dice.choice(found)
        await self.memory.forget_event(behind, event.id)
        self._told.append(event)
        self._forgotten[event.id] = self.standing.take_back_event(event, TOKEN.findall(event.text))
        self.standing.doubtful |= self._fresh

    async def restore(self) -> None:
        """Restore a forgotten event if that is still possible."""
        if not self._forgotten:
            return
        event_id, tokens = self._forgotten.popitem()
        with suppress(core.UnknownEvent):
            await self.memory.restore_event(core.Scene.operator(self._agent_of(tokens)), event_id)
            self.standing.gone -= tokens
            self.standing.taken_back -= tokens

    async def erase(self) -> None:
        """Erase a person; what others said about them may be left, without them."""
        person, standing = self.sower.dice.choice(PEOPLE), self.standing
        await self.memory.forget_user(core.Scene.private(person), person)
        for token, one in standing.planted.items():
            if person == one.said_by or (person == one.person and one.what != "words"):
                standing.erase([token])
            elif person in (*one.subjects, one.person, "" if one.is_in_group else one.place_id):
                standing.doubtful.add(token)
                standing.planted[token] = replace(one, subjects=tuple(set(one.subjects) - {person}))
        standing.known = {one for one in standing.known if one[2] != person}
        standing.shared.discard(person)
        standing.doubtful |= self._fresh

    def _agent_of(self, tokens: set[str]) -> str:
        return next(self.standing.planted[token].agent for token in tokens)

    def _note(self, scene: core.Scene, *texts: str, is_named: bool = True) -> None:
        """Record whose name was seen where; what may not be recorded counts as erased."""
        tokens = {token for text in texts for token in TOKEN.findall(text)}
        self._fresh |= tokens
        is_unrecorded = self.standing.switches.get(_place(scene)) in UNRECORDED
        if is_unrecorded or scene.user_id in self.standing.opted_out:
            self.standing.erase(tokens)
        elif is_named and scene.group_id:
            self.standing.known.add((scene.agent, scene.group_id, scene.user_id))


def scene_of(planted: Planted) -> core.Scene:
    """Return the scene in which a secret was told."""
    if planted.is_in_group:
        return core.Scene.group(planted.place_id, planted.person or PEOPLE[0], agent=planted.agent)
    return core.Scene.private(planted.place_id, agent=planted.agent)


def _is_near(scene: core.Scene, event: core.Event) -> bool:
    """Return whether a scene is where an event was learned, or with the person it was learned from."""
    return scene.agent == event.agent and (scene.scope == event.scope or scene.user_id == event.sender_id)


def _place(scene: core.Scene) -> tuple[str, str, str]:
    return scene.agent, scene.group_id, "" if scene.group_id else scene.user_id


Deed = Callable[[History], Awaitable[None]]
DEEDS: dict[Deed, int] = {
    History.speak: 6,
    History.finish_turn: 6,
    History.pin: 2,
    History.leave: 2,
    History.share: 3,
    History.switch: 2,
    History.withdraw: 2,
    History.forget: 2,
    History.restore: 1,
    History.erase: 1,
}
