"""Tests of unifying forms of one word."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from cognitive_memory_core.text.terms import stem


def test_words_are_stemmed_in_many_threads() -> None:
    """The stemmer has state, and still gives each of several threads its own result."""
    words = [f"{chr(97 + a)}{chr(97 + b)}{chr(97 + c)}talks" for a in range(26) for b in range(26) for c in range(6)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(stem, words, chunksize=16)) == [word[:-1] for word in words]


def test_the_libraries_are_imported_when_they_are_needed() -> None:
    """Importing the module loads neither library; preparing loads both, so that the first question does not wait."""
    code = (
        "import sys\n"
        "from cognitive_memory_core.text import terms\n"
        "known = {'opencc', 'snowballstemmer'} & set(sys.modules)\n"
        "terms.prepare()\n"
        "print(sorted(known), sorted({'opencc', 'snowballstemmer'} & set(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[] ['opencc', 'snowballstemmer']"
