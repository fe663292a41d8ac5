"""How people who want to be left out vanish from what others said."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from .. import sentences
from .lexicon import is_leaning_word

LONG_ID = 5  # characters; a shorter id is hidden only in brackets, where it cannot be a day or a count
SHORTEST_NAME = 2  # characters; a shorter name is hidden only before its id


@dataclass(frozen=True)
class Redaction:
    """Turns ids and names into 某位成员, and leaves other people's words whole.

    A name that is a word like 我 or 今天, or a single character, hides nothing where it stands alone: whoever chose it
    could otherwise unwrite everybody's sentences.
    """

    ids: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, ids: Iterable[str], names: Iterable[str]) -> Redaction:
        """Hide people by their ids and every name they had."""
        return cls(tuple(sorted(set(ids))), tuple(sorted({name.strip() for name in names if name.strip()})))

    def __call__(self, text: str) -> str:
        """Give the text without them."""
        return self._pattern.sub(sentences.somebody(), text) if self.ids or self.names else text

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """The longest first, so that a name inside another leaves no rest."""
        ids = "|".join(map(re.escape, self.ids)) or "(?!)"
        alone = [name for name in self.names if len(name) >= SHORTEST_NAME and not is_leaning_word(name)]
        numbers = [identifier for identifier in self.ids if len(identifier) >= LONG_ID]
        words = "|".join(re.escape(name) for name in sorted(alone, key=len, reverse=True)) or "(?!)"
        labelled = "|".join(re.escape(name) for name in sorted(self.names, key=len, reverse=True)) or "(?!)"
        bare = "|".join(map(re.escape, numbers)) or "(?!)"
        return re.compile(
            rf"(?:{labelled})[(（](?:{ids})[)）]|(?:{words})(?:[(（](?:{ids})[)）])?"
            rf"|(?<![0-9A-Za-z])(?:{bare})(?![0-9A-Za-z])|(?<=[(（])(?:{ids})(?=[)）])"
        )
