"""Tests of model addresses and of retry times."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from cognitive_memory_core.models.client import address_fault, address_of, is_forbidden, retry_after

HTTP = "http:" + "//"
NOW = datetime(2026, 3, 4, 12, 0, tzinfo=timezone.utc)


def fault_of(written: str, key: str = "") -> str:
    """Return the fault of the historian's address."""
    return address_fault(address_of(written), key, "historian")


@pytest.mark.parametrize(
    ("written", "used"),
    [
        ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1"),
        (" https://api.example.com/v1/ ", "https://api.example.com/v1"),
        ("https://api.example.com", "https://api.example.com"),
        ("https://api.example.com/v1/chat/completions", "https://api.example.com/v1"),
        ("https://api.example.com/v1/embeddings/", "https://api.example.com/v1"),
        ("https://api.example.com/v1/rerank", "https://api.example.com/v1"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
    ],
)
def test_address_is_what_the_operator_wrote(written: str, used: str) -> None:
    """The address is used as written, except for a slash or an endpoint at its end."""
    assert (address_of(written), fault_of(written)) == (used, "")


@pytest.mark.parametrize(
    "written",
    [
        "",
        "api.example.com/v1",
        "ftp://example.com",
        HTTP,
        HTTP + "[::1/v1",
        "http://example.com:99999/v1",
        HTTP + "user:pw@example.com/v1",
        "http://example.com/v1?key=1",
        "http://example.com/v1#x",
    ],
)
def test_useless_address_names_its_setting(written: str) -> None:
    """An invalid address is reported with the setting's name, but not its value."""
    fault = fault_of(written)
    assert "COGNITIVE_MEMORY__MODELS__HISTORIAN__API_URL" in fault
    assert "pw" not in fault


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "fe80::1",
        "fe80::1%eth0",
        "::ffff:169.254.169.254",
        "metadata.google.internal",
        "METADATA",
        "fd00:ec2::254",
        "100.100.100.200",
    ],
)
def test_metadata_services_are_no_models(host: str) -> None:
    """Link-local addresses and cloud metadata services are refused in every spelling."""
    assert is_forbidden(host)


def test_forbidden_address_says_so() -> None:
    """A forbidden address has its own message."""
    assert "元数据" in fault_of(HTTP + "169.254.169.254/v1")


@pytest.mark.parametrize("key", ["sk-密钥", "sk-1\nX: y", "sk 1"])
def test_key_that_cannot_be_sent_is_not_shown(key: str) -> None:
    """A key that cannot be a header is reported with the setting's name, but not its value."""
    fault = fault_of("http://127.0.0.1/v1", key)
    assert "COGNITIVE_MEMORY__MODELS__HISTORIAN__API_KEY" in fault
    assert "sk" not in fault


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "86400"}, 60.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "bald"}, None),
        ({"retry-after": "Wed, 04 Mar 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Thu, 05 Mar 2026 12:00:00 GMT"}, 60.0),
        ({"retry-after": "Tue, 03 Mar 2026 12:00:00 GMT"}, None),
        ({"retry-after": "Wed, 99 Mar 99999 12:00:00 GMT"}, None),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "x", "retry-after": "9"}, 9.0),
    ],
)
def test_wish_to_be_left_alone_is_bounded(headers: dict[str, str], seconds: float | None) -> None:
    """Retry times as seconds, milliseconds or dates are limited to a minute, and invalid ones ignored."""
    assert retry_after(headers, NOW) == seconds
