"""Answers questions: begins the embedding, reads on a reading thread, and awaits what the steps of a question need."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from .. import sentences
from ..domain.message import Context, Hit
from ..domain.reading import ReadFilter
from ..domain.scope import Scene, Scope
from ..domain.turn import Memo
from ..errors import CognitiveMemoryError, UnavailableError
from ..ports import Tally, Vector
from ..settings import Live, Settings
from ..store.database.database import Snapshot
from ..tasks import AWAY, PATIENCE, is_out_of_threads, seen, with_timeout
from .one_pass import Question, Sources, newest
from .query import Query, embedded_text, query_of
from .ranking import Explanation
from .render import section_tokens

LONG = 300  # characters; a longer query is parsed in a thread
FLUSHING = 0.2  # share of the time limit spent on waiting for buffered lines to be written
TURNS = 8  # of the event loop, in which an embedder that waits for nothing has answered through all its wrappers
LAST_STEPS = 0.2  # share of the time limit that is left to the pass when a model is late
T = TypeVar("T")


@dataclass(frozen=True)
class SearchResult:
    """The hits of a search, best first, and the names of the parts that were unavailable."""

    hits: tuple[Hit, ...] = ()
    degraded: tuple[str, ...] = ()


class Recall:
    """Builds contexts and searches events and the log; what fails or is late is left out, and raises no error."""

    def __init__(
        self,
        sources: Sources,
        settings: Live[Settings],
        *,
        waiting_memos: Callable[[Scope], list[Memo]] = lambda _: [],
        flush: Callable[[], Awaitable[object]] | None = None,
        tally: Tally | None = None,
        guarded: Callable[[Callable[[], Awaitable[None]]], Awaitable[None]] | None = None,
        patience: float = PATIENCE,
    ) -> None:
        """Answer from these sources.

        ``waiting_memos`` returns the memos of jobs that are still in the queue. ``flush`` is awaited before a search of
        the log, so that the latest lines are written. ``guarded`` runs a pass behind a breaker. A model that takes
        longer than ``patience`` seconds is unavailable.
        """
        self.sources = sources
        self._settings = settings
        self._waiting_memos = waiting_memos
        self._flush = flush
        self._tally = tally or Tally()
        self._guarded = guarded
        self._patience = patience

    async def context(
        self, scene: Scene, text: str, *, budget: int | None = None, shown: Collection[str] | None = None
    ) -> Context:
        """Build the context for what was just said in a scene; ``budget`` is in tokens (None: the configured one).

        ``shown`` are ids of messages of the place that are not quoted; None: the message being answered.
        """
        question, context = await self._built(scene, text, budget, self._settings.current, shown)
        events = [event.id for event in question.shown]
        self._tally.recalled(events)
        return replace(context, sources=(*events, *(one.line.id for one in question.lines.lines)))

    async def explained(
        self, scene: Scene, text: str, *, budget: int | None = None, settings: Settings | None = None
    ) -> Explanation:
        """Build the same context and return it with its search candidates; ``settings`` replace the present ones."""
        used, consent = settings or self._settings.current, self.sources.consent
        question, context = await self._built(scene, text, budget, used, None, explains=True)
        admits = consent.present_filter(scene).admits
        lines = sorted(question.line_candidates, key=lambda one: (one.rank == 0, one.rank, -one.score))
        found = sorted(question.candidates, key=lambda one: (one.rank == 0, one.rank, -one.score))
        visible = [one for one in found if admits(one.event)]
        named = await self.sources.names.of([one.event for one in visible])

        def redacted() -> Explanation:  # hundreds of texts take a while
            events = consent.shown(scene, named)
            return Explanation(
                context,
                tuple(replace(one, event=event) for one, event in zip(visible, events, strict=True)),
                tuple(map(section_tokens, context.sections)),
                tuple(replace(one, line=line) for one in lines for line in consent.shown(scene, [one.line])),
            )

        return await asyncio.to_thread(redacted)

    async def memos_only(self, scene: Scene, *, budget: int | None = None) -> Context:
        """Build the context for ``enabled=false``: recent memos only."""
        settings = self._settings.current
        question = Question(self.sources, self.sources.consent.present_filter(scene), Query(""), settings)
        question.missing = {"notes": "ledger", "": "disabled"} if scene.has_place else {"": "disabled"}
        waiting = self._waiting_memos(scene.scope) if scene.has_place else []
        if scene.has_place:
            await self._answered(question, question.read_memos)
        return question.rendered(waiting, budget)

    async def memos(self, scope: Scope, limit: int) -> list[Memo]:
        """Return the newest memos of a place, newest last, including those of jobs still in the queue.

        Memos of people who opted out are left out and do not count towards the limit.
        """
        if limit <= 0:
            return []
        hidden = self.sources.consent.opted_out
        waiting = self._waiting_memos(scope)  # read first: a memo that is stored meanwhile is read twice, and not never
        stored = await self.sources.ledger.notes.memos(scope, limit, without=hidden)
        return newest((*stored, *(memo for memo in waiting if memo.user_id not in hidden)), limit)

    async def search(self, read_filter: ReadFilter, text: str, *, top_k: int) -> SearchResult:
        """Return at most ``top_k`` (and 200) hits of the read filter's kinds; log lines only for the kind "message".

        A query without terms finds nothing. A hit on the log has the surrounding lines that the scene may read.
        """
        settings, query = self._settings.current, await self._asked(text, read_filter.scene)
        if top_k <= 0 or not query.terms:
            return SearchResult()
        embedding = None if set(read_filter.kinds) == {"message"} else self._embedding(query, settings)
        if "message" in read_filter.kinds and self._flush is not None:
            with suppress(*AWAY):  # a log whose writes fail may still be readable
                await with_timeout(self._patience * FLUSHING, self._flush())
        question = Question(self.sources, read_filter, query, settings, embedding)
        question.missing = {"words": "lexical", "vectors": "vectors"} if embedding else {}
        if "message" in read_filter.kinds:
            question.missing["lines"] = "lexical"
        begin, finish = partial(question.begin_search, top_k), partial(question.finish_search, top_k)
        await self._answered(question, begin, finish)
        return SearchResult(tuple(question.hits), question.degraded)

    async def _built(
        self,
        scene: Scene,
        text: str,
        budget: int | None,
        settings: Settings,
        shown: Collection[str] | None,
        *,
        explains: bool = False,
    ) -> tuple[Question, Context]:
        query, asked = await self._asked(text, scene), settings.query
        is_greeting = query.says_little
        is_asked = bool(query.terms) and asked.auto_top_k > 0 and not is_greeting
        embedding = self._embedding(query, settings) if is_asked else None
        question = Question(
            self.sources, self.sources.consent.present_filter(scene), query, settings, embedding, explains=explains
        )
        question.missing = {"notes": "ledger"} if scene.has_place else {}
        if query.terms:
            question.missing |= {"lines": "lexical"} if asked.auto_messages_k else {}
            question.missing |= {"words": "lexical", "vectors": "vectors"} if asked.auto_top_k > 0 else {}
            question.missing |= {"beliefs": "ledger"} if self.sources.beliefs and scene.group_id else {}
        if self.sources.profiles:
            question.missing["profiles"] = "profiles"
        waiting = self._waiting_memos(scene.scope) if scene.has_place else []  # before the stored ones are read
        begin = partial(question.begin_context, shown, is_greeting=is_greeting)
        await self._answered(question, begin, question.finish_context)
        return question, question.rendered(waiting, budget)

    async def _asked(self, text: str, scene: Scene) -> Query:
        """Parse a question, as if nobody were known in its place."""
        read = partial(query_of, text, scene, self.sources.clock.now().astimezone(self._settings.current.zone))
        return await asyncio.to_thread(read) if len(text) > LONG else read()

    def _embedding(self, query: Query, settings: Settings) -> asyncio.Future[Vector]:
        embedding = asyncio.ensure_future(self.sources.embedder.embed_query(embedded_text(query, settings)))
        embedding.add_done_callback(seen)
        return embedding

    async def _answered(
        self, question: Question, begin: Callable[[], None], finish: Callable[[], None] = lambda: None
    ) -> None:
        """Carry out a question; what it has not read when it fails, or when the time is over, stays missing."""
        embedding = question.embedding
        for _ in range(TURNS):  # one trip to a thread is enough when the vector is there
            if embedding is None or embedding.done():
                break
            await asyncio.sleep(0)
        carried_out = partial(self._carried_out, question, begin, finish)
        try:
            await (self._guarded(carried_out) if self._guarded else carried_out())
        except AWAY:
            pass
        except RuntimeError as failure:
            if not is_out_of_threads(failure):
                raise
        finally:
            self.sources.ledger.corpora.load()

    async def _carried_out(self, question: Question, begin: Callable[[], None], finish: Callable[[], None]) -> None:
        """Read, await the vector, read on, await the reranker, and read the rest; raise the ledger's failure."""
        end = asyncio.get_running_loop().time() + self._patience
        embedding, wide, reranker = question.embedding, self.sources.wide, self.sources.reranker

        def first() -> None:
            begin()
            if not question.waits:
                question.find()
                finish()

        if embedding is not None and embedding.done():
            question.vector = await self._awaited(embedding, end)
        await self._read(question, first, end)
        if question.waits:
            if question.vector is None:
                embedding = embedding or self._embedding(question.query, question.settings)
                question.vector = await self._awaited(embedding, end)
            if question.vector is None:
                question.missing["vectors"] = "embedding"
            elif wide is not None and question.is_wide:
                asked = wide(question.vector, question.read_filter, question.wanted)
                question.wide = await self._awaited(asked, end) or ()
            await self._read(question, question.find, end)
            if reranker is not None and question.asked:
                texts = [one.event.text for one in question.asked]
                question.scores = await self._awaited(reranker.scores(question.query.text, texts), end)
            await self._read(question, finish, end)
        if question.failure is not None:
            raise question.failure

    async def _read(self, question: Question, step: Callable[[], None], end: float) -> None:
        """Run one step of a question on a reading thread."""

        def read(connection: Snapshot) -> None:
            question.connection = connection
            step()

        try:
            seconds = end + self._patience * LAST_STEPS - asyncio.get_running_loop().time()
            await self.sources.ledger.database.answer(read, seconds)
        except asyncio.TimeoutError:
            late = sentences.log.PART_DOES_NOT_ANSWER.format(part="ledger", seconds=self._patience)
            raise UnavailableError(late) from None

    async def _awaited(self, asked: Awaitable[T], end: float) -> T | None:
        """Return what a model or the vector store answers; None if it fails or is late."""
        answer = asyncio.ensure_future(asked)  # a cancelled caller leaves it running: breakers count it
        answer.add_done_callback(seen)
        try:
            return await with_timeout(end - asyncio.get_running_loop().time(), asyncio.shield(answer))
        except (CognitiveMemoryError, asyncio.TimeoutError):
            return None
