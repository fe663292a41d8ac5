"""Tests of settings: promised names and defaults, and tolerant parsing."""

from __future__ import annotations

from typing import Any

import pytest

from cognitive_memory_core.errors import BadArgument
from cognitive_memory_core.settings.schema import Settings, unknown_keys


def with_key(dotted: str, value: object) -> dict[str, Any]:
    """Nest a dotted key as .env does."""
    head, _, rest = dotted.partition(".")
    return {head: with_key(rest, value) if rest else value}


def at(settings: Settings, dotted: str) -> Any:
    """Return the value of a dotted key."""
    value: Any = settings
    for part in dotted.split("."):
        value = getattr(value, part)
    return value


@pytest.mark.parametrize(
    ("key", "given", "read"),
    [
        ("agent", 123456, "123456"),
        ("agent", True, "true"),
        ("models.historian.model_name", 4, "4"),
        ("capture.groups", 10001, ("10001",)),
        ("capture.groups", "10001, 10002，10003,", ("10001", "10002", "10003")),
        ("capture.groups", [10001, "10002", " "], ("10001", "10002")),
        ("capture.ignore_groups", (10001,), ("10001",)),
        ("bridges", "some_companion,another", ("some_companion", "another")),
        ("capture.auto_consider", False, "off"),
        ("query.auto_top_k", "5", 5),
        ("query.time_decay_enabled", "false", False),
        ("enabled", "true", True),
        ("queue.max_pending_mb", 1, 1.0),
        ("historian.poll_interval_seconds", -1, -1.0),
        ("timezone", "UTC", "UTC"),
    ],
)
def test_a_value_is_read_as_it_was_meant(key: str, given: object, read: object) -> None:
    """Numbers are accepted for texts, texts for numbers, comma-separated texts for lists, and false for off."""
    assert at(Settings.from_mapping(with_key(key, given)), key) == read


@pytest.mark.parametrize("blank", ["", None])
@pytest.mark.parametrize(
    "key",
    ["enabled", "agent", "query", "query.auto_top_k", "models.embedding.dimensions", "capture.groups", "http.token"],
)
def test_a_blank_value_is_the_default(key: str, blank: object) -> None:
    """A blank value counts as missing, whatever its type."""
    assert Settings.from_mapping(with_key(key, blank)) == Settings()


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("query.auto_top_k", "abc", "应为整数"),
        ("query.auto_top_k", 1.5, "应为整数"),
        ("query.auto_top_k", -1, "不能小于 0"),
        ("query.auto_top_k", "9" * 5000, "这个数太大"),
        ("query.diversity", 1.5, "不能大于 1"),
        ("query.diversity", "nan", "不能大于 1"),
        ("query.time_decay_boost", "多", "应为数"),
        ("queue.max_pending", 0, "必须大于 0"),
        ("models.embedding.batch_size", 5000, "不能大于 2048"),
        ("models.historian.extra_body", "x", "应为一个 JSON 对象"),
        ("enabled", "也许", "应为 true 或 false"),
        ("agent", "a" * 129, "agent 必须是 1 到 128 个字符、不含控制字符的文本"),
        ("agent", {"a": 1}, "应为文本"),
        ("agent", "a\nb", "agent 必须是 1 到 128 个字符、不含控制字符的文本"),
        ("models.historian.borrow", "\ud800", "含有不成字符的编码"),
        ("timezone", "CST", "不认识的时区 'CST'，例如可以写 Asia/Shanghai"),
        ("capture.daily_report", "24:00", "不是一天里的时间"),
        ("sharing", "all", "只能是 'isolated' 或 'shared'"),
        ("capture.groups", {"a": 1}, "应为一串用逗号隔开的值"),
        ("evolution.cron", "每天四点", "要写五段「分 时 日 月 周」"),
        ("evolution.cron", "0 0 30 2 *", "要写五段"),
        ("query", 5, "这是一组设置，请用双下划线写到具体的键"),
    ],
)
def test_a_bad_value_is_named_in_one_chinese_line(key: str, value: object, reason: str) -> None:
    """An invalid value gives one short Chinese line with its name as in .env and the reason."""
    with pytest.raises(BadArgument) as refused:
        Settings.from_mapping(with_key(key, value))
    line = str(refused.value)
    assert "COGNITIVE_MEMORY__" + key.upper().replace(".", "__") + " 的值" in line
    assert reason in line
    assert "\n" not in line
    assert len(line) < 250
    assert "Input should" not in line


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("models.historian.api_key", ["sk-canary"]),
        ("models.historian", "sk-canary"),
        ("models", "sk-canary"),
        ("models.merge.extra_body", "Bearer sk-canary"),
        ("vector_store.token", ["sk-canary"]),
        ("vector_store", "sk-canary"),
    ],
)
def test_a_refused_secret_is_not_repeated(key: str, value: object) -> None:
    """The error message about an invalid key or token never contains it."""
    with pytest.raises(BadArgument) as refused:
        Settings.from_mapping(with_key(key, value))
    assert "canary" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_settings_never_print_a_secret() -> None:
    """Keys and tokens appear neither in the settings' text nor in a dump of them."""
    model = {"api_key": "sk-canary"}
    settings = Settings.from_mapping(
        {
            "models": {"historian": model, "embedding": model, "rerank": model},
            "vector_store": {"token": "canary"},
            "http": {"token": "canary"},
        }
    )
    assert "canary" not in f"{settings} {settings!r} {settings.model_dump()} {settings.model_dump_json()}"


def test_unknown_keys_are_named() -> None:
    """An unknown key is reported with its place and does no harm."""
    given = {
        "enabled": True,
        "qury": 1,
        "query": {"auto_topk": 5, "auto_top_k": 7},
        "models": {"historian": {"key": 1}},
    }
    assert unknown_keys(given) == ("qury", "query.auto_topk", "models.historian.key")
    assert Settings.from_mapping(given).query.auto_top_k == 7


def test_a_role_inherits_what_is_not_set_for_it() -> None:
    """A model with only a name uses the historian's address and key; a blank name counts as missing."""
    settings = Settings.from_mapping(
        {
            "models": {
                "historian": {
                    "api_url": "http://127.0.0.1/v1",
                    "model_name": "big",
                    "max_tokens": 100,
                    "temperature": 0.5,
                },
                "merge": {"model_name": "small", "api_url": ""},
            }
        }
    )
    merge, triage = settings.models.of("merge"), settings.models.of("triage")
    inherited = (merge.model_name, merge.api_url, merge.max_tokens, merge.temperature)
    assert inherited == ("small", "http://127.0.0.1/v1", 100, 0.5)
    assert triage == settings.models.of("historian") == settings.models.historian
