"""The memory's status in Prometheus' text format. No label contains an id, a name or a text of anybody."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

import cognitive_memory_core as core

from .. import replies
from .gates import TokenGate, refused
from .routes import Backing

PREFIX = "cognitive_memory_"
FRESH = 5.0  # seconds for which a scrape is answered with the last one's figures: counting a large ledger takes a while
Labels = tuple[str, ...]
Samples = Mapping[Labels, float]


class MetricsGate:
    """A read-only application with one path; requests carry the metrics' token or the operator's."""

    def __init__(self, settings: core.HttpSettings, backing: Backing) -> None:
        """Serve the metrics of the memory behind ``backing``."""
        self._exposition = Exposition(backing.memory)
        tokens = (settings.metrics_token.get_secret_value(), settings.token.get_secret_value())
        self._gates = [TokenGate(self._answer, token) for token in tokens if token.strip()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request to the gate of the token that it carries; one without a known token is refused."""
        gate = next((gate for gate in self._gates if gate.is_operator(scope)), self._gates[-1])
        await gate(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            response: Response = refused(405, replies.http.NO_METHOD, headers={"Allow": "GET, HEAD"})
        else:
            text, content_type = await self._exposition.text()
            response = Response(text, media_type=content_type)
        await response(scope, receive, send)


class Exposition:
    """The metrics of one memory; they are computed again only if the last computation is some seconds old."""

    def __init__(self, memory: Callable[[], core.CognitiveMemory], clock: Callable[[], float] = time.monotonic) -> None:
        """Describe the memory that ``memory`` returns at each scrape; ``clock`` returns seconds."""
        self._memory = memory
        self._clock = clock
        self._lock = asyncio.Lock()
        self._text = b""
        self._stale_at = clock()

    async def text(self) -> tuple[bytes, str]:
        """Return the metrics as text, and their content type."""
        async with self._lock:
            if not self._text or self._clock() >= self._stale_at:
                memory = self._memory()
                status = await memory.status()
                self._text = described(status, memory.durations)
                self._stale_at = self._clock() + FRESH
        return self._text, CONTENT_TYPE_PLAIN_0_0_4


def described(status: core.Status, durations: tuple[core.Durations, ...]) -> bytes:
    """Return the metrics in the text format, with those of the process on systems that report them."""
    registry = CollectorRegistry()
    registry.register(_Families([*_state(status), *_work(status), *_spending(status), *_durations(durations)]))
    ProcessCollector(registry=registry)
    return generate_latest(registry)


class _Families(Collector):
    """A collector that yields given metrics."""

    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        yield from self._families


def _state(status: core.Status) -> Iterator[Metric]:
    totals = status.totals
    yield _gauge("up", {(): status.is_running})
    yield _gauge("paused", {(): status.paused})
    stored = ("events", "retired", "messages", "memos", "pins", "beliefs")
    yield _gauge("stored", {(name,): getattr(totals, name) for name in stored}, "kind")
    yield _gauge("failing", {(name,): 1 for name, _ in status.failing}, "part")
    yield _gauge("breaker_open", {(name,): state == "failed" for name, state in status.breakers}, "part")
    yield _gauge("without_model", dict.fromkeys(((name,) for name in status.without_model), 1), "role")


def _work(status: core.Status) -> Iterator[Metric]:
    jobs, index, merges = status.jobs, status.index, status.merges
    states = ("pending", "processing", "failed")
    yield _gauge("jobs", {(state,): getattr(jobs, state) for state in states}, "state")
    yield _gauge("jobs_pending_bytes", {(): jobs.pending_bytes})
    yield _counter("refused", status.refused)
    yield _counter("jobs_removed", jobs.removed)
    yield _gauge("vectors_missing", {(): status.index_lag})
    yield _gauge("index_rows_behind", {(): index.behind})
    yield _gauge("index_generation", {(): index.generation})
    yield _gauge("index_rows_built", {(): index.built})
    yield _gauge("index_rows_to_build", {(): index.to_build})
    yield _gauge("profile_facts_waiting", {(): merges.facts})
    yield _gauge("profiles_waiting", {(): merges.profiles})
    yield _gauge("profiles_failing", {(): merges.failing})
    yield _gauge("purge_waiting", {(): _is_purge_due(status)})
    yield _counter("messages_dropped", status.dropped_messages)
    yield _counter("messages_removed", status.removed_messages)


def _spending(status: core.Status) -> Iterator[Metric]:
    spent = status.spent_today
    yield _gauge("model_calls_today", {(one.purpose,): one.calls for one in spent}, "purpose")
    yield _gauge("model_tokens_today", {(one.purpose,): one.tokens for one in spent}, "purpose")
    yield _gauge("model_answered_tokens_today", {(one.purpose,): one.answered for one in spent}, "purpose")
    failures = {(one.purpose, "unreachable"): one.unreachable for one in spent}
    failures |= {(one.purpose, "bad_answer"): one.bad for one in spent}
    yield _gauge("model_failures_today", failures, "purpose", "reason")
    yield _gauge("daily_calls_spent", {(): status.is_over_daily_calls})


def _durations(durations: tuple[core.Durations, ...]) -> Iterator[Metric]:
    family = HistogramMetricFamily(
        f"{PREFIX}operation_seconds", replies.metrics.HELP["operation_seconds"], labels=["operation"]
    )
    for one in durations:
        bounds = [*(f"{bound:g}" for bound in one.bounds), "+Inf"]
        within = [sum(one.counts[: number + 1]) for number in range(len(bounds))]
        family.add_metric([one.operation], list(zip(bounds, within, strict=True)), one.seconds)
    yield family


def _is_purge_due(status: core.Status) -> bool:
    purge = status.purge
    return purge.erased_at is not None and (purge.purged_at is None or purge.purged_at < purge.erased_at)


def _gauge(name: str, samples: Samples, *labels: str, family: Any = GaugeMetricFamily) -> Metric:
    described = family(PREFIX + name, replies.metrics.HELP[name], labels=labels)
    for values, value in samples.items():
        described.add_metric(values, float(value))
    return described


def _counter(name: str, value: float) -> Metric:
    return _gauge(name, {(): value}, family=CounterMetricFamily)
