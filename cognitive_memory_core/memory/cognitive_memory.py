"""The façade of the memory: one thin method per operation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from .. import sentences
from ..domain.consent import Switch
from ..domain.event import Event
from ..domain.ids import checked_text
from ..domain.instants import checked_instant
from ..domain.message import Message
from ..domain.scope import Scene, Scope
from ..domain.turn import Turn
from ..durations import Durations, timed
from ..errors import BadArgument, UnavailableError
from ..settings.configuration import with_hot
from ..settings.schema import Live, Settings
from ..tasks import completed
from .arguments import checks_arguments
from .reads import MOST_DAYS, Reads, checked_ids, operators_agent, reading

if TYPE_CHECKING:
    from ..domain.belief import Belief, Evolution, Suggestion
    from ..domain.consent import PlaceSwitch
    from ..domain.erasure import Erasure
    from ..domain.figures import Activity
    from ..domain.job import FailedJob
    from ..domain.message import Backfill
    from ..domain.quality import QualityReport
    from ..models.lent_models import Lend
    from ..ports import Chat, Clock, Embedder, Reranker
    from ..prompts.previews import PromptPreview
    from .learning import Learning
    from .listings import Listings
    from .opened import Opened
    from .status import Status

MAX_INCOGNITO = 7 * 24 * 60  # minutes
LOADED_AGAIN = 1.0  # seconds after somebody cancelled the loading of what learns
CLOCKS_APART = timedelta(seconds=2)  # the platform's clock and ours


@checks_arguments
class CognitiveMemory(Reads):
    """The memory of bots. Created by :meth:`open`, or by :meth:`absent` as a stand-in without storage.

    Its methods must be called on one event loop. Reads return less while a component is unavailable.
    Writes raise StorageRefused or QueueFull with nothing half-written. An invalid request raises a MistakeError that
    says what to do; an argument of the wrong type raises BadArgument from every method.
    """

    def __init__(self, reason: str = "") -> None:
        """Make an absent memory; use :meth:`open` or :meth:`absent` instead."""
        super().__init__(reason or sentences.caller.NOT_RUNNING)
        self._loading: asyncio.Future[Learning] | None = None
        self._chat: Chat | None = None
        self._is_in_background = False

    @classmethod
    def absent(cls, reason: str = "") -> CognitiveMemory:
        """Return a memory that stores and returns nothing and reports ``reason``; touches no disk."""
        return cls(reason)

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
        lend: Lend | None = None,
    ) -> AsyncGenerator[CognitiveMemory, None]:
        """Open a data directory as its only owner for an ``async with`` block; accepted work is durable at its end.

        Raises DirectoryInUse if another process still owns it after ``shutdown_seconds`` + 5 s, StorageRefused if the
        disk refuses it. With ``background=False`` jobs run only in :meth:`drain`. ``chat`` replaces every configured
        chat model, ``embedder`` the embedding model and ``reranker`` the reranking model; an object without the needed
        methods raises BadArgument. ``lend`` returns the :class:`LentModel` that roles without a model use now, or None;
        it is called before each of their calls, if ``borrow`` of their settings allows it.
        """
        if chat is not None and not callable(getattr(chat, "ask", None)):
            raise BadArgument(sentences.caller.bad_value("chat", chat, "有 ask 方法的对话模型"))
        if reranker is not None and not callable(getattr(reranker, "scores", None)):
            raise BadArgument(sentences.caller.bad_value("reranker", reranker, "有 scores 方法的重排模型"))
        machinery = await asyncio.to_thread(import_module, ".opened", __package__)  # loads SQLite, off the event loop
        memory, live = cls(), Live(settings)
        opened = machinery.Opened(live, Path(data_dir), clock or machinery.SystemClock(), embedder, reranker, lend)
        try:
            await opened.open()
            memory._begin(opened, chat, background=background)
            yield memory
        finally:
            await completed(memory._end(opened))

    def _begin(self, opened: Opened, chat: Chat | None, *, background: bool) -> None:
        """Use what is open; in the ``background``, load what learns and start its loops."""
        self._open, self._settings, self._chat = opened, opened.settings, chat
        self._is_in_background = background
        if background:
            self._load()

    def _load(self) -> asyncio.Future[Learning]:
        """Load what learns, once; again if somebody cancelled that."""
        if self._loading is None or self._loading.cancelled():
            self._loading = asyncio.ensure_future(_loaded(self._opened, self._chat, start=self._is_in_background))
            self._loading.add_done_callback(self._load_again)
        return self._loading

    def _load_again(self, ended: asyncio.Future[Learning]) -> None:
        if ended.cancelled():
            ended.get_loop().call_later(LOADED_AGAIN, lambda: self._open is not None and self._load())

    async def _end(self, opened: Opened) -> None:
        """Close what is open, once nothing is being loaded any more."""
        self._open = None
        try:
            if self._loading and not self._loading.cancelled():
                await self._loading
        finally:
            await opened.resources.aclose()

    @property
    def is_running(self) -> bool:
        """Whether the memory forms new memories: it is open, and not disabled by ``enabled=false``."""
        return self._open is not None and self._settings.current.enabled

    @property
    def reason(self) -> str:
        """Why the memory is not running, as a sentence for people; "" while it is."""
        if self._open is None:
            return self._reason
        return "" if self._settings.current.enabled else sentences.caller.NOT_RUNNING

    @property
    def embedder(self) -> str:
        """Name of the embedder in use: that of a model, or "hash" without one; "" while no memory is open."""
        return self._open.embedder.name if self._open else ""

    @property
    def borrows(self) -> bool:
        """Whether the historian uses the model that is lent, if one is: it has none of its own, and may."""
        opened = self._open
        return bool(opened and opened.lender and opened.lender.lends_to(opened.settings.current.models.historian))

    @property
    def durations(self) -> tuple[Durations, ...]:
        """How long turns and recalls took since this object was created, as histograms."""
        return tuple(self._durations.values())

    async def observe(self, message: Message) -> None:
        """Log a message: reads return it at once, and it is on disk within 0.5 s. A failing log raises no error."""
        if self._open is not None:
            self._open.intake.observe(message)

    async def backfill(self, messages: Sequence[Message]) -> Backfill:
        """Log lines that were said before, with their own times, and let the historian consider them, oldest first.

        Left out is what would not have been recorded live: lines of people who opted out, are ignored or were erased,
        withdrawn and forgotten ones, those said incognito or while the place was switched off, and those older than
        ``capture.log_days``. Where such a past state is not known any more, nothing older than its last change is
        taken. The bot's own lines are left out, because only those known from live capture are certain. The same line
        twice, by its id or its number, gives nothing new. Raises UnavailableError, StorageRefused; what was taken by
        then stays.
        """
        return await self._opened.intake.backfill(list(messages))

    async def note_name(self, scene: Scene, heard_at: datetime) -> None:
        """Record the names of a scene's person and group, which the platform reported without a message.

        ``heard_at`` is the time of the report; the names are discarded if the person or place was erased since then.
        Consent applies as in :meth:`observe`. Raises UnavailableError, StorageRefused.
        """
        checked_instant(heard_at, "heard_at")
        if self._open is not None:
            await self._open.intake.note_name(scene, heard_at)

    async def remember(self, turn: Turn) -> str | None:
        """Store a turn durably, then return its job's id, or its memo's id if there is nothing else.

        None if the turn is blank, the place is not recorded or the person opted out. Raises QueueFull, StorageRefused.
        """
        with timed(self._durations, "remember"):
            return await self._open.intake.remember(turn) if self._open else None

    async def consider(self, scene: Scene, messages: Sequence[Message]) -> str | None:
        """Queue a dialogue for triage, as durably as :meth:`remember`; return the job's id, None without a job."""
        return await self._open.intake.consider(scene, messages) if self._open else None

    async def recall_message(self, scene: Scene, message_id: str) -> None:
        """Remove a message withdrawn in the chat from log and waiting jobs; retire events that have no other source."""
        await self._opened.intake.withdraw(scene.scope, message_id)

    @reading(frozenset)
    async def learned_messages(self, scene: Scene, message_ids: Sequence[str]) -> frozenset[str]:
        """Return those of the given messages of the place that are in a job of any state, or sources of an event.

        A caller that restarts after a crash uses this to submit no message twice.
        """
        return await self._opened.intake.learned(scene, checked_ids(message_ids))

    async def prompts(self, tried: str = "", template: str = "") -> list[PromptPreview]:
        """Return the prompts in the data directory or, failing that, of this package, each filled with a sample.

        The prompt named ``tried`` is shown with ``template`` in its place; nothing is stored.
        """
        from ..prompts.previews import previews  # noqa: PLC0415  # most bots never show their prompts

        folder, zone = self._opened.data_dir / "prompts", self._settings.current.zone
        return await asyncio.to_thread(previews, folder, {tried: template} if tried else {}, zone)

    async def set_sharing(self, user_id: str, shared: bool) -> None:
        """Share the profile that was learned in a person's private chat with all their groups, or stop sharing it."""
        await self._opened.consent.set_sharing(user_id, shared, self._opened.clock.now())

    async def correct_event(self, scene: Scene, event_id: str, text: str) -> Event:
        """Replace an event that the asker said by one with this text, its sources and its date; return the new one.

        The lines from which the old event was made are hidden. It can be restored within 30 days, which shows them
        again; afterwards it and they are erased. Raises NotPermitted if somebody else said it, UnknownEvent.
        """
        from .forgetting import corrected_event  # noqa: PLC0415  # loaded with what learns

        learning, opened, old = await self._learning(), self._opened, await self._stored(scene, event_id)
        settings = self._settings.current
        corrected = await corrected_event(opened.ledger.events, opened.consent, settings, scene, old, text)
        learning.note_stored()  # profiles must lose the old fact
        return corrected

    async def forget_event(self, scene: Scene, event_id: str) -> None:
        """Forget an event that the scene may read; :meth:`restore_event` undoes this within 30 days.

        Until then the lines from which it was made, and the bot's lines that repeat it, are hidden; afterwards the
        event and these lines are erased.
        """
        event = await self._stored(scene, event_id)
        await (await self._learning()).forgetting.forget(scene, event)

    async def restore_event(self, scene: Scene, event_id: str) -> Event:
        """Make a forgotten event active again and return it.

        Raises UnknownEvent if the id is unknown, or if the event was forgotten over 30 days ago.
        """
        event = await self._stored(scene, event_id)
        return self._opened.consent.redacted(await (await self._learning()).forgetting.restore(event))

    async def forget_user(self, scene: Scene, user_id: str, *, names: Sequence[str] = ()) -> Erasure:
        """Erase a person everywhere; when this returns, nothing of theirs can be found or restored.

        What they said is removed; in what others said, 某位成员 replaces them. ``names`` are names that the caller
        knows besides the stored ones. Raises NotPermitted unless they or an operator ask, StorageRefused if the disk
        refuses; then another call completes the erasure.
        """
        known = [checked_text(name, "names") for name in names]
        forgetting = (await self._learning()).forgetting
        return await forgetting.forget_person(scene, user_id, known)

    async def forget_scene(self, scene: Scene) -> Erasure:
        """Erase the scene's place (a group or a private chat) as permanently as :meth:`forget_user`.

        Callers must check who may erase a group, as with its pins: this method does not.
        """
        return await (await self._learning()).forgetting.forget_place(scene)

    async def opt_out(self, user_id: str) -> None:
        """Stop recording and recalling a person, everywhere and at once; what others said of them is redacted."""
        opened = self._opened
        opened.buffer.forget_person(user_id)
        await opened.consent.opt_out(user_id, opened.clock.now())
        opened.buffer.forget_person(user_id)  # messages that arrived during the write

    async def opt_in(self, user_id: str) -> None:
        """Record and recall a person again after :meth:`opt_out`."""
        await self._opened.consent.opt_in(user_id)

    async def may_record(self, scene: Scene, at: datetime) -> bool:
        """Return whether what the person of a scene says there at an instant may be stored."""
        consent = self._opened.consent
        return consent.may_record(scene) and not consent.is_incognito(scene, at)

    async def incognito(self, scene: Scene, minutes: float) -> None:
        """Record nothing of the asker in this place for the next minutes; 0 ends it.

        What is said in this time is never recorded, even if it is submitted later. The time begins two
        seconds before the call, because the platform's clock may differ and counts whole seconds.
        Raises BadArgument for a negative number, for more than 7 days, and for the operator.
        """
        if scene.kind == "operator" or not 0 <= minutes <= MAX_INCOGNITO:
            raise BadArgument(sentences.caller.bad_value("minutes", minutes, f"0 到 {MAX_INCOGNITO}（7 天）的分钟数"))
        opened = self._opened
        now = opened.clock.now()
        start = (now - CLOCKS_APART).replace(microsecond=0) if minutes else now
        await opened.consent.go_incognito(scene, start, now + timedelta(minutes=minutes))

    async def set_switch(self, scene: Scene, switch: Switch, *, until: datetime | None = None) -> None:
        """Set the switch of a place: "on", "off", "record_only" or "recall_only"; at ``until`` it returns to "on".

        Raises BadArgument if ``until`` has no zone, is not in the future, or is given with "on".
        """
        from ..domain.consent import PlaceSwitch  # noqa: PLC0415  # loaded with an open memory

        opened, placed = self._opened, PlaceSwitch(scene.scope, switch, until)
        if until and (switch == "on" or checked_instant(until, "until") <= opened.clock.now()):
            raise BadArgument(sentences.caller.bad_value("until", until, sentences.caller.SWITCH_END))
        await opened.consent.set_switch(placed)

    async def place_switch(self, scene: Scene) -> PlaceSwitch:
        """Return the switch of a place with its end; "on" if none is set, or if it has ended."""
        return self._opened.consent.place_switch(scene.scope)

    async def place_switches(self, scene: Scene) -> list[PlaceSwitch]:
        """Return the switches that are not "on" of an operator's agent, ordered by place; others raise NotPermitted."""
        agent = operators_agent(scene)
        return [one for one in self._opened.consent.place_switches() if one.scope.agent == agent]

    async def evolve(self, scene: Scene, *, days: int = 1) -> Evolution:
        """Update the beliefs of the scene's group from what was said in the last ``days``.

        Raises AlreadyEvolving while a run of this group is under way. Without a model, or if it fails, nothing changes
        and ``message`` says so. Callers must check who may start a run.
        """
        if not 1 <= days <= MOST_DAYS:
            raise BadArgument(sentences.caller.bad_value("days", days, f" 1 到 {MOST_DAYS} 的天数"))
        if not self.is_running:
            from ..domain.belief import Evolution  # noqa: PLC0415  # loaded with an open memory

            return Evolution(message=self.reason)
        since = self._opened.clock.now() - timedelta(days=days)
        evolution = await (await self._learning()).evolver.evolve(scene, since)
        with suppress(UnavailableError):  # the changes are stored, also if what they rest on cannot be read
            evolution = replace(evolution, changes=tuple(await self._quoted(scene.scope, evolution.changes)))
        return evolution

    async def evolve_groups(self, *, within: float = 3600.0) -> int:
        """Update the beliefs of each group with ``evolution.min_messages`` new lines; return the number of groups.

        The runs are spread over ``within`` seconds. Each reads the lines of the
        last 14 days that no run has read. Runs use at most half of ``daily_calls``; groups left out come first the next
        time.
        """
        from ..evolution.evolver import evolve_due  # noqa: PLC0415  # loaded with what learns

        learning = await self._learning()
        return await evolve_due(learning.evolver, learning.may_evolve, within) if self.is_running else 0

    async def retire_belief(self, scene: Scene, belief_id: str, reason: str) -> Belief:
        """Retire a belief, which can be restored; evolution does not create it again.

        Raises UnknownBelief, or MistakeError if it is retired already. Callers of this and the next three methods must
        check who may do it, as with the group's pins.
        """
        return await self._seen(
            await self._opened.beliefs.retire(scene, belief_id, self._opened.consent.hidden(reason))
        )

    async def restore_belief(self, scene: Scene, belief_id: str) -> Belief:
        """Restore a retired belief, or store an older version as the newest; raises UnknownBelief, MistakeError."""
        restored = await self._opened.beliefs.restore(scene, belief_id)
        (await self._learning()).belief_indexer.nudge()
        return await self._seen(restored)

    async def reword_belief(self, scene: Scene, belief_id: str, statement: str) -> Belief:
        """Store an admin's wording of a belief as its next version, which rests on nobody's lines.

        Raises UnknownBelief, BadArgument unless it has 1 to 300 characters, or MistakeError if an equal one is active.
        """
        opened = self._opened
        reworded = await opened.beliefs.reword(scene, belief_id, opened.consent.hidden(statement))
        (await self._learning()).belief_indexer.nudge()
        return reworded

    async def set_belief_strength(self, scene: Scene, belief_id: str, strength: float) -> Belief:
        """Set a belief's strength in [0, 1], else BadArgument; below 0.2 no model is shown it. Raises UnknownBelief."""
        return await self._seen(await self._opened.beliefs.set_strength(scene, belief_id, strength))

    async def _seen(self, belief: Belief) -> Belief:
        """Return a changed belief as it is seen; without its words, if only people who opted out said it.

        It is stored, and returned without quotes if they cannot be read.
        """
        seen = self._opened.consent.belief(belief.scope, belief)
        if seen is None:
            return replace(belief, statement=sentences.context.SOMEBODY, change_summary="", tags=(), supporters=())
        with suppress(UnavailableError):
            (seen,) = await self._worded(belief.scope, [belief])
        return seen

    @reading(list)
    async def suggestions(self, scene: Scene) -> list[Suggestion]:
        """Return what the group could keep about problems that several people met, or one person on several days.

        Suggestions on which somebody decided are left out. Callers must check who may see and decide.
        """
        return await (await self._learning()).suggesting.suggestions(scene)

    async def decide_suggestion(self, scene: Scene, suggestion_id: str, accept: bool) -> None:
        """Accept a suggestion, so that its draft becomes a belief of the group, or dismiss it for good.

        Raises UnknownSuggestion if somebody decided on it already, or if its evidence or words have changed.
        """
        suggesting = (await self._learning()).suggesting
        await suggesting.decide(scene, suggestion_id, accept=accept)

    async def compress(self, messages: Sequence[Message], *, budget: int) -> str:
        """Shorten a dialogue to at most ``budget`` tokens: older lines summarised, the last lines verbatim.

        Without a model, or if it fails, only the newest lines that fit are returned. People who opted out are left out.
        """
        from .compression import admitted, checked_dialogue, compressed  # noqa: PLC0415  # loaded with an open memory

        lines = checked_dialogue(messages)
        if self._open is None:
            return await compressed(lines, budget)
        consent = self._open.consent
        summariser = (await self._learning()).summariser if self.is_running else None
        return await compressed(admitted(lines, consent.admitted), budget, summariser, consent.hidden)

    @property
    def listings(self) -> Listings:
        """The paged lists for an operator; raises UnavailableError while no memory is open."""
        from .listings import Listings  # noqa: PLC0415  # loaded with an open memory

        return Listings(self._opened)

    async def status(self) -> Status:
        """Return the status; a failing store is named in it and raises no error."""
        from .status import Status, collected_status  # noqa: PLC0415  # loaded with an open memory

        if self._open is None:
            return Status(is_running=False, reason=self.reason)
        return await collected_status(await self._learning(), reason=self.reason)

    async def report(self, scene: Scene, *, days: int = 30, examine: bool = True) -> QualityReport:
        """Return the quality report of an operator's agent; costs and counts cover the last ``days`` (1 to 366).

        With ``examine`` the texts of the latest 100,000 events are compared, too: in a thread, about 10 seconds for so
        many. Raises NotPermitted unless an operator asks, UnavailableError if the ledger cannot be read.
        """
        agent, wanted = operators_agent(scene), min(max(days, 1), MOST_DAYS)
        await self._opened.tally.flush()
        return await (await self._learning()).reporting.report(agent, days=wanted, examine=examine)

    async def activity(self, scene: Scene, *, days: int = 14) -> Activity:
        """Count the active events and logged lines of the scene's place, in total and by day.

        For an operator without a group all places are counted. ``days`` (1 to 366) ends with today in the configured
        time zone. An unavailable ledger raises UnavailableError.
        """
        from .status import Activity, collected_activity  # noqa: PLC0415  # loaded with an open memory

        if self._open is None:
            return Activity()
        return await collected_activity(self._open, scene, min(max(days, 1), MOST_DAYS))

    @reading(list)
    async def failed_jobs(self) -> list[FailedJob]:
        """Return the buried jobs with their errors, oldest first."""
        return await self._opened.queue.failed()

    async def revive(self, job_id: str | None = None, *, by_rules: bool = False) -> int:
        """Queue one buried job again, or all; return how many. For all, waiting jobs are tried now, too.

        With ``by_rules``, jobs whose model a provider refuses are done by the rules at once instead of after an hour.
        """
        learning = await self._learning()
        revived = await self._opened.queue.revive(job_id)
        if job_id is None:
            for breaker in learning.breakers:
                breaker.try_now()
                if by_rules:
                    breaker.give_up()
        learning.worker.nudge()
        return revived

    async def pause(self) -> None:
        """Stop claiming jobs until :meth:`resume`; jobs accepted meanwhile wait."""
        learning = await self._learning()
        learning.worker.paused = learning.merging.paused = True

    async def resume(self) -> None:
        """Let the historian process waiting jobs again after :meth:`pause`; no effect if it is not paused."""
        learning = await self._learning()
        learning.worker.paused = learning.merging.paused = False
        learning.worker.nudge()
        learning.merging.nudge()

    async def drain(self, timeout: float) -> bool:
        """Wait until queue and indexes are idle; return True then, False after ``timeout`` seconds.

        With ``enabled=false`` no job runs, so only the writing of messages is awaited, and jobs stay pending.
        """
        return await (await self._learning()).drain(timeout) if self._open else True

    async def reindex(self) -> int:
        """Rebuild the vector index from the ledger while exact search answers; return the number of vectors.

        No text is embedded again. Raises UnavailableError if the vector store cannot be reached.
        """
        opened = self._opened
        await (await self._learning()).profile_indexer.refresh()
        if opened.reconciler:
            return await opened.reconciler.rebuild()
        return len(await opened.ledger.vectors.embedded_ids(opened.embedder.fingerprint))

    async def export(
        self, path: Path, *, user_id: str | None = None, place: Scope | None = None, agent: str | None = None
    ) -> int:
        """Write everything, what one person said and pinned, one place, or one agent's, as JSON Lines; return how many.

        The file is complete or unchanged. Raises BadArgument for a path inside the data directory or of anything but a
        new or regular file, StorageRefused if the disk refuses.
        """
        await self._learning()  # loads what follows, off the event loop
        from ..transfer import checked_target, exported  # noqa: PLC0415  # loaded with what learns
        from .forgetting import without_forgotten  # noqa: PLC0415  # loaded with what learns

        opened = self._opened
        target = await asyncio.to_thread(checked_target, Path(path), opened.data_dir)
        await opened.buffer.flush()
        await opened.ledger.eraser.note_copy(str(target), "export", opened.clock.now())
        return await exported(
            opened.ledger.archive,
            target,
            user_id=user_id,
            place=place,
            agent=agent,
            profiles=opened.profiles,
            edited=lambda profile: without_forgotten(profile, opened.ledger.eraser),
        )

    async def discard_export(self, path: Path) -> None:
        """Delete an exported file, and remove it from the copies that an erasure lists."""
        await self._learning()
        from ..transfer import checked_target  # noqa: PLC0415  # loaded with what learns

        opened = self._opened
        target = await asyncio.to_thread(checked_target, Path(path), opened.data_dir)
        await asyncio.to_thread(target.unlink, missing_ok=True)
        await opened.ledger.eraser.drop_copy(str(target))

    async def backup(self, path: Path) -> None:
        """Copy the present state into a new or empty directory that can be opened as a data directory.

        Raises BadArgument for a path inside the data directory or one that is not empty, StorageRefused if the disk
        refuses; nothing incomplete remains. Indexes are left out and rebuilt when the copy is opened.
        """
        opened, learning = self._opened, await self._learning()
        from ..transfer import backed_up  # noqa: PLC0415  # loaded with what learns

        await opened.buffer.flush()
        async with learning.forgetting.turn:  # no erasure meanwhile
            await backed_up(
                opened.data_dir,
                Path(path),
                queue=opened.queue,
                eraser=opened.ledger.eraser,
                memos=opened.memos,
                at=opened.clock.now(),
            )

    async def import_(self, path: Path) -> int:
        """Import an export, except known ids and bad lines (logged by number); return the number of new rows."""
        return await (await self._learning()).import_file(Path(path))

    async def configure(self, settings: Settings) -> None:
        """Use the hot settings of ``settings`` from the next call on; all other settings keep their values."""
        self._settings.current = with_hot(self._settings.current, settings)
        if self._loading is not None and self._loading.done():  # else it starts with these settings
            (await self._learning()).reconsider()

    async def _learning(self) -> Learning:
        """Return what learns, forgets and reports; the first call loads and composes it."""
        return await asyncio.shield(self._load())


async def _loaded(opened: Opened, chat: Chat | None, *, start: bool) -> Learning:
    def load() -> ModuleType:
        from ..store.numpy_on_use import np  # noqa: PLC0415  # in this thread
        from ..text import questions, relative_words, terms  # noqa: PLC0415  # in this thread
        from . import learning  # noqa: PLC0415  # in this thread

        np.unique(np.empty(0))  # loads numpy, and what this uses: a process out of file handles could not
        terms.prepare()
        for compiled_on_use in (relative_words.offences, questions.asks_who, questions.speaks_of_asker):
            compiled_on_use(".")  # else the first message would wait for it
        return learning

    learning = (await asyncio.to_thread(load)).Learning(opened)
    await learning.open(chat)
    if start:
        learning.start()  # before any caller gets it: a drain stops the loops that it found not running
    return learning
