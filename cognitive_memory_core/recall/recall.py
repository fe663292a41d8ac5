"""Answers questions: asks models, lets a pass read on a reading thread, and renders what it found."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, replace
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
from .one_pass import Answer, ContextAnswer, Question, Sources, read_context, read_hits, read_memos
from .ranking import Explanation
from .render import newest, rendered, section_tokens

LONG = 300  # characters; a longer query is parsed in a thread
FLUSHING = 0.2  # share of the time limit spent on waiting for buffered lines to be written
LAST_STEPS = 0.2  # share of the time limit that is left to the pass when a model is late
T = TypeVar("T")
AnAnswer = TypeVar("AnAnswer", bound=Answer)


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
        answer, context = await self._built(scene, text, budget, self._settings.current, shown)
        self._tally.recalled(answer.event_ids)
        return context

    async def explained(
        self, scene: Scene, text: str, *, budget: int | None = None, settings: Settings | None = None
    ) -> Explanation:
        """Build the same context and return it with its search candidates; ``settings`` replace the present ones."""
        used, consent = settings or self._settings.current, self.sources.consent
        answer, context = await self._built(scene, text, budget, used, None, explains=True)
        kept = {section.title: len(section.lines) for section in context.sections}
        events = answer.events[: kept.get(sentences.context.TITLE_EVENTS, 0)]
        quotes = answer.quotes[: kept.get(sentences.context.TITLE_QUOTATIONS, 0)]
        context = replace(context, sources=(*(one.id for one in events), *(one.line.id for one in quotes)))
        for rank, line in enumerate(answer.quotes, 1):
            line.rank = rank
        for line in answer.lines:
            line.cut = line.cut or (None if line.rank else "limit")
        lines = sorted(answer.lines, key=lambda one: (one.rank == 0, one.rank, -one.score))
        readable = consent.present_filter(scene)
        found = sorted(answer.candidates, key=lambda one: (one.rank == 0, one.rank, -one.score))
        visible = [one for one in found if readable.admits(one.event)]
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
        question = await self._question(self.sources.consent.present_filter(scene), "", self._settings.current)
        answer = ContextAnswer(question, {"": "disabled"})
        waiting = self._waiting_memos(scene.scope) if scene.has_place else []
        if scene.has_place:
            answer.missing["notes"] = "ledger"
            answer = await self._answered(answer, read_memos)
        return rendered(answer, waiting, budget)

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
        question, kinds = await self._question(read_filter, text, self._settings.current), set(read_filter.kinds)
        if top_k <= 0 or not question.query.terms:
            return SearchResult()
        answer = Answer(question)
        if "message" in kinds:
            answer.missing["lines"] = "lexical"
            if self._flush is not None:
                with suppress(*AWAY):  # a log whose writes fail may still be readable
                    await with_timeout(self._patience * FLUSHING, self._flush())
        answer.missing |= {"words": "lexical", "vectors": "vectors"} if kinds != {"message"} else {}
        answer = await self._answered(answer, partial(read_hits, top_k=top_k))
        return SearchResult(tuple(answer.hits), answer.degraded)

    async def _built(
        self,
        scene: Scene,
        text: str,
        budget: int | None,
        settings: Settings,
        shown: Collection[str] | None,
        *,
        explains: bool = False,
    ) -> tuple[ContextAnswer, Context]:
        limits, read_filter = settings.query, self.sources.consent.present_filter(scene)
        question = await self._question(read_filter, text, settings, explains=explains)
        if question.query.says_little:  # a greeting asks for nothing
            question.query = replace(question.query, terms=())
        answer = ContextAnswer(question, shown=shown)
        missing = {"notes": "ledger"} if scene.has_place else {}
        if question.query.terms:
            missing |= {"lines": "lexical"} if limits.auto_messages_k else {}
            missing |= {"words": "lexical", "vectors": "vectors"} if limits.auto_top_k > 0 else {}
            missing |= {"beliefs": "ledger"} if self.sources.beliefs and scene.group_id else {}
        if self.sources.profiles:
            missing["profiles"] = "profiles"
        answer.missing = missing
        waiting = self._waiting_memos(scene.scope) if scene.has_place else []  # before the stored ones are read
        answer = await self._answered(answer, read_context)
        return answer, rendered(answer, waiting, budget)

    async def _question(
        self, read_filter: ReadFilter, text: str, settings: Settings, *, explains: bool = False
    ) -> Question:
        """Parse a question, as if nobody were known in its place."""
        now = self.sources.clock.now()
        parse = partial(Query.of, text, read_filter.scene, now.astimezone(settings.zone))
        query = await asyncio.to_thread(parse) if len(text) > LONG else parse()
        return Question(self.sources, read_filter, query, settings, now, explains)

    async def _answered(self, answer: AnAnswer, read: Callable[[AnAnswer, Snapshot], None]) -> AnAnswer:
        """Fill an answer by ``read(answer, snapshot)``; what is not read when it fails or is late stays missing.

        The query's vector comes first. What a pass then wants to be told is asked for, and the next pass reads with it.
        """
        last, question, missing = answer, answer.question, dict(answer.missing)
        end = asyncio.get_running_loop().time() + self._patience

        async def carried_out() -> None:
            nonlocal last
            if "vectors" in missing:
                query, has_model = question.query, question.settings.models.embedding.model_name
                said = query.text if has_model else query.said or query.text  # place and asker only for a real model
                question.vector = await vector_of(self.sources.embedder, said, self._patience)
                if question.vector is None:
                    answer.missing["vectors"] = missing["vectors"] = "embedding"
            await self._read(partial(read, answer), end)
            while told := await self._told(last, end):
                fresh = replace(answer, question=told, missing=dict(missing))
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

    async def _told(self, answer: Answer, end: float) -> Question | None:
        """Ask for what a pass wants, rows of a wide index, then a reranker's scores; return the question with them.

        None if it wants or gets nothing.
        """
        question, sources = answer.question, self.sources
        if answer.wide_wanted and sources.wide_index and question.vector is not None:
            rows = sources.wide_index(question.vector, question.read_filter, answer.wide_wanted)
            return replace(question, wide_rows=await self._awaited(rows, end) or ())
        if answer.to_rerank and sources.reranker and question.scores is None:
            answer.missing["rerank"] = "rerank"
            texts = [one.event.text for one in answer.to_rerank]
            scores = await self._awaited(sources.reranker.scores(question.query.text, texts), end) or ()
            if len(scores) == len(texts) and all(map(math.isfinite, scores)):
                given = zip(answer.to_rerank, scores, strict=True)
                return replace(question, scores={one.event.id: score for one, score in given})
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
