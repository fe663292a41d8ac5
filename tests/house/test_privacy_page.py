"""Tests that the page which operators show to their groups is true of the program."""

from __future__ import annotations

import re

from cognitive_memory_core import Settings
from cognitive_memory_core.domain.erasure import RESTORABLE
from tests.journeys.test_commands import listed

from .sources import ROOT

PAGE = (ROOT / "docs" / "privacy.md").read_text("utf-8")
SECTIONS = ("记什么", "放在哪里", "谁看得到", "留多久", "怎么停", "怎么删", "模型服务商拿到什么")
PROMISED = {  # the promises of README that are about people, each of which the page gives
    "test_groups_do_not_leak.py",
    "test_private_stays_private.py",
    "test_private_recalls_own_words_only.py",
    "test_foreign_targets_are_refused.py",
    "test_forgotten_is_gone_and_restorable.py",
    "test_withdrawn_message_is_forgotten.py",
    "test_opted_out_person_is_left_out.py",
    "test_what_is_not_recorded.py",
    "test_writes_only_its_directory.py",
    "test_groups_are_told_once.py",
    "test_forgotten_person_leaves_no_byte.py",
    "test_others_words_stay_out_of_profiles.py",
    "test_profiles_stay_where_they_belong.py",
    "test_forgotten_place_leaves_profiles.py",
    "test_works_without_key_or_network.py",
    "test_daily_calls_are_a_bound.py",
}


def test_it_answers_what_people_ask() -> None:
    """The page says what is recorded and where, who sees it, how long, how to stop and erase, what models get."""
    assert tuple(re.findall(r"^## (.+)$", PAGE, re.MULTILINE)) == SECTIONS


def test_each_claim_has_its_test() -> None:
    """Every test that the page names exists, and every promise about people is on the page."""
    named = dict(re.findall(r"\[(test_\w+\.py)\]\(\.\./([^)]+)\)", PAGE))
    assert all(path.endswith(name) and (ROOT / path).is_file() for name, path in named.items())
    assert named.keys() >= PROMISED


def test_the_figures_are_the_defaults() -> None:
    """Days and bounds on the page are the defaults of the settings and of the core."""
    settings = Settings()
    assert f"原话最多留 {settings.capture.log_days} 天，总共最多 {settings.capture.log_max_mb:g} MB" in PAGE
    assert f"忘掉的 {RESTORABLE.days} 天内能恢复" in PAGE
    assert f"前面最多 {settings.historian.recent_messages_inject_k} 句" in PAGE
    assert f"一次最多 {settings.evolution.max_messages} 条" in PAGE
    assert settings.capture.forget_left_days == 0


def test_each_command_exists() -> None:
    """Each command that the page tells people to send is a command of the plugin."""
    known = {chinese for chinese, _ in listed()}
    assert set(re.findall(r"`/记忆 (\S+?)[ `]", PAGE)) <= known


def test_each_setting_exists() -> None:
    """Each setting that the page names is one."""
    settings = Settings()
    for group, key in re.findall(r"`(capture|models)\.(\w+)`", PAGE):
        assert key in type(getattr(settings, group)).model_fields
