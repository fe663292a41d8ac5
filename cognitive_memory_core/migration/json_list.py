"""Streams the rows of a JSON list from a file of any size; continues after a damaged row."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from .. import sentences
from ..errors import BadArgument

PIECE = 64 * 1024  # characters read at once
LONGEST_ROW = 256 * 1024  # characters; what is longer counts as damaged
MOST_DAMAGED = 1_000  # rows, after which the rest is given up
_NEXT_ROW = re.compile(r",\s*(?=\{)")
_BETWEEN = " \t\r\n,"


class DamagedRow:
    """Stands for a row that is not JSON."""


DAMAGED = DamagedRow()


def rows_of(path: Path) -> Iterator[object]:
    """Yield each row, and DAMAGED for a row that is not JSON; raises BadArgument if the file is not a list."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        yield from _ListReader(file).rows()


class _ListReader:
    def __init__(self, file: TextIO) -> None:
        self._file, self._text, self._at, self._is_end = file, "", 0, False
        self._decoder = json.JSONDecoder()

    def rows(self) -> Iterator[object]:
        if self._next_sign(" \t\r\n") != "[":
            raise BadArgument(sentences.migration.NOT_A_LIST)
        self._at += 1
        damaged, row = 0, None
        while (sign := self._next_sign(_BETWEEN)) and sign != "]":
            row = self._row()
            yield row
            if row is DAMAGED:
                damaged += 1
                if damaged == MOST_DAMAGED:
                    raise BadArgument(sentences.migration.TOO_MUCH_BROKEN)
                self._skip()
        if not sign and row is not DAMAGED:
            yield DAMAGED  # the file ends before the list does

    def _next_sign(self, between: str) -> str:
        """Skip the separators between two rows; return the next character, or "" at the end of the file."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in between:
                self._at += 1
            if self._at < len(self._text) or self._is_end:
                return self._text[self._at : self._at + 1]
            self._read()

    def _row(self) -> object:
        while True:
            try:
                row, end = self._decoder.raw_decode(self._text, self._at)
            except (ValueError, RecursionError):
                if self._is_end or len(self._text) - self._at > LONGEST_ROW:
                    return DAMAGED
            else:
                if end < len(self._text) or self._is_end:
                    self._at = end
                    return row
            self._read()

    def _skip(self) -> None:
        """Skip to the next object that follows a comma, or to the end of the file if there is none."""
        while not (found := _NEXT_ROW.search(self._text, self._at + 1)):
            if self._is_end:
                self._at = len(self._text)
                return
            self._at = max(self._at, len(self._text) - 2)
            self._read()
        self._at = found.end()

    def _read(self) -> None:
        piece = self._file.read(PIECE)
        self._text, self._at, self._is_end = self._text[self._at :] + piece, 0, not piece
