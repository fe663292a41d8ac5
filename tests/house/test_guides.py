"""Tests that the guides for developers name files that exist."""

from __future__ import annotations

import re

import pytest

from .sources import CORE, PLUGIN, ROOT

GUIDES = ["docs/architecture.md", "docs/promises.md", "CONTRIBUTING.md", "docs/glossary.md"]
CODE = re.compile(r"`([\w.-]+(?:/[\w.-]+)+|[\w-]+\.(?:md|py|toml))`")
LINK = re.compile(r"\]\(([^)#:]+)\)")
DEFINED = re.compile(r"`([\w/]+\.py)`(?:,| \()\s?(\w[\w.]*(?:, \w[\w.]*)*)\)")
PLACE = re.compile(r"\b(README|docs/[\w/-]+\.md)(?=[ 「])(?:「([^」]+)」)?")
ROOMS = ["historian", "text", "store"]


def text_of(guide: str) -> str:
    """Read a guide."""
    return (ROOT / guide).read_text("utf-8")


@pytest.mark.parametrize("guide", GUIDES)
def test_every_path_exists(guide: str) -> None:
    """Each path that a guide names or links to exists in the repository."""
    text, folder = text_of(guide), (ROOT / guide).parent
    named = [*(ROOT / path for path in CODE.findall(text)), *(folder / path for path in LINK.findall(text))]
    assert named
    assert not [path for path in named if not path.exists()]


def test_every_name_beside_a_path_is_defined_there() -> None:
    """The functions, classes and methods that a page names beside a file are defined in it."""
    named = [
        (path, name)
        for page in ("docs/architecture.md", "docs/promises.md")
        for path, names in DEFINED.findall(text_of(page))
        for name in re.findall(r"\w+", names)
    ]
    assert len(named) > 60
    assert not [
        one for one in named if not re.search(rf"^ *(class|def|async def) {one[1]}\b", text_of(one[0]), re.MULTILINE)
    ]


def test_the_picture_shows_the_layers() -> None:
    """The diagram of the architecture has the layers of the import contract, in the same order."""
    listed = re.search(r"^layers = \[(.*?)\]", text_of("pyproject.toml"), re.MULTILINE | re.DOTALL)
    assert listed
    drawn = re.findall(r'\bL\d+\["([^"]+)"\]', text_of("docs/architecture.md"))
    assert drawn == re.findall(r'"([^"]+)"', listed[1])


def test_every_folder_is_explained() -> None:
    """The table of the architecture has a row for each folder of the plugin and below three of the core's."""
    found = {
        path.parent.relative_to(ROOT).as_posix()
        for room in (*(ROOT / CORE / room for room in ROOMS), ROOT / PLUGIN)
        for path in room.glob("*/__init__.py")
    }
    assert found == set(re.findall(r"^\| `([^`]+)` \|", text_of("docs/architecture.md"), re.MULTILINE))


def test_every_place_that_a_sentence_names_exists() -> None:
    """A page that a message of the program names is there, and has the heading that it names in corner brackets."""
    named = {
        found
        for package in (CORE, PLUGIN)
        for path in (ROOT / package).rglob("*.py")
        for found in PLACE.findall(path.read_text("utf-8"))
    }
    assert ("docs/cli.md", "回放自己的对话") in named
    pages = {page: text_of("README.md" if page == "README" else page) for page, _ in named}
    assert not [
        (page, heading)
        for page, heading in named
        if heading and not re.search(rf"^#+ {heading}$", pages[page], re.MULTILINE)
    ]


def test_each_term_has_a_chinese_word_and_one_file() -> None:
    """Each row of the glossary has a term of its own, its Chinese word, and one file that exists."""
    lines = [line for line in text_of("docs/glossary.md").splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    terms = [row for row in rows if row[0] not in ("term", "---")]
    assert len(terms) == len({row[0].casefold() for row in terms})
    assert not [row[0] for row in terms if len(row) != 4 or not re.search(r"[\u4e00-\u9fff]", row[1])]
    assert not [row[0] for row in terms if not (ROOT / row[3].strip("`")).is_file()]
