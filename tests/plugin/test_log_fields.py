"""Tests of the fields that programs read from the bot's log."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import nonebot
import pytest
from nonebug import App

import cognitive_memory_core as core
from cognitive_memory_core.domain.scope import log_fields

GROUP = core.Scene.group("10001", "2876543219", user_name="canaryname")
PRIVATE = core.Scene.private("2876543219", user_name="canaryname")


@pytest.fixture
def records(app: App) -> Iterator[list[dict[str, Any]]]:
    """Collect the log as the JSON lines that an operator's program would read."""
    lines: list[dict[str, Any]] = []
    sink = nonebot.logger.add(lambda line: lines.append(json.loads(str(line))["record"]), serialize=True, level="INFO")
    yield lines
    nonebot.logger.remove(sink)


def logged(name: str, *said: object, **fields: Any) -> None:
    """Log one line as a module of the core does."""
    logging.getLogger(f"{core.__name__}.{name}").warning(*said, extra=fields)  # type: ignore[arg-type]


def test_a_line_about_a_job(records: list[dict[str, Any]]) -> None:
    """A line about a job has its kind, id and place as fields, and the words by which people find it."""
    logged(
        "historian.worker", "HistorianWorker job=%s: %s", "j1", "x", **log_fields("job", job_id="j1", place=GROUP.scope)
    )
    (line,) = records
    assert line["message"] == "[认知记忆] HistorianWorker job=j1: x"
    assert {name: line["extra"][name] for name in ("memory_kind", "memory_job", "memory_place")} == {
        "memory_kind": "job",
        "memory_job": "j1",
        "memory_place": "group:10001",
    }


def test_no_field_names_a_person(records: list[dict[str, Any]]) -> None:
    """A private chat is a place without its person."""
    logged("historian.rewriter", "historian_rewrite", **log_fields("rewrite", place=PRIVATE.scope))
    (line,) = records
    assert line["extra"]["memory_place"] == "private"
    assert "2876543219" not in json.dumps(line["extra"])
