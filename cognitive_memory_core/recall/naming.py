"""Whom a question names: by a name that they bear or bore in its place, or by their id."""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice

from ..domain.people import Person
from ..domain.scope import Scene, Scope
from ..errors import CognitiveMemoryError
from ..ports.ledger import NameBook
from ..text.caches import cleared_on_erasure, register_cache
from ..text.identity.callnames import callname, callnames
from ..text.identity.written_ids import BARE_ID

READ = 400  # characters of a question in which names are looked for
MOST_PEOPLE = 1_000  # of one place, those seen last
_BEGINNING = 2  # characters: no name is shorter
_ID = re.compile(r"(?<![0-9A-Za-z_-])(?:(@|\()\s?)?([0-9A-Za-z_-]{1,128})(?![0-9A-Za-z_-])")


@dataclass(frozen=True)
class Names:
    """Who is called what in one place."""

    bearers: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    ids: frozenset[str] = frozenset()
    lengths: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])  # by how a name begins

    @classmethod
    def of(cls, people: Iterable[Person]) -> Names:
        """Take in people with all their names; what is only the beginning of several people's names calls nobody."""
        full: dict[str, set[str]] = {}
        short: dict[str, set[str]] = {}
        ids: set[str] = set()
        for person in islice(people, MOST_PEOPLE):
            ids.add(person.id)
            for name in (person.name, *person.aliases):
                for at, called in enumerate(callnames(name)):
                    (short if at else full).setdefault(called, set()).add(person.id)
        borne = {name: who for name, who in short.items() if len(who) == 1} | full
        lengths: dict[str, list[int]] = {}
        for name in sorted(borne, key=len, reverse=True):
            lengths.setdefault(name[:_BEGINNING], []).append(len(name))
        return cls({name: frozenset(who) for name, who in borne.items()}, frozenset(ids), lengths)

    def named(self, said: str) -> frozenset[str]:
        """Give the ids of those whom a text names. The longest name counts, and a written id before any name."""
        text = callname(said[:READ])
        written = [match for match in _ID.finditer(text) if self._is_id(match[1] or "", match[2])]
        for match in reversed(written):
            text = f"{text[: match.start()]} {text[match.end() :]}"
        return frozenset((*(match[2] for match in written), *self._called(text)))

    def _is_id(self, mark: str, token: str) -> bool:
        """Tell an id: of somebody known, or, where it is marked as one, of anybody."""
        is_long = len(token) >= BARE_ID
        return (token in self.ids and (is_long or bool(mark))) or (bool(mark) and is_long and token.isdecimal())

    def _called(self, text: str) -> Iterable[str]:
        stop = 0
        for at in range(len(text) - 1):
            for size in self.lengths.get(text[at : at + _BEGINNING], ()) if at >= stop else ():
                name = text[at : at + size]
                if name in self.bearers and not (_runs_on(text, at) or _runs_on(text, at + size)):
                    yield from self.bearers[name]
                    stop = at + size
                    break


NOBODY = Names()


def people_named(said: str, people: Iterable[Person]) -> frozenset[str]:
    """Give the ids of those of the people whom a text names, by a name of now or of before, or by id."""
    return Names.of(people).named(said)


@cleared_on_erasure
@lru_cache(maxsize=1024)  # the same people ask again and again
def names_of(person: Person) -> Names:
    """Give the names of one person alone."""
    return Names.of((person,))


@dataclass(frozen=True)
class NameReadLimits:
    """How long a question waits for the names of its place, and how long they serve, in seconds."""

    patience: float = 0.25
    lifetime: float = 10.0
    held: int = 256


@dataclass(frozen=True)
class _NamesRead:
    """Names that are being read, or were; times are of the event loop's clock."""

    began_at: float
    task: asyncio.Task[Names]

    def serves(self, now: float, lifetime: float) -> bool:
        """Tell whether they are read still, or were lately and there were any: a place fills up at once."""
        if not self.task.done():
            return True
        return now - self.began_at < lifetime and not self.task.cancelled() and self.task.result() != NOBODY


class KnownNames:
    """The names known in each place, read again every ten seconds; a book that is away or slow gives none."""

    def __init__(self, book: NameBook | None, pace: NameReadLimits = NameReadLimits()) -> None:
        """Read a book; without one nobody is known."""
        self._book = book
        self._pace = pace
        self._reads: OrderedDict[Scope, _NamesRead] = OrderedDict()
        register_cache(self)

    def clear_caches(self) -> None:
        """Hold no names: they are read again when they are asked for."""
        self._reads.clear()

    async def at(self, scene: Scene) -> Names:
        """Give the names known where a scene stands; never raises."""
        if self._book is None or (scene.kind == "operator" and not scene.group_id):
            return NOBODY
        scope, now = scene.scope, asyncio.get_running_loop().time()
        read = self._reads.get(scope)
        if read is None or not read.serves(now, self._pace.lifetime):
            read = self._reads[scope] = _NamesRead(now, asyncio.create_task(_read(self._book, scope)))
            self._reads.move_to_end(scope)
        while len(self._reads) > self._pace.held:
            self._reads.popitem(last=False)
        if not read.task.done():
            await asyncio.wait((read.task,), timeout=self._pace.patience)
        return read.task.result() if read.task.done() and not read.task.cancelled() else NOBODY


async def _read(book: NameBook, scope: Scope) -> Names:
    try:
        people = await book.people(scope)
    except CognitiveMemoryError:
        return NOBODY
    return await asyncio.to_thread(Names.of, people)


def _runs_on(text: str, at: int) -> bool:
    """Tell whether one word of letters without pairs reaches across a place."""
    pair = text[max(at - 1, 0) : at + 1]
    return len(pair) > 1 and pair.isascii() and pair.isalnum()
