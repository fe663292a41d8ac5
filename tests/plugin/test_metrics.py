"""Tests of the metrics, read by Prometheus' own parser."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from nonebug import App
from prometheus_client.parser import text_string_to_metric_families

import cognitive_memory_core as core
from cognitive_memory_core.domain.figures import IndexState, MergeState, Spending, Totals
from cognitive_memory_core.domain.job import QueueCounts

from .test_http_access import a_site, mounted
from .web import TOKEN, client, served

SCRAPER = "the-token-of-the-scraper"
SETTINGS = {"http": {"token": TOKEN, "metrics_token": SCRAPER}}
DASHBOARD = Path(__file__).parents[2] / "examples" / "grafana-dashboard.json"
CANARY_USER, CANARY_GROUP, CANARY = "2876543219", "618765432", "canaryword"
NAMES = re.compile(r"cognitive_memory_[a-z_]+")


def families(text: str) -> dict[str, Any]:
    """Parse a scrape; return the metrics by name."""
    return {family.name: family for family in text_string_to_metric_families(text)}


def samples(family: Any) -> dict[Any, float]:
    """Return the values of a metric by its only label."""
    return {next(iter(sample.labels.values()), ""): sample.value for sample in family.samples}


@pytest.fixture
async def port(app: App) -> AsyncGenerator[int, None]:
    """Serve the interface of the bot with its metrics."""
    from nonebot_plugin_cognitive_memory.http import mount_metrics

    site = a_site(**SETTINGS)
    assert mount_metrics(site, core.Settings.from_mapping(SETTINGS))
    async with served(mounted(site)) as at:
        yield at


async def test_a_scrape(port: int) -> None:
    """The metrics' token and the operator's both open a text that Prometheus reads; nobody's words or ids are in it."""
    from nonebot_plugin_cognitive_memory import get_memory

    scene = core.Scene.group(CANARY_GROUP, CANARY_USER, user_name=CANARY, group_name=CANARY)
    memory = get_memory()
    await memory.pin(scene, CANARY)
    await memory.context(scene, CANARY)
    for token in (SCRAPER, TOKEN):
        async with client(port, token) as asking:
            answer = await asking.get("/metrics")
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        found = families(answer.text)
        assert samples(found["cognitive_memory_up"]) == {"": 1.0}
        assert samples(found["cognitive_memory_stored"])["pins"] >= 1
        assert not [word for word in (CANARY, CANARY_USER, CANARY_GROUP) if word in answer.text]
        taken = {
            s.labels["operation"]: s.value
            for s in found["cognitive_memory_operation_seconds"].samples
            if s.name.endswith("_count")
        }
        assert taken["context"] >= 1


async def test_the_scraper_reads_metrics_alone(port: int) -> None:
    """The metrics' token opens no other route; a wrong token opens nothing; nothing can be written."""
    async with client(port, SCRAPER) as scraping, client(port, "wrong") as stranger:
        for path in ("/status", "/openapi.json", "/export", "/metrics/x/../../status"):
            assert (await scraping.get(path)).status_code in (401, 404), path
        assert (await scraping.post("/metrics", json={})).status_code == 405
        assert (await stranger.get("/metrics")).status_code == 401


def a_status(**fields: Any) -> core.Status:
    """Return a status with figures that differ from each other."""
    return core.Status(
        is_running=True,
        jobs=QueueCounts(pending=3, processing=2, failed=1, pending_bytes=4_096, removed=5),
        totals=Totals(events=70, retired=6, messages=900, memos=8, pins=9, beliefs=10),
        index=IndexState(generation=2, behind=11, built=12, to_build=13, activity="awake"),
        merges=MergeState(profiles=14, facts=15, failing=16, last_error=CANARY),
        spent_today=(Spending("historian", 20, 2_000, 1, 2, 300), Spending("embedding", 5, 50)),
        breakers=(("chroma", "failed"), ("embedding", "ready")),
        failing=(("Indexer", CANARY),),
        last_error=CANARY,
        dropped_messages=17,
        refused=18,
        **fields,
    )


def test_every_figure_has_its_value() -> None:
    """Each figure of the status is found under its name, and no text of an error is."""
    from nonebot_plugin_cognitive_memory.http.metrics import described

    durations = (core.Durations("context", (1, 2, *[0] * 9, 3), 12.5),)
    text = described(a_status(), durations).decode()
    found = families(text)
    assert CANARY not in text
    assert samples(found["cognitive_memory_jobs"]) == {"pending": 3, "processing": 2, "failed": 1}
    assert samples(found["cognitive_memory_stored"])["events"] == 70
    assert samples(found["cognitive_memory_breaker_open"]) == {"chroma": 1, "embedding": 0}
    assert samples(found["cognitive_memory_failing"]) == {"Indexer": 1}
    assert samples(found["cognitive_memory_model_tokens_today"]) == {"historian": 2_000, "embedding": 50}
    assert found["cognitive_memory_messages_dropped"].type == "counter"
    assert found["cognitive_memory_messages_dropped"].samples[0].value == 17
    assert found["cognitive_memory_index_rows_to_build"].samples[0].value == 13
    histogram = found["cognitive_memory_operation_seconds"]
    buckets = [s.value for s in histogram.samples if s.name.endswith("_bucket")]
    assert (buckets[0], buckets[1], buckets[-2], buckets[-1]) == (1, 3, 3, 6)
    assert {s.name.rpartition("_")[2]: s.value for s in histogram.samples[-2:]} == {"count": 6, "sum": 12.5}


def test_the_dashboard_shows_what_there_is() -> None:
    """Every metric that the sample dashboard asks for is exposed, and every one exposed is explained."""
    from nonebot_plugin_cognitive_memory.http.metrics import described

    exposed = NAMES.findall(described(a_status(without_model=("historian",)), ()).decode())
    dashboard = json.loads(DASHBOARD.read_text("utf-8"))
    asked = {
        name
        for panel in dashboard["panels"]
        for target in panel.get("targets", ())
        for name in NAMES.findall(target["expr"])
    }
    assert len(asked) > 10
    assert {name.removesuffix("_bucket").removesuffix("_count").removesuffix("_sum") for name in asked} <= set(exposed)


def test_without_the_library(monkeypatch: pytest.MonkeyPatch, log: list[str], app: App) -> None:
    """Without the client library nothing is mounted; whoever set a token for it is told what to install."""
    from nonebot_plugin_cognitive_memory import http as mounting

    monkeypatch.setattr(mounting, "find_spec", lambda _: None)
    assert not mounting.mount_metrics(a_site(), core.Settings.from_mapping({"http": {"token": TOKEN}}))
    assert not log
    assert not mounting.mount_metrics(a_site(), core.Settings.from_mapping(SETTINGS))
    assert "[metrics]" in log[0]
