"""Who and where may be recorded and recalled, kept in memory beside its book."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from . import sentences
from .domain.message import Message
from .domain.scope import Scene, Scope
from .domain.turn import Dialogue, Turn
from .ports.ledger import ConsentBook, NameBook, Switch

RECORDING: frozenset[Switch] = frozenset({"on", "record_only"})
RECALLING: frozenset[Switch] = frozenset({"on", "recall_only"})


@dataclass(frozen=True)
class Redaction:
    """How people who want to be left out vanish from what others said: their ids and names become 某位成员."""

    words: tuple[str, ...] = ()

    @classmethod
    def of(cls, words: Iterable[str]) -> Redaction:
        """Hide the words, longest first, so that a name inside another leaves no rest."""
        return cls(tuple(sorted({word for word in words if word}, key=len, reverse=True)))

    def __call__(self, text: str) -> str:
        """Give the text without the words."""
        for word in self.words:
            text = text.replace(word, sentences.somebody())
        return text


class Consent:
    """Answers from memory; every change is durable before it is in force."""

    def __init__(self, book: ConsentBook, names: NameBook) -> None:
        """Begin with nobody left out; :meth:`load` reads the book."""
        self._book = book
        self._names = names
        self._switches: dict[Scope, Switch] = {}
        self.opted_out: frozenset[str] = frozenset()

    async def load(self) -> None:
        """Read the book."""
        self.opted_out = await self._book.opted_out()
        self._switches = dict(await self._book.switches())

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

    async def opt_out(self, user_id: str, at: datetime) -> None:
        """Leave a person out from now on, everywhere."""
        await self._book.opt_out(user_id, at)
        self.opted_out |= {user_id}

    async def opt_in(self, user_id: str) -> None:
        """Let a person in again."""
        await self._book.opt_in(user_id)
        self.opted_out -= {user_id}

    async def set_switch(self, scope: Scope, switch: Switch) -> None:
        """Switch a place."""
        await self._book.set_switch(scope, switch)
        self._switches[scope] = switch

    async def admitted_turn(self, turn: Turn) -> Turn:
        """Give the turn without the lines and mentions of people who want to be left out."""
        if not self.opted_out:
            return turn
        hide = await self._redaction(turn.scene.scope, turn.recent_messages)
        return replace(
            turn,
            memo=hide(turn.memo),
            observations=tuple(hide(text) for text in turn.observations),
            source_message=hide(turn.source_message),
            recent_messages=tuple(
                hide(line) if isinstance(line, str) else self._hidden(line, hide)
                for line in turn.recent_messages
                if isinstance(line, str) or line.sender_id not in self.opted_out
            ),
        )

    async def admitted_dialogue(self, dialogue: Dialogue) -> Dialogue:
        """Give the dialogue without the lines and mentions of people who want to be left out."""
        if not self.opted_out:
            return dialogue
        hide = await self._redaction(dialogue.scene.scope, dialogue.messages)
        kept = (line for line in dialogue.messages if line.sender_id not in self.opted_out)
        return replace(dialogue, messages=tuple(self._hidden(line, hide) for line in kept))

    async def admitted_message(self, message: Message) -> Message:
        """Give the message without mentions of people who want to be left out."""
        if not self.opted_out:
            return message
        return self._hidden(message, await self._redaction(message.scene.scope, ()))

    async def _redaction(self, scope: Scope, lines: Iterable[Message | str]) -> Redaction:
        people = await self._names.people(scope, self.opted_out)
        spoken = [line.scene for line in lines if isinstance(line, Message) and line.sender_id in self.opted_out]
        names = (*(person.name for person in people), *(scene.user_name for scene in spoken))
        return Redaction.of((*self.opted_out, *names))

    @staticmethod
    def _hidden(line: Message, hide: Redaction) -> Message:
        return replace(line, text=hide(line.text))
