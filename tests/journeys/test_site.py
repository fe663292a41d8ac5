"""Tests that the documentation builds into a site whose links all lead somewhere, loading nothing from outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.support.onebot import ROOT

LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("source", "src"), ("iframe", "src")}
VOID_RELATIONS = {"canonical", "prev", "next", "alternate"}  # links of a head that a browser does not load


@dataclass
class Reading(HTMLParser):
    """The addresses of a page: what it links to, what it loads, and the anchors that it offers."""

    links: set[str] = field(default_factory=set)
    loaded: set[str] = field(default_factory=set)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the addresses and the anchor of one element."""
        given = {name: value or "" for name, value in attrs}
        self.anchors.add(given.get("id", ""))
        for name in ("href", "src"):
            if name in given and given.get("rel") not in VOID_RELATIONS:
                (self.loaded if (tag, name) in LOADED else self.links).add(given[name])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site strictly and return its folder; the message of a failure lists the broken links."""
    pytest.importorskip("mkdocs", reason="pip install '.[docs]' brings the generator")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True, check=False)
    complaints = [line for line in built.stderr.splitlines() if line.startswith(("WARNING", "ERROR", "Aborted"))]
    assert built.returncode == 0, "\n".join(complaints or built.stderr.splitlines()[-20:])
    return folder


def pages(site: Path) -> Iterator[tuple[Path, Reading]]:
    """Read every page."""
    for path in sorted(site.rglob("*.html")):
        reading = Reading()
        reading.feed(path.read_text("utf-8"))
        yield path, reading


def test_every_link_leads_somewhere(site: Path) -> None:
    """Each link, picture, script and style of a built page is a file of the site, and each anchor stands there."""
    known = dict(pages(site))
    broken = []
    for path, reading in known.items():
        for address in reading.links | reading.loaded:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc or path.name == "404.html":
                continue
            target = path if not parts.path else Path(os.path.normpath(path.parent / unquote(parts.path)))
            target = target / "index.html" if target.is_dir() else target
            anchor = unquote(parts.fragment)
            if not target.exists() or (anchor and target in known and anchor not in known[target].anchors):
                broken.append(f"{path.relative_to(site)}: {address}")
    assert not broken, "\n".join(broken)


def test_nothing_is_loaded_from_outside(site: Path) -> None:
    """No page loads a script, style, font or picture from another host, and none is preconnected."""
    outside = {address for _, reading in pages(site) for address in reading.loaded if urlsplit(address).netloc}
    assert outside == set()


def test_diagrams_find_their_program(site: Path) -> None:
    """Each page with a diagram loads the program that draws it from the site itself."""
    drawn = [path for path, _ in pages(site) if 'class="mermaid"' in path.read_text("utf-8")]
    assert drawn
    assert all("vendor/mermaid/mermaid-tiny" in path.read_text("utf-8") for path in drawn)


def test_each_page_is_reached(site: Path) -> None:
    """Links lead from the first page to every other, and the search index has them."""
    assert (site / "search" / "search_index.json").stat().st_size > 100_000
    known = dict(pages(site))
    reached, waiting = set[Path](), [site / "index.html"]
    while waiting:
        page = waiting.pop()
        if page in known and page not in reached:
            reached.add(page)
            waiting += [Path(os.path.normpath(page.parent / unquote(urlsplit(to).path))) for to in known[page].links]
    assert {path.relative_to(site) for path in set(known) - reached} == {Path("404.html")}


@pytest.mark.parametrize("asked", ["怎么备份", "不记某个群", "401"])
def test_what_people_ask_is_found_first(site: Path, asked: str) -> None:
    """The words that people search for head a section of the page that weighs most in searches."""
    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))["docs"]
    plain = [(one["title"].replace("\u200b", ""), one) for one in index]
    found = [one for title, one in plain if asked in title and one["location"].startswith("questions.html#")]
    assert found
    heaviest = max(one.get("boost", 1.0) for one in index)
    assert found[0]["boost"] == heaviest
    assert all(one["boost"] < 1 for one in index if one["location"].startswith(("faults.html", "decisions/")))


def test_the_examples_can_be_downloaded(site: Path) -> None:
    """A file of examples/ that a page links to is a file of the site: an operator has no copy of the repository."""
    quickstart = dict(pages(site))[site / "quickstart.html"]
    wanted = {"examples/talk/talk.py", "examples/bridges/llmchat.env"}
    assert wanted <= quickstart.links
    assert all((site / name).read_bytes() == (ROOT / name).read_bytes() for name in wanted)
