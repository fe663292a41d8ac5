"""Random texts of every kind, in random places of a small world, each with a unique token."""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count

import cognitive_memory_core as core
from cognitive_memory_core.domain.event import MEMORY_KINDS
from cognitive_memory_core.domain.people import Alias
from cognitive_memory_core.domain.profile import revision_id
from cognitive_memory_core.ports import EmbeddedEvent
from cognitive_memory_core.transfer.exported_rows import ExportedRow

from .clock import NOON
from .planted import Planted, Standing

PEOPLE = ("10001", "10002", "10003", "10004", "10005", "10006")
GROUPS = ("10001", "10002", "20001", "20002")  # two have the numbers of people
AGENTS = ("default", "default", "second")
NAMES = ("阿棠", "小满", "老周", "北北", "青禾", "石头")
WORDS = ("乌龙茶", "星轨展", "桌游局", "读书会", "晨跑", "露营", "吉他", "搬家", "面试", "对花生过敏")
YEAR, LENGTH_OF_TALK = timedelta(days=365), timedelta(minutes=20)


@dataclass(frozen=True)
class Extent:
    """The initial number of texts of each kind in a history."""

    events: int = 160
    messages: int = 160
    memos: int = 40
    pins: int = 30
    profiles: int = 40
    names: int = 12

    def over(self, divisor: int) -> Extent:
        """Return a smaller extent."""
        return Extent(**{name: -(-size // divisor) for name, size in vars(self).items()})


@dataclass
class Sower:
    """Creates texts of all kinds in random places and records them in ``standing``."""

    dice: random.Random
    standing: Standing = field(default_factory=Standing)
    _numbers: count[int] = field(default_factory=lambda: count(1))
    _drawn: set[core.ProfileKey] = field(default_factory=set[core.ProfileKey])

    def scene(self, *, operators: float = 0.0) -> core.Scene:
        """Return a random scene: a group, a private chat, or with a small probability the operator's."""
        dice, agent = self.dice, self.dice.choice(AGENTS)
        if dice.random() < operators:
            return core.Scene.operator(agent, group_id=dice.choice((None, *GROUPS)))
        who = dice.randrange(len(PEOPLE))
        if dice.random() < 0.4:
            return core.Scene.private(PEOPLE[who], user_name=NAMES[who], agent=agent)
        return core.Scene.group(dice.choice(GROUPS), PEOPLE[who], user_name=NAMES[who], agent=agent)

    def rows(self, extent: Extent) -> list[ExportedRow]:
        """Return everything that a history begins with."""
        makers: Sequence[tuple[Callable[[], Sequence[ExportedRow]], int]] = (
            (self._event, extent.events),
            (self._message, extent.messages),
            (self._memo, extent.memos),
            (self._pin, extent.pins),
            (self._profile_lines, extent.profiles),
            (self._name, extent.names),
        )
        return [row for make, times in makers for _ in range(times) for row in make()]

    def text(self, planted: Planted) -> str:
        """Return a text that contains a secret's token, and record it."""
        self.standing.planted[planted.token] = planted
        return f"{self.dice.choice(WORDS)}和{self.dice.choice(WORDS)}，暗号{planted.token}"

    def planted(self, scene: core.Scene, **fields: object) -> Planted:
        """Return a secret of a scene, with a unique token."""
        token = "zq" + "".join(self.dice.choices(string.ascii_lowercase, k=8))
        place_id = scene.group_id or scene.user_id
        given = {"what": "words", "person": scene.user_id, "id": f"n{next(self._numbers)}", **fields}
        return Planted(token, agent=scene.agent, is_in_group=bool(scene.group_id), place_id=place_id, **given)  # pyright: ignore[reportArgumentType]

    def moment(self) -> datetime:
        """Return a random moment of the past year."""
        return NOON - self.dice.random() * YEAR

    def message(self, scene: core.Scene, at: datetime, *, is_bot: bool | None = None) -> core.Message:
        """Return a message of a scene's person or of the bot."""
        is_bot = self.dice.random() < 0.2 if is_bot is None else is_bot
        said_by = "" if is_bot else scene.user_id
        planted = self.planted(scene, said_by=said_by, kind="message")
        return core.Message(planted.id, scene, self.text(planted), at, is_bot=is_bot)

    def _event(self) -> Sequence[ExportedRow]:
        dice, scene = self.dice, self.scene()
        said_by = dice.choice((scene.user_id, scene.user_id, dice.choice(PEOPLE), ""))
        subjects = tuple(dice.sample(PEOPLE, dice.choice((0, 0, 1, 2))))
        kind = dice.choice(MEMORY_KINDS)
        planted = self.planted(scene, said_by=said_by, subjects=subjects, kind=kind)
        event = core.Event(
            planted.id,
            self.text(planted),
            kind,
            user_id=scene.user_id,
            group_id=scene.group_id,
            sender_id=said_by,
            subjects=subjects,
            request_type="group" if scene.group_id else "private",
            happened_at=self.moment(),
            agent=scene.agent,
        )
        return [EmbeddedEvent(event)]

    def _message(self) -> Sequence[ExportedRow]:
        scene = self.scene()
        talk = NOON - timedelta(days=self.dice.choice((1, 2, 9)))
        return [self.message(replace(scene, user_name=""), talk - self.dice.random() * LENGTH_OF_TALK)]

    def _memo(self) -> Sequence[ExportedRow]:
        scene = self.scene()
        planted = self.planted(scene, what="memo")
        return [core.Memo(planted.id, scene.scope, self.text(planted), self.moment(), scene.user_id)]

    def _pin(self) -> Sequence[ExportedRow]:
        scene = self.scene()
        owner = self.dice.choice((scene.user_id, "")) if scene.group_id else scene.user_id
        planted = self.planted(scene, what="pin", person=owner)
        return [core.Pin(planted.id, scene.scope, self.text(planted), owner, self.moment())]

    def _name(self) -> Sequence[ExportedRow]:
        scene = self.scene()
        if scene.group_id:
            self.standing.known.add((scene.agent, scene.group_id, scene.user_id))
        return [Alias(scene.scope, scene.user_id, scene.user_name, NOON - YEAR, NOON)]

    def _profile_lines(self) -> Sequence[ExportedRow]:
        """Return a profile of a person or group that has none yet, possibly with a revision."""
        scene = self.scene()
        person = self.dice.choice((scene.user_id, "")) if scene.group_id else scene.user_id
        planted = self.planted(scene, what="profile", person=person)
        if planted.key in self._drawn:
            return []
        self._drawn.add(planted.key)
        name = NAMES[PEOPLE.index(person)] if person else "群"
        profile = core.Profile(planted.key, name, ("茶",), self.text(planted), NOON)
        if self.dice.random() < 0.5:
            return [profile]
        past = self.planted(scene, what="past profile", person=person)
        before = replace(profile, summary=self.text(past), updated_at=NOON - YEAR)
        return [profile, core.Revision(revision_id(NOON - YEAR / 2), before)]
