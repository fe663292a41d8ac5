"""Tests of parsing times that others wrote."""

from __future__ import annotations

import pytest

from cognitive_memory_core.domain.instants import datetime_of


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2026-11-23", "2026-11-23T00:00:00"),
        ("2026-11-23 08:30", "2026-11-23T08:30:00"),
        ("2026-11-23T08:30:05.5", "2026-11-23T08:30:05.500000"),
        ("2026-11-23T08:30:05,123456789", "2026-11-23T08:30:05.123456"),
        ("2026-11-23T08:30:05Z", "2026-11-23T08:30:05+00:00"),
        ("2026-11-23T08:30:05.25+08:00", "2026-11-23T08:30:05.250000+08:00"),
        ("2026-11-23T08:30:05-0330", "2026-11-23T08:30:05-03:30"),
        ("2026-11-23 08:30:05 +08", "2026-11-23T08:30:05+08:00"),
    ],
)
def test_a_time_is_parsed_however_it_is_written(text: str, wanted: str) -> None:
    """Fractions of any length and zones in any spelling are read alike on every Python; no zone means a naive time."""
    assert datetime_of(text).isoformat() == wanted
