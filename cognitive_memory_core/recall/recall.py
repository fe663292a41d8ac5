"""Answers questions: asks models, lets a pass read on a reading thread, and renders what it found."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TypeVar

from .. import sentences
from ..domain.answer import Context, Hit
from ..domain.notes import Memo
from ..domain.reading import ReadFilter
from ..domain.scope import Scene, Scope
from ..errors import CognitiveMemoryError, UnavailableError
from ..ports import Tally
from ..settings.schema import Live, Settings
from ..store.database.database import Snapshot
from ..tasks import AWAY, PATIENCE, is_out_of_threads, seen, with_timeout
from ..text.query import Query
from .beliefs_and_profiles import vector_of
from .one_pass import ContextPass, Pass, SearchPass, Sources
from .ranking import Explanation
from .render import newest, rendered, section_tokens

LONG = 300  # characters; a longer query is parsed in a thread
FLUSHING = 0.2  # share of the time limit spent on waiting for buffered lines to be written
LAST_STEPS = 0.2  # share of the time limit that is left to the pass when a model is late
T = TypeVar("T")
APass = TypeVar("APass", bound=Pass)


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
        found, context = await self._built(scene, text, budget, self._settings.current, shown)
        self._tally.recalled([event.id for event in found.events])
        return context

    async def explained(
        self, scene: Scene, text: str, *, budget: int | None = None, settings: Settings | None = None
    ) -> Explanation:
        """Build the same context and return it with its search candidates; ``settings`` replace the present ones."""
        used, consent = settings or self._settings.current, self.sources.consent
        found, context = await self._built(scene, text, budget, used, None, explains=True)
        kept = {section.title: len(section.lines) for section in context.sections}
        events = found.events[: kept.get(sentences.context.TITLE_EVENTS, 0)]
        quotes = found.quotes[: kept.get(sentences.context.TITLE_QUOTATIONS, 0)]
        context = replace(context, sources=(*(one.id for one in events), *(one.line.id for one in quotes)))
        for rank, line in enumerate(found.quotes, 1):
            line.rank = rank
        for line in found.lines:
            line.cut = line.cut or (None if line.rank else "limit")
        lines = sorted(found.lines, key=lambda one: (one.rank == 0, one.rank, -one.score))
        readable = consent.present_filter(scene)
        candidates = sorted(found.candidates, key=lambda one: (one.rank == 0, one.rank, -one.score))
        visible = [one for one in candidates if readable.admits(one.event)]
        named = await self.sources.names.of([one.event for one in visible])

        def redacted() -> Explanation:  # hundreds of texts take a while
            events = consent.shown(scene, named)
            return Explanation(
                context,
                tuple(replace(one, event=event) for one, event in zip(visible, events, strict=True)),
                tuple(map(section_tokens, context.sections)),
                tuple(replace(one, line=consent.redacted(one.line)) for one in lines if readable.admits_line(one.line)),
            )

        return await asyncio.to_thread(redacted)

    async def memos_only(self, scene: Scene, *, budget: int | None = None) -> Context:
        """Build the context for ``enabled=false``: recent memos only."""
        settings, read_filter = self._settings.current, self.sources.consent.present_filter(scene)
        empty = ContextPass(self.sources, read_filter, Query(""), settings, self.sources.clock.now())
        empty.missing[""] = "disabled"
        if scene.has_place:
            empty.waiting, empty.missing["notes"] = self._waiting_memos(scene.scope), "ledger"
            empty = await self._carried_out(empty, ContextPass.read_memos)
        return rendered(empty, budget)

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
        settings, kinds = self._settings.current, read_filter.kinds
        now, query = await self._parsed(read_filter.scene, text, settings)
        if top_k <= 0 or not query.terms:
            return SearchResult()
        events = replace(read_filter, kinds=tuple(kind for kind in kinds if kind != "message"))
        search = SearchPass(self.sources, events, query, settings, now, top_k=top_k)
        search.of_lines, search.of_events = "message" in kinds, set(kinds) != {"message"}
        if search.of_lines:
            search.missing["lines"] = "lexical"
            if self._flush is not None:
                with suppress(*AWAY):  # a log whose writes fail may still be readable
                    await with_timeout(self._patience * FLUSHING, self._flush())
        search.missing |= {"words": "lexical", "vectors": "vectors"} if search.of_events else {}
        search = await self._carried_out(search, SearchPass.read)
        return SearchResult(tuple(search.hits), search.degraded)

    async def _built(
        self,
        scene: Scene,
        text: str,
        budget: int | None,
        settings: Settings,
        shown: Collection[str] | None,
        *,
        explains: bool = False,
    ) -> tuple[ContextPass, Context]:
        limits, read_filter = settings.query, self.sources.consent.present_filter(scene)
        now, query = await self._parsed(scene, text, settings)
        if query.says_little:  # a greeting asks for nothing
            query = replace(query, terms=())
        begun = ContextPass(self.sources, read_filter, query, settings, now, explains, shown=shown)
        if scene.has_place:
            begun.waiting, begun.missing["notes"] = self._waiting_memos(scene.scope), "ledger"
        if query.terms:
            begun.missing |= {"lines": "lexical"} if limits.auto_messages_k else {}
            begun.missing |= {"words": "lexical", "vectors": "vectors"} if limits.auto_top_k > 0 else {}
            begun.missing |= {"beliefs": "ledger"} if self.sources.beliefs and scene.group_id else {}
        if self.sources.profiles:
            begun.missing["profiles"] = "profiles"
        found = await self._carried_out(begun, ContextPass.read)
        return found, rendered(found, budget)

    async def _parsed(self, scene: Scene, text: str, settings: Settings) -> tuple[datetime, Query]:
        """Return when a question is asked, and the question, parsed as if nobody were known in its place."""
        now = self.sources.clock.now()
        parse = partial(Query.of, text, scene, now.astimezone(settings.zone))
        return now, await asyncio.to_thread(parse) if len(text) > LONG else parse()

    async def _carried_out(self, begun: APass, read: Callable[[APass, Snapshot], None]) -> APass:
        """Carry out a pass by ``read``; what is not read when it fails or is late stays missing.

        The query's vector comes first. What a pass then wants to be told is asked for, and the next one reads with it.
        """
        last, missing = begun, dict(begun.missing)
        end = asyncio.get_running_loop().time() + self._patience

        async def carried_out() -> None:
            nonlocal last
            if "vectors" in missing:
                query, has_model = begun.query, begun.settings.models.embedding.model_name
                said = query.text if has_model else query.said or query.text  # place and asker only for a real model
                begun.vector = await vector_of(self.sources.embedder, said, self._patience)
                if begun.vector is None:
                    begun.missing["vectors"] = missing["vectors"] = "embedding"
            await self._read(partial(read, begun), end)
            while fresh := await self._told(last, end):
                fresh.missing = dict(missing)
                await self._read(partial(read, fresh), end)
                last = fresh
            if last.failure is not None:
                raise last.failure

        try:
            await (self._guarded(carried_out) if self._guarded else carried_out())
        except AWAY:
            pass
        except RuntimeError as failure:
            if not is_out_of_threads(failure):
                raise
        return last

    async def _told(self, last: APass, end: float) -> APass | None:
        """Ask for what a pass wants, rows of a wide index, then a reranker's scores; return the next pass, with them.

        None if it wants or gets nothing.
        """
        sources = self.sources
        if last.wide_wanted and sources.wide_index and last.vector is not None:
            rows = sources.wide_index(last.vector, last.read_filter, last.wide_wanted)
            return replace(last, wide_rows=await self._awaited(rows, end) or ())
        if last.to_rerank and sources.reranker and last.scores is None:
            last.missing["rerank"] = "rerank"
            texts = [one.event.text for one in last.to_rerank]
            scores = await self._awaited(sources.reranker.scores(last.query.text, texts), end) or ()
            if len(scores) == len(texts) and all(map(math.isfinite, scores)):
                given = zip(last.to_rerank, scores, strict=True)
                return replace(last, scores={one.event.id: score for one, score in given})
        return None

    async def _read(self, a_pass: Callable[[Snapshot], None], end: float) -> None:
        """Run a pass on a reading thread."""
        try:
            seconds = end + self._patience * LAST_STEPS - asyncio.get_running_loop().time()
            await self.sources.ledger.database.answer(a_pass, seconds)
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
