"""Evolves the beliefs of groups: reads them with the recent chat, calls a model once, commits the admitted edits."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from .. import sentences
from ..consent import Consent
from ..domain.belief import Belief, BeliefEdit, Evolution
from ..domain.job import JobContext
from ..domain.message import Message
from ..domain.people import Person
from ..domain.reading import ReadFilter
from ..domain.scope import Scene, Scope, log_fields
from ..domain.turn import Dialogue
from ..errors import AlreadyEvolving, BadAnswer, PermanentError, UnavailableError
from ..models.spending import NothingLent
from ..ports import Chat, Clock
from ..prompts.library import PromptLibrary
from ..settings.schema import Live, Settings
from ..store.ledger import Ledger
from ..tasks import completed
from ..text.cleaning import described
from ..text.names import clean_name
from .beliefs import group_of, quoting
from .judging import Judgement
from .support import NumberedChat

log = logging.getLogger(__name__)
MOST_BARRED = 500
KNOWN_PEOPLE = 400
AWAY = (UnavailableError, BadAnswer, PermanentError)


@dataclass
class Evolver:
    """Runs evolution, one run a group at a time.

    The model call happens outside every lock. A run commits in one transaction; if meanwhile something was erased or
    forgotten or somebody opted out, nothing of the run is stored. Edits on beliefs that an admin changed meanwhile are
    dropped. ``model`` is a chat model with its prompts; ``flush`` writes buffered messages, and ``on_stored`` is called
    after each commit.
    """

    model: tuple[Chat, PromptLibrary] | None
    ledger: Ledger
    consent: Consent
    settings: Live[Settings]
    clock: Clock
    flush: Callable[[], Awaitable[object]]
    on_stored: Callable[[], None] = lambda: None
    _running: set[Scope] = field(default_factory=set[Scope], init=False)
    _commit: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _erasures: int = field(default=0, init=False)

    @asynccontextmanager
    async def suspended(self) -> AsyncGenerator[None, None]:
        """Prevent commits during the ``with`` block, and later ones of runs that read their input before it ended."""
        async with self._commit:
            self._erasures += 1
            try:
                yield
            finally:
                self._erasures += 1

    async def evolve(self, scene: Scene, since: datetime) -> Evolution:
        """Update the beliefs of the scene's group from its lines since ``since``.

        Raises BadArgument for a private chat, AlreadyEvolving while a run of the same group is under way, and
        StorageRefused if the disk refuses.
        """
        scope = group_of(scene)
        if scope in self._running:
            raise AlreadyEvolving(sentences.caller.ALREADY_RUNNING)
        self._running.add(scope)
        try:
            return await self._evolved(scene, since)
        finally:
            self._running.discard(scope)

    async def _evolved(self, scene: Scene, since: datetime) -> Evolution:
        if self.model is None:
            return Evolution(message=sentences.caller.NO_MODEL)
        if not self.consent.is_recorded(scene.scope):
            return Evolution(message=sentences.caller.NOT_RECORDED)
        erasures, hidden = self._erasures, self.consent.opted_out
        await self.flush()
        lines, is_cut = await self._lines(scene.scope, since)
        page = await self.ledger.beliefs.page(scene.scope, "active", self.settings.current.evolution.max_beliefs)
        if not any(line.sender_id for line in lines):
            return Evolution(kept=len(page.beliefs), message=sentences.caller.NOTHING_NEW)
        job_context = await self._job_context(scene, lines)
        try:
            judgement, unreadable = await self._ask_and_judge(*self.model, lines, page.beliefs, job_context)
        except NothingLent:
            return Evolution(message=sentences.caller.NO_MODEL)
        except AWAY as away:
            message = sentences.log.NOT_EVOLVED.format(reason=described(away))
            log.warning("%s", message, extra=log_fields("beliefs", place=scene.scope))
            return Evolution(message=sentences.caller.FAILED.format(reason=described(away)))
        edits = await self._with_events(scene, judgement.edits)

        async def store() -> list[BeliefEdit]:
            stored = await self.ledger.beliefs.commit(edits)
            await self.ledger.beliefs.note(scene.scope, [line.id for line in lines])
            return stored

        async with self._commit:
            if self._erasures != erasures or not self.consent.opted_out <= hidden:
                return Evolution(message=sentences.caller.OVERTAKEN)
            stored = await completed(store())
        self.on_stored()
        counts = judgement.rejected
        counts["unreadable"] += unreadable
        counts["changed_meanwhile"] += len(edits) - len(stored)
        rejected = {reason: count for reason, count in counts.items() if count}
        changes = tuple(edit.change for edit in stored if edit.change)
        done = {action: sum(change.action == action for change in changes) for action in ("update", "create", "delete")}
        said = sentences.caller.summary(judgement.kept, done, rejected, is_cut=is_cut)
        return Evolution(judgement.kept, done["update"], done["create"], done["delete"], changes, said, rejected)

    async def _job_context(self, scene: Scene, lines: Sequence[Message]) -> JobContext:
        here = {line.sender_id for line in lines if line.sender_id}
        people = sorted(await self.ledger.names.people(scene.scope), key=lambda one: one.id not in here)
        people = [one for one in people[:KNOWN_PEOPLE] if one.id not in self.consent.opted_out]
        when = self.clock.now().astimezone(self.settings.current.zone)
        names = (line.scene.group_name for line in reversed(lines) if line.scene.group_name)
        name = clean_name(next(names, scene.group_name))
        speaker = people[0] if people else Person("")
        return JobContext(when, scene.scope, name, speaker, tuple(one.as_usual() for one in people))

    async def _lines(self, scope: Scope, since: datetime) -> tuple[list[Message], bool]:
        """Return the newest lines since ``since`` that consent admits, oldest first, and whether more had no room."""
        most = self.settings.current.evolution.max_messages
        newest = await self.ledger.log.recent(scope, most + 1, without=self.consent.opted_out)
        fresh = [line for line in newest if line.sent_at >= since]
        admitted = self.consent.admitted(Dialogue(fresh[0].scene, fresh[-most:])) if fresh else None
        return list(admitted.messages if isinstance(admitted, Dialogue) else ()), len(fresh) > most

    async def _ask_and_judge(
        self,
        chat: Chat,
        prompts: PromptLibrary,
        lines: Sequence[Message],
        beliefs: Sequence[Belief],
        job_context: JobContext,
    ) -> tuple[Judgement, int]:
        settings, opted_out = self.settings.current.evolution, self.consent.opted_out
        shown: list[Belief] = []  # without people who opted out
        for belief in beliefs:
            supporters = tuple(one for one in belief.supporters if one not in opted_out)
            shown.append(replace(belief, statement=self.consent.hidden(belief.statement), supporters=supporters))
        ledger = self.ledger
        shown = await quoting(shown, job_context.place, ledger.log.find, ledger.events, self.consent)
        ask = await asyncio.to_thread(prompts.evolve, shown, lines, job_context, most=settings.max_beliefs)
        proposals, unreadable = await chat.ask(ask)
        retired = await self.ledger.beliefs.page(job_context.place, "deprecated", MOST_BARRED)
        supporters = {one for belief in beliefs for one in belief.supporters}
        judgement = Judgement(
            secrets.token_hex(8),
            beliefs,
            NumberedChat(lines, job_context.people),
            job_context,
            ask.prompt,
            self.clock.now(),
            settings.max_beliefs,
            barred=frozenset(belief.key for belief in retired.beliefs if belief.is_barred),
            admins=await self.ledger.names.admins(job_context.place, supporters),
        )
        await asyncio.to_thread(judgement.take, proposals)
        return judgement, unreadable

    async def _with_events(self, scene: Scene, edits: Sequence[BeliefEdit]) -> list[BeliefEdit]:
        """Return the edits, with the ids of the events that were made from their supporting messages."""
        operator = Scene.operator(scene.agent, group_id=scene.group_id)
        linked: list[BeliefEdit] = []
        for edit in edits:
            lines = [(scene.scope, message_id) for message_id in edit.belief.message_ids]
            events = await self.ledger.events.made_of(lines, ReadFilter(operator)) if lines else []
            ids = tuple(sorted(event.id for event in events))
            linked.append(replace(edit, belief=replace(edit.belief, event_ids=ids)) if ids else edit)
        return linked


OLDEST_LINE = timedelta(days=14)  # unread lines older than that are left out


async def evolve_due(
    evolver: Evolver,
    may_call: Callable[[], bool],
    within: float,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> int:
    """Evolve each due group once, spread over ``within`` seconds; return how many were evolved, 0 if it is disabled.

    ``may_call`` returns whether the day's call budget allows another run. If it ends a round early, the next one begins
    with the groups left over, because their last run is longest ago. Raises UnavailableError, StorageRefused.
    """
    settings, done = evolver.settings.current.evolution, 0
    unread = await evolver.ledger.beliefs.unread() if settings.enabled else []
    due = [one for one in unread if one.messages >= settings.min_messages and evolver.consent.is_recorded(one.scope)]
    for number, activity in enumerate(due):
        if not may_call():
            log.info("%s", sentences.log.GROUPS_WAIT.format(count=len(due) - number, all=len(due)))
            break
        if number:
            await sleep(max(within, 0.0) / len(due))
        scope, oldest = activity.scope, evolver.clock.now() - OLDEST_LINE
        group = Scene.operator(scope.agent, group_id=scope.place_id)
        try:
            evolution = await evolver.evolve(group, max(activity.since, oldest))
        except AlreadyEvolving:
            continue
        done += 1
        said = sentences.log.EVOLVED.format(message=evolution.message)
        log.info("%s", said, extra=log_fields("beliefs", place=scope))
    return done
