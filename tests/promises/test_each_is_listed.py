"""The promises of README and the files of this folder match."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.tables import ROOT

PROMISES = re.compile(r"<!-- promises:begin -->\n(.*?)\n<!-- promises:end -->", re.DOTALL)
LINE = re.compile(r"\d+\. .+ `(test_\w+\.py)`")


@pytest.mark.parametrize("file", ["README.md", "README.en.md"])
def test_every_promise_has_its_file_and_every_file_its_promise(file: str) -> None:
    """Each promise of a README names an existing file, each file once, and no file is missing."""
    found = PROMISES.search((ROOT / file).read_text("utf-8"))
    assert found is not None
    named = [match[1] if (match := LINE.fullmatch(line)) else line for line in found[1].splitlines()]
    here = {path.name for path in Path(__file__).parent.glob("test_*.py")} - {Path(__file__).name}
    assert sorted(named) == sorted(here)


def test_both_readmes_promise_the_same_in_the_same_order() -> None:
    """Both READMEs list the same files in the same order."""
    lists = [PROMISES.findall((ROOT / file).read_text("utf-8"))[0] for file in ("README.md", "README.en.md")]
    assert LINE.findall(lists[0]) == LINE.findall(lists[1])


def test_a_page_names_a_file_for_each_promise() -> None:
    """docs/promises.md says for every promise in which files it is kept; the files define what it names in them."""
    kept = (ROOT / "docs" / "promises.md").read_text("utf-8")
    rows = [row.split("|") for row in kept.splitlines() if re.match(r"\| \d", row)]
    numbers = [int(number) for row in rows for number in row[1].split(",")]
    promises = PROMISES.findall((ROOT / "README.en.md").read_text("utf-8"))[0].splitlines()
    assert sorted(numbers) == list(range(1, len(promises) + 1))
    for row in rows:
        named = re.findall(r"`([^`]+)` \((\w+)\)", row[3])
        assert [name for name in named if not _defines(ROOT / name[0], name[1])] == [], row
        assert len(named) == row[3].count(".py") + row[3].count(".md"), row


def _defines(file: Path, name: str) -> bool:
    """Return whether a file has a class, function or heading of this name."""
    return (
        file.is_file()
        and re.search(rf"^ *(class|def|async def|##) {name}\b", file.read_text("utf-8"), re.MULTILINE) is not None
    )
