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
