"""Tests that no file of the repository names a machine, a package registry or an unexpected address."""

from __future__ import annotations

import re

import pytest

from .sources import ROOT, files

MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:root|home|Users|work|workspace|mnt|srv|opt|tmp)/[\w.]|[A-Z]:\\Users\\")
REGISTRY = re.compile(
    r"\b(?:pypi|registry|mirrors?|index)\.[\w-]+\.(?:cn|com|dev|edu|io|net|org)\b|--?(?:extra-)?index-url|-i http"
)
ADDRESS = re.compile(r"https?://([^\s/\"'`)>\]}，。；：]+)")
KNOWN_HOSTS = re.compile(
    r"(?:127\.0\.0\.1|localhost|0\.0\.0\.0|\[::1\]?)(?::\S+)?|(?:[\w-]+\.)*example(?:\.\w+)?(?::\d+)?"
    r"|github\.com|api\.openai\.com|www\.w3\.org|(?:[\w-]+\.)*(?:nonebot\.dev|python\.org|sqlite\.org|onebot\.dev|12\.onebot\.dev)|img\.shields\.io"
)


VENDORED = (
    "docs/vendor/",
    "tests/vendor/",
    "nonebot_plugin_cognitive_memory/console/static/vendor/",
)  # copied unchanged


def texts() -> dict[str, str]:
    """Read every text file of the repository except copied ones and this one, which contains the forbidden patterns."""
    return {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8", errors="replace")
        for path in files()
        if path.name != "test_repository.py"
        if not path.relative_to(ROOT).as_posix().startswith(VENDORED)
    }


@pytest.mark.parametrize("forbidden", [MACHINE_PATH, REGISTRY], ids=["path", "registry"])
def test_no_file_names_a_machine_or_a_registry(forbidden: re.Pattern[str]) -> None:
    """No file contains a path that exists on one machine only, nor a package registry, which the installer chooses."""
    assert not {name: found[0] for name, text in texts().items() if (found := forbidden.search(text))}


def test_every_address_is_meant() -> None:
    """Each host in the repository is loopback, an example, or a known site that the text is about."""
    strange = {
        (name, host)
        for name, text in texts().items()
        for host in ADDRESS.findall(text)
        if not KNOWN_HOSTS.fullmatch(host.rstrip("\\"))
    }
    assert not strange
