"""The façade: everything that can be asked of the memory, one thin method a wish."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from . import sentences
from .arguments import checks_arguments
from .completion import completed
from .context.compression import Compressor, admitted, checked_dialogue
from .context.render import Context
from .domain.erasure import RESTORABLE, Erasure
from .domain.event import MEMORY_KINDS, Event
from .domain.hit import Hit, Reading
from .domain.ids import checked_id, checked_text
from .domain.job import FailedJob
from .domain.message import Message
from .domain.note import Memo, Pin
from .domain.profile import EntityType, Profile, ProfileHit, ProfileKey, Revision
from .domain.scope import Scene
from .domain.turn import Turn
from .errors import BadArgument, NotPermitted, UnavailableError, UnknownEvent
from .ports.ambient import Clock
from .ports.ledger import Copy, Switch
from .ports.models import Chat, Embedder, Reranker
from .ports.overrides import Overrides
from .settings import Live, Settings
from .status import Status
from .text.lexical import word_forms
from .text.statements import intents
from .text.statements.lexicon import offences
from .text.time.instants import interval_of

if TYPE_CHECKING:
    from .engine import Engine

MAX_RESULTS = 200
MAX_OFFSET = 1_000_000
MAX_QUERY = 4000
NOTHING = Context("", (), 0, ("disabled",))


@checks_arguments
class CognitiveMemory:
    """The memory of bots. Made by :meth:`open`, or by :meth:`absent` where there is none.

    All methods but :meth:`absent` are coroutines of one event loop. Reading gives less where a part is away; writing
    raises StorageRefused or QueueFull with nothing half-written; a mistake raises a MistakeError that says what to do,
    an argument of the wrong type BadArgument, from every method.
    """

    def __init__(self, settings: Settings, engine: Engine | None = None, reason: str = "") -> None:
        """Stand in front of an engine; use :meth:`open` instead."""
        self._settings = Live(settings) if engine is None else engine.settings
        self._engine = engine
        self._reason = reason

    @classmethod
    def absent(cls, reason: str = "") -> CognitiveMemory:
        """Give a memory that stores and recalls nothing, and says so; touches no disk."""
        return cls(Settings(enabled=False), None, reason or sentences.not_running())

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        settings: Settings,
        data_dir: Path,
        *,
        background: bool = True,
        clock: Clock | None = None,
        embedder: Embedder | None = None,
        chat: Chat | None = None,
        reranker: Reranker | None = None,
    ) -> AsyncGenerator[CognitiveMemory, None]:
        """Own a data directory and work on it until the block is left; nothing accepted is lost.

        Raises DirectoryInUse when another process holds it for ``shutdown_seconds`` + 5 s, StorageRefused when the
        disk refuses it. With ``background=False`` jobs wait for :meth:`drain`. A ``chat`` takes the place of every chat
        model that is set, ``embedder`` and ``reranker`` that of theirs; what cannot be asked raises BadArgument.
        """
        if chat is not None and not callable(getattr(chat, "ask", None)):
            raise BadArgument(sentences.bad_value("chat", chat, "有 ask 方法的对话模型"))
        if reranker is not None and not callable(getattr(reranker, "scores", None)):
            raise BadArgument(sentences.bad_value("reranker", reranker, "有 scores 方法的重排模型"))
        engine_class = await asyncio.to_thread(_engine_class)
        given = Overrides(clock=clock, embedder=embedder, chat=chat, reranker=reranker)
        engine = await engine_class.open(Live(settings), Path(data_dir), given)
        memory = cls(settings, engine)
        try:
            if background:
                engine.start()
            yield memory
        finally:
            memory._engine, memory._reason = None, sentences.not_running()
            await completed(engine.close())

    @property
    def is_running(self) -> bool:
        """Whether new memories are made: open, and not switched off by ``enabled=false``."""
        return self._engine is not None and self._settings.current.enabled

    @property
    def reason(self) -> str:
        """Why the memory is not running, for people; "" while it is."""
        return "" if self.is_running else self._reason or sentences.not_running()

    async def observe(self, message: Message) -> None:
        """Log a message: visible to searches and windows at once, written within half a second; raises for no log."""
        if self.is_running:
            self._open.intake.observe(message)

    async def remember(self, turn: Turn) -> str | None:
        """Make a turn durable before returning its job's id (its memo's, where there is nothing else).

        None when it is blank, the place is switched off or the person opted out. Raises QueueFull, StorageRefused.
        """
        if self._engine is None:
            return None
        stored = await self._engine.intake.remember(turn)
        self._engine.worker.nudge()
        return stored

    async def consider(self, scene: Scene, messages: Sequence[Message]) -> str | None:
        """Queue a dialogue to be judged, as durably as :meth:`remember`; None when there is nothing to judge."""
        if self._engine is None:
            return None
        stored = await self._engine.intake.consider(scene, messages)
        self._engine.worker.nudge()
        return stored

    async def recall_message(self, scene: Scene, message_id: str) -> None:
        """Withdraw a message: from the log, from jobs not yet processed, and events that rest on it alone retire."""
        engine, message_id = self._open, checked_id(message_id, "message_id")
        engine.journal.drop(scene.scope, message_id)
        try:
            await engine.parts.log.withdraw(scene.scope, message_id, engine.parts.clock.now())
        finally:
            await engine.parts.view.withdraw(scene.scope, message_id)
            engine.merging.nudge()  # what a portrait holds of it must leave

    async def context(self, scene: Scene, query: str, *, budget: int | None = None) -> Context:
        """Build the block for the model; what a failing part would have given is missing and named in ``degraded``."""
        query, engine = query[:MAX_QUERY], self._engine
        if engine is None or not _recalls(engine, scene):
            return NOTHING
        if not self.is_running:
            return await engine.builder.memos_only(scene, budget=budget, without=engine.consent.opted_out)
        return await engine.builder.build(scene, query, budget=budget, without=engine.consent.opted_out)

    async def search_events(  # noqa: PLR0913  # the contract's signature
        self,
        scene: Scene,
        query: str,
        *,
        user_id: str | None = None,
        group_id: str | None = None,
        kinds: Sequence[str] = (),
        top_k: int | None = None,
        time_from: datetime | str | None = None,
        time_to: datetime | str | None = None,
    ) -> list[Hit]:
        """Search what the scene may read, best first: events, of any kind where none is named.

        ``kinds=("message",)`` searches the raw log; with other kinds beside it both are searched. A target outside the
        scene raises NotPermitted. Times: aware datetimes, or ISO text read in the configured zone where naive; a bare
        end date includes its day.
        """
        reading = self._reading(scene, user_id, group_id, kinds)
        reading = replace(reading, window=interval_of(time_from, time_to, self._settings.current.zone))
        engine = self._engine
        if engine is None or not self.is_running or not _recalls(engine, scene):
            return []
        limit = max(_count(top_k, self._settings.current.query.tool_default_top_k), 1)
        found = await engine.search.find(reading, query[:MAX_QUERY], top_k=limit)
        return [engine.consent.worded_hit(hit) for hit in found.hits]

    async def events(self, scene: Scene, *, limit: int = 20, offset: int = 0) -> list[Event]:
        """List what the scene may read, newest first."""
        engine = self._engine
        if engine is None or not _recalls(engine, scene):
            return []
        reading = self._reading(scene, None, None, ())
        wanted, skipped = _count(limit, 20), _count(offset, 0, most=MAX_OFFSET)
        return [engine.consent.worded(event) for event in await engine.parts.events.recent(reading, wanted, skipped)]

    async def recent_messages(
        self, scene: Scene, limit: int | None = None, *, until: datetime | None = None
    ) -> list[Message]:
        """Give the newest logged messages of the place, oldest first, without people who opted out."""
        engine = self._engine
        if engine is None or not _recalls(engine, scene):
            return []
        wanted = _count(limit, self._settings.current.historian.recent_messages_inject_k)
        found = await engine.journal.recent(scene.scope, wanted, before=until)
        consent = engine.consent
        return [consent.worded(message) for message in found if message.scene.user_id not in consent.opted_out]

    async def find_messages(self, scene: Scene, message_ids: Sequence[str]) -> list[Message]:
        """Return those of the messages of the place that the log holds, oldest first, without people who opted out.

        None of a place that is switched off. Raises UnavailableError when the log cannot be read.
        """
        engine, wanted = self._engine, _checked_ids(message_ids)
        if engine is None or not (_recalls(engine, scene) or engine.consent.is_recorded(scene.scope)):
            return []
        found, consent = await engine.journal.find(scene.scope, wanted), engine.consent
        return [consent.worded(message) for message in found if message.scene.user_id not in consent.opted_out]

    async def learned_messages(self, scene: Scene, message_ids: Sequence[str]) -> frozenset[str]:
        """Return those of the messages of the place that a job of any state or an event already rests on.

        A caller that was killed asks this before it hands in what it had noted down as not yet considered.
        """
        engine, wanted = self._engine, _checked_ids(message_ids)
        if engine is None or not wanted:
            return frozenset()
        waiting = await engine.parts.view.holding(scene.scope, wanted)  # first: a job is gone once its events stand
        return waiting | await engine.parts.log.learned(scene.scope, wanted - waiting)

    async def memos(self, scene: Scene, limit: int | None = None) -> list[Memo]:
        """Give the newest memos of the place, newest last, also those whose job still waits."""
        engine = self._engine
        if engine is None or not _recalls(engine, scene):
            return []
        wanted = _count(limit, self._settings.current.query.recent_end_summaries_inject_k)
        found = await engine.builder.memos(scene.scope, wanted)
        return [engine.consent.worded(memo) for memo in found if memo.user_id not in engine.consent.opted_out]

    async def get_profile(self, scene: Scene, entity_type: EntityType, entity_id: str) -> Profile | None:
        """Give a portrait; "user" in a group is the member there, or the person's one portrait where that is shared.

        One that the scene may not read raises NotPermitted.
        """
        asked, engine = ProfileKey.asked(scene, entity_type, entity_id), self._engine
        if engine is None or not self.is_running or not _recalls(engine, scene):
            if not asked.readable_by(scene):
                raise NotPermitted(sentences.foreign_profile())
            return None
        return await engine.portraits.asked(scene, entity_type, entity_id)

    async def search_profiles(
        self, scene: Scene, query: str, *, entity_type: EntityType | None = None, top_k: int | None = None
    ) -> list[ProfileHit]:
        """Search the portraits that the scene may read, best first."""
        query = query[:MAX_QUERY]
        limit = max(_count(top_k, self._settings.current.query.profile_top_k), 1)
        engine = self._engine
        if engine is None or not self.is_running or not _recalls(engine, scene):
            return []
        return await engine.portraits.search(scene, query, entity_type=entity_type, top_k=limit)

    async def profile_revisions(self, scene: Scene, key: ProfileKey) -> list[Revision]:
        """Give the past portraits of the one who asks, or of the group, newest first; an operator sees everybody's."""
        engine = self._engine
        if engine is None or not self.is_running or not _recalls(engine, scene):
            return []
        return await engine.history.revisions(scene, key)

    async def restore_profile(self, scene: Scene, key: ProfileKey, revision_id: str) -> Profile:
        """Let a past portrait be the one of now; that of now becomes a revision, so that this can be undone.

        For the person themselves, for a group in the group, and for an operator; others raise NotPermitted. Who may
        ask for a group is for commands to guard, as with its pins. Raises UnknownRevision.
        """
        return await self._open.history.restore(scene, key, checked_id(revision_id, "revision_id"))

    async def set_sharing(self, user_id: str, shared: bool) -> None:
        """Open a person's own portrait, learned in private, to every place where they are, or close it again."""
        await self._open.consent.set_sharing(checked_id(user_id, "user_id"), shared, self._open.parts.clock.now())

    async def forget_event(self, scene: Scene, event_id: str) -> None:
        """Forget an event that the scene may read; :meth:`restore_event` brings it back within 30 days.

        Until then the lines that it was made of, and the bot's own that repeat it, are shown nowhere. After that all of
        it is erased.
        """
        engine = self._open
        event = await self._readable(scene, event_id)
        if event.retired_at is None:
            await engine.event_forgetting.forget(event)
            engine.merging.nudge()

    async def restore_event(self, scene: Scene, event_id: str) -> Event:
        """Let a retired event stand again."""
        engine = self._open
        event = await self._readable(scene, event_id)
        if event.retired_at is not None and event.retired_at < engine.parts.clock.now() - RESTORABLE:
            raise UnknownEvent(sentences.unknown_event())
        restored = await engine.parts.events.restore(event.id)
        if restored is None:
            raise UnknownEvent(sentences.unknown_event())
        engine.merging.nudge()
        return restored

    async def forget_user(self, scene: Scene, user_id: str) -> Erasure:
        """Forget a person for good, everywhere: nothing of it can be found when this returns, or be brought back.

        What they said goes, and in what others said they are 某位成员. Only they themselves may ask for it, or an
        operator (NotPermitted). Raises StorageRefused where the disk refuses; asking again goes on from there.
        """
        return await self._open.forgetting.forget_person(scene, checked_id(user_id, "user_id"))

    async def forget_scene(self, scene: Scene) -> Erasure:
        """Forget a place for good, as durably: a group, or a private chat.

        Who may ask for a group, as for its pins, is for tools and commands to guard: the memory knows no admins.
        """
        return await self._open.forgetting.forget_place(scene)

    async def pin(self, scene: Scene, text: str, *, for_group: bool = False) -> Pin:
        """Pin a fact; an exact duplicate is the pin that stands; over ``pins.max`` raises LimitReached."""
        engine, limit = self._open, self._settings.current.pins.max
        return await engine.pinboard.pin(scene, _admitted(engine, text), for_group=for_group, limit=limit)

    async def update_pin(self, scene: Scene, pin_id: str, text: str) -> Pin:
        """Replace a pin's text."""
        return await self._open.pinboard.update(scene, pin_id, _admitted(self._open, text))

    async def unpin(self, scene: Scene, pin_id: str) -> None:
        """Take a pin down."""
        await self._open.pinboard.unpin(scene, pin_id)

    async def pins(self, scene: Scene) -> list[Pin]:
        """Give the group's pins and the asker's own there, oldest first."""
        engine = self._engine
        return [] if engine is None else [engine.consent.worded(pin) for pin in await engine.pinboard.pins(scene)]

    async def opt_out(self, user_id: str) -> None:
        """Stop recording and recalling a person, everywhere and at once, also in other people's words."""
        engine = self._open
        engine.journal.forget_person(checked_id(user_id, "user_id"))
        await engine.consent.opt_out(user_id, engine.parts.clock.now())
        engine.journal.forget_person(user_id)  # what came in while the wish was written down

    async def opt_in(self, user_id: str) -> None:
        """Take :meth:`opt_out` back."""
        await self._open.consent.opt_in(checked_id(user_id, "user_id"))

    async def set_switch(self, scene: Scene, switch: Switch) -> None:
        """Switch a place: "on", "off", "record_only" or "recall_only"."""
        await self._open.consent.set_switch(scene.scope, switch)

    async def compress(self, messages: Sequence[Message], *, budget: int) -> str:
        """Shorten a dialogue to at most ``budget`` tokens: what is older summed up, the last lines as they were said.

        Without a model, or where it fails, the newest lines that fit. Whoever opted out is left out.
        """
        lines, room, engine = checked_dialogue(messages), budget, self._engine
        if engine is None:
            return await Compressor().compress(lines, room)
        summariser = engine.parts.thinkers.summariser if self.is_running else None
        compressor = Compressor(summariser, engine.consent.hidden)
        return await compressor.compress(admitted(lines, engine.consent.admitted), room)

    async def status(self) -> Status:
        """Say how everything is; never raises for a failing store."""
        if self._engine is None:
            return Status(is_running=False, reason=self.reason)
        return replace(await self._engine.status(), reason=self.reason)

    async def failed_jobs(self) -> list[FailedJob]:
        """List the buried jobs with their errors, oldest first."""
        return [] if self._engine is None else await self._engine.parts.view.failed()

    async def revive(self, job_id: str | None = None) -> int:
        """Queue one buried job again, or all; answers how many."""
        revived = await self._open.parts.queue.revive(job_id)
        self._open.worker.nudge()
        return revived

    async def pause(self) -> None:
        """Claim no more jobs until :meth:`resume`; what is accepted meanwhile waits."""
        self._open.pause()

    async def resume(self) -> None:
        """Work on."""
        self._open.resume()

    async def drain(self, timeout: float) -> bool:
        """Wait until queue and indexer are idle; False when ``timeout`` seconds were not enough."""
        return True if self._engine is None else await self._engine.drain(timeout)

    async def reindex(self) -> int:
        """Build the vector index anew from the ledger, the old one serving meanwhile; answers how many vectors.

        Nothing is embedded anew. Raises UnavailableError when the vector store cannot be reached.
        """
        return await self._open.reindex()

    async def export(self, path: Path, *, user_id: str | None = None) -> int:
        """Write JSON Lines of everything, or of what one person said and pinned; answers how many rows.

        The file is whole or as it was before. A path inside the data directory, or of anything but a new or a regular
        file, raises BadArgument; a disk that refuses, StorageRefused.
        """
        engine, transfer = self._open, await asyncio.to_thread(_transfer)
        target = await asyncio.to_thread(transfer.checked_target, Path(path), engine.parts.data_dir)
        await engine.journal.settle()
        await engine.parts.eraser.copies(made=Copy(str(target), "export", engine.parts.clock.now()))
        return await transfer.exported(
            engine.parts.archive,
            target,
            user_id=user_id,
            profiles=engine.parts.profiles,
            worded=engine.history.exported,
        )

    async def backup(self, path: Path) -> None:
        """Copy everything, as it stands now, into a new or empty directory that can be opened as a data directory.

        A path inside the data directory, or one that holds something, raises BadArgument; a disk that refuses,
        StorageRefused with nothing half-made. Indexes are left out and built anew where the copy is opened.
        """
        engine, transfer = self._open, await asyncio.to_thread(_transfer)
        await engine.journal.settle()
        parts = engine.parts
        async with engine.purge.undisturbed():
            await transfer.backed_up(
                parts.data_dir,
                Path(path),
                queue=parts.queue_eraser,
                eraser=parts.eraser,
                mirror=parts.mirror,
                at=parts.clock.now(),
            )

    async def import_(self, path: Path) -> int:
        """Read an export back, idempotent by id; bad lines are logged by number and left out. Answers how many rows."""
        engine, transfer = self._open, await asyncio.to_thread(_transfer)
        absorbed = await transfer.imported(
            engine.parts.archive, Path(path), profiles=engine.parts.profiles, stays_out=engine.consent.keeps_out
        )
        await engine.consent.load()
        await engine.profile_indexer.refresh()
        engine.portraits.forget()
        engine.indexer.nudge()
        engine.follow()
        return absorbed

    @property
    def _open(self) -> Engine:
        if self._engine is None:
            raise UnavailableError(self.reason)
        return self._engine

    def _reading(self, scene: Scene, user_id: str | None, group_id: str | None, kinds: Sequence[str]) -> Reading:
        wanted = (kinds,) if isinstance(kinds, str) else tuple(kinds or ())
        for kind in wanted:
            if kind not in (*MEMORY_KINDS, "message"):
                raise BadArgument(sentences.bad_value("kinds", kind, "、".join((*MEMORY_KINDS, "message"))))
        target_user = checked_id(user_id, "user_id") if user_id is not None else ""
        target_group = checked_id(group_id, "group_id") if group_id is not None else ""
        scene.permit(user_id=target_user, group_id=target_group)
        hidden = self._engine.consent.opted_out if self._engine else frozenset[str]()
        return Reading(scene, target_user, target_group, wanted, without=hidden)

    async def _readable(self, scene: Scene, event_id: str) -> Event:
        event = await self._open.parts.events.find(checked_id(event_id, "event_id"))
        if event is None or not event.scope.readable_by(scene, sender_id=event.sender_id):
            raise UnknownEvent(sentences.unknown_event())
        return event


def _engine_class() -> type[Engine]:
    from .engine import Engine  # noqa: PLC0415  # numpy and SQLite cost nothing until a memory is opened, off the loop

    offences(".")  # compiles what would else hold up the first message
    word_forms.prepare()
    intents.prepare()
    return Engine


def _transfer() -> ModuleType:
    from . import transfer  # noqa: PLC0415  # not needed by a bot that never exports, imports or backs up

    return transfer


def _recalls(engine: Engine, scene: Scene) -> bool:
    return engine.consent.may_recall(scene)


def _admitted(engine: Engine, text: str) -> str:
    return engine.consent.hidden(checked_text(text, "text"))


def _count(value: int | None, default: int, *, most: int = MAX_RESULTS) -> int:
    """Read a count: None is the default, what is too large or negative is brought in."""
    return min(default if value is None else max(value, 0), most)


def _checked_ids(message_ids: Sequence[str]) -> frozenset[str]:
    return frozenset(checked_id(message_id, "message_ids") for message_id in message_ids)
