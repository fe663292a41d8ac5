"""The memory's status in Prometheus' text format. No label contains an id, a name or a text of anybody."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

import cognitive_memory_core as core

from .. import replies
from .gates import TokenGate, refused
from .routes import Backing

PREFIX = "cognitive_memory_"
Labels = tuple[str, ...]
Samples = Mapping[Labels, float]


def metrics_app(settings: core.HttpSettings, backing: Backing) -> ASGIApp:
    """Return a read-only application with one path; requests carry the metrics' token or the operator's."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            response: Response = refused(405, replies.http.NO_METHOD, headers={"Allow": "GET, HEAD"})
        else:
            memory = backing.memory()
            text = described(await memory.status(), memory.durations)
            response = Response(text, media_type=CONTENT_TYPE_PLAIN_0_0_4)
        await response(scope, receive, send)

    tokens = (settings.metrics_token.get_secret_value(), settings.token.get_secret_value())
    return TokenGate({token: answer for token in tokens if token.strip()})


@dataclass(eq=False)
class _Figures(Collector):
    """Each figure of a status, and how long operations took."""

    status: core.Status
    durations: tuple[core.Durations, ...]

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        status = self.status
        jobs, index, merges, purge, spent = status.jobs, status.index, status.merges, status.purge, status.spent_today
        stored = ("events", "retired", "messages", "memos", "pins", "beliefs")
        yield _gauge("stored", {(name,): getattr(status.totals, name) for name in stored}, "kind")
        yield _gauge("failing", {(name,): 1 for name, _ in status.failing}, "part")
        yield _gauge("breaker_open", {(name,): state == "failed" for name, state in status.breakers}, "part")
        yield _gauge("without_model", dict.fromkeys(((name,) for name in status.without_model), 1), "role")
        yield _gauge("jobs", {(state,): getattr(jobs, state) for state in ("pending", "processing", "failed")}, "state")
        is_purge_due = purge.erased_at is not None and (purge.purged_at is None or purge.purged_at < purge.erased_at)
        for name, value in (
            ("up", status.is_running),
            ("paused", status.paused),
            ("jobs_pending_bytes", jobs.pending_bytes),
            ("vectors_missing", status.index_lag),
            ("index_rows_behind", index.behind),
            ("index_generation", index.generation),
            ("index_rows_built", index.built),
            ("index_rows_to_build", index.to_build),
            ("profile_facts_waiting", merges.facts),
            ("profiles_waiting", merges.profiles),
            ("profiles_failing", merges.failing),
            ("purge_waiting", is_purge_due),
            ("daily_calls_spent", status.is_over_daily_calls),
        ):
            yield _gauge(name, {(): value})
        for name, value in (
            ("refused", status.refused),
            ("jobs_removed", jobs.removed),
            ("messages_dropped", status.dropped_messages),
            ("messages_removed", status.removed_messages),
        ):
            yield _gauge(name, {(): value}, family=CounterMetricFamily)
        yield _gauge("model_calls_today", {(one.purpose,): one.calls for one in spent}, "purpose")
        yield _gauge("model_tokens_today", {(one.purpose,): one.tokens for one in spent}, "purpose")
        yield _gauge("model_answered_tokens_today", {(one.purpose,): one.answered for one in spent}, "purpose")
        failures = {(one.purpose, "unreachable"): one.unreachable for one in spent}
        failures |= {(one.purpose, "bad_answer"): one.bad for one in spent}
        yield _gauge("model_failures_today", failures, "purpose", "reason")
        name = "operation_seconds"
        seconds = HistogramMetricFamily(PREFIX + name, replies.http.HELP[name], labels=["operation"])
        for one in self.durations:
            bounds = [*(f"{bound:g}" for bound in one.bounds), "+Inf"]
            within = [sum(one.counts[: number + 1]) for number in range(len(bounds))]
            seconds.add_metric([one.operation], list(zip(bounds, within, strict=True)), one.seconds)
        yield seconds


def described(status: core.Status, durations: tuple[core.Durations, ...]) -> bytes:
    """Return the metrics in the text format, with those of the process on systems that report them."""
    registry = CollectorRegistry()
    registry.register(_Figures(status, durations))
    ProcessCollector(registry=registry)
    return generate_latest(registry)


def _gauge(name: str, samples: Samples, *labels: str, family: Any = GaugeMetricFamily) -> Metric:
    described = family(PREFIX + name, replies.http.HELP[name], labels=labels)
    for values, value in samples.items():
        described.add_metric(values, float(value))
    return described
