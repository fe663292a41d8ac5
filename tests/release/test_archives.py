"""Tests of the archives of a release: what is in them, and what their metadata say."""

from __future__ import annotations

import re
import tarfile
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import PurePosixPath

from tests.support.onebot import ROOT

from .conftest import Archives

PACKAGES = ("cognitive_memory_core", "nonebot_plugin_cognitive_memory")
TOP = {
    ".env.example",
    ".gitignore",
    "CHANGELOG.md",
    "LICENSE",
    "PKG-INFO",
    "README.en.md",
    "README.md",
    "pyproject.toml",
}
FOLDERS = {"examples", *PACKAGES}
STRAY = {"__pycache__", ".env", "data", "cache", ".pytest_cache", ".ruff_cache"}
STRAY_ENDINGS = {".pyc", ".db", ".log", ".orig", ".rej", ".tmp", ".sqlite3"}


def in_sdist(archives: Archives) -> set[str]:
    """List the files of the sdist, below its one folder."""
    with tarfile.open(archives.sdist) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def on_disk() -> set[str]:
    """List the files of the two packages in the repository."""
    return {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def metadata(archives: Archives) -> Message:
    """Parse the metadata of the wheel."""
    with zipfile.ZipFile(archives.wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return Parser().parsestr(archive.read(name).decode())


def test_the_sdist_has_no_stray_file(archives: Archives) -> None:
    """The sdist has the listed files and folders, whole packages, and nothing that a run leaves behind."""
    names = in_sdist(archives)
    assert {name for name in names if "/" not in name} == TOP
    assert {name.partition("/")[0] for name in names if "/" in name} == FOLDERS
    assert on_disk() <= names
    paths = [PurePosixPath(name) for name in names]
    assert not [path for path in paths if STRAY & set(path.parts) or path.suffix in STRAY_ENDINGS]


def test_the_wheel_has_the_packages_and_nothing_else(archives: Archives) -> None:
    """The wheel has every file of the two packages, its metadata, and no other file."""
    with zipfile.ZipFile(archives.wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == on_disk()


def test_the_page_of_the_package_has_whole_addresses(archives: Archives) -> None:
    """README on the package's page has whole addresses in links and pictures: relative ones lead nowhere there."""
    text = str(metadata(archives).get_payload())
    assert "# nonebot-plugin-cognitive-memory" in text
    assert not re.findall(r"\]\((?!https?:|#)[^)]+\)", text)
    assert not re.findall(r'src="(?!https?:)[^"]+"', text)


def test_the_store_and_the_index_are_told_the_same(archives: Archives) -> None:
    """Homepage and version of the package are the plugin's and the change log's newest; the licence is a file."""
    given = metadata(archives)
    urls = dict(str(one).split(", ", 1) for one in given.get_all("Project-URL", []))
    plugin = (ROOT / PACKAGES[1] / "__init__.py").read_text("utf-8")
    assert f'homepage="{urls["Homepage"]}"' in plugin
    newest = re.search(r"^## \[(\d[^\]]*)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert newest is not None
    assert given["Version"] == newest[1]
    assert given["License-Expression"] == "MIT"
    assert given.get_all("License-File") == ["LICENSE"]
