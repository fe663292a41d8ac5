"""Opens a data directory for reading only, also while a bot owns it; writes nothing there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from ..consent import Consent
from ..directory_owner import LEDGER
from ..domain.answer import Hit
from ..domain.consent import PlaceSwitch
from ..domain.figures import Spending, Totals
from ..domain.job import FailedJob, QueueCounts
from ..domain.quality import QualityReport
from ..domain.reading import EventListing, PlaceListing, ReadFilter
from ..errors import UnavailableError
from ..models.embedding import EmbeddingQueue, embedding_of
from ..ports import SystemClock
from ..profiles.files import FileProfiles
from ..quality.reporting import Reporting
from ..queue.job_queue import FileQueue
from ..recall.names import CurrentNames
from ..recall.one_pass import Sources
from ..recall.recall import Recall
from ..settings.schema import Live, Settings
from ..store.ledger import ClockState, Ledger
from ..transfer import checked_target, exported
from .forgetting import without_forgotten

ALIKE = 1_000  # people or groups whose name contains what was said, at most


@dataclass(frozen=True)
class DirectorySnapshot:
    """The figures of a data directory.

    ``index_lag`` counts the events without a vector of the configured embedder; ``dimensions`` is the length of its
    stored vectors, 0 if there are none. ``clock`` is the clock's trust state as the bot stored it last. ``switches``
    are those in force that are not "on", ``lenders`` the chat plugins whose model the historian may use.
    """

    totals: Totals
    jobs: QueueCounts
    failed: tuple[FailedJob, ...]
    spent_today: tuple[Spending, ...]
    index_lag: int
    dimensions: int
    embedder: str
    clock: ClockState | None
    switches: tuple[PlaceSwitch, ...] = ()
    lenders: tuple[str, ...] = ()


class MemoryReader:
    """Reads a data directory; made by :func:`opened_reader`. People who opted out are left out, as for the bot."""

    def __init__(self, ledger: Ledger, embedder: EmbeddingQueue, settings: Settings, data_dir: Path) -> None:
        """Read with a ledger that is opened read-only; ``embedder`` embeds queries."""
        self.ledger = ledger
        self._embedder = embedder
        self._settings = Live(settings)
        self._data_dir = data_dir
        self._clock = SystemClock()
        self.consent = Consent(ledger, self._settings)

    async def snapshot(self) -> DirectorySnapshot:
        """Return the figures now."""
        ledger = self.ledger
        counts, failed = await asyncio.to_thread(FileQueue.peeked, self._data_dir / "queues")
        fingerprint = self._embedder.fingerprint
        today = self._clock.now().astimezone(self._settings.current.zone).date()
        return DirectorySnapshot(
            await ledger.archive.totals(),
            counts,
            tuple(failed),
            tuple(one for day, one in await ledger.housekeeping.spent(today) if day == today),
            await ledger.vectors.lag(fingerprint),
            await ledger.vectors.dimensions(fingerprint),
            self._embedder.name,
            await ledger.housekeeping.clock(),
            tuple(self.consent.place_switches()),
            self._settings.current.lenders(is_new=await ledger.housekeeping.may_borrow()),
        )

    async def report(self, *, days: int) -> QualityReport:
        """Return the quality report of all agents; what the bot counted in the last minute is missing."""
        ledger = self.ledger
        counts, _ = await asyncio.to_thread(FileQueue.peeked, self._data_dir / "queues")
        lag = partial(ledger.vectors.lag, self._embedder.fingerprint)
        reporting = Reporting(ledger, self.consent, self._settings, self._clock, lambda: counts, lag)
        return await reporting.report(None, days=days)

    async def search(self, read_filter: ReadFilter, query: str, *, top_k: int) -> list[Hit]:
        """Search what the filter's scene may read, best first, by words and by the vectors in the ledger."""
        with suppress(UnavailableError):
            await self._embedder.load()  # unlike a bot's, this question can wait
        sources = Sources(self.ledger, self._embedder, self._clock, self.consent, CurrentNames(self.ledger.names))
        read_filter = replace(read_filter, without=self.consent.opted_out)
        found = await Recall(sources, self._settings).search(read_filter, query, top_k=top_k)
        return self.consent.hits(read_filter, found.hits)

    async def known_as(self, kind: Literal["person", "group"], said: str) -> list[str]:
        """Return the ids of the people or groups whose id or name is ``said``: itself alone if it is an id."""
        listings, agent, hidden = self.ledger.listings, self._settings.current.agent, self.consent.opted_out
        if kind == "person":
            people = await listings.people(agent, said, ALIKE)
            known = [(one.user_id, one.name) for one in people if one.user_id == said or one.user_id not in hidden]
            known += [(said, "") for _ in await listings.events(agent, EventListing(user_id=said), 1)]  # of no name
        else:
            wanted = PlaceListing(kind="group", text=said, is_counted=False)
            known = [(one.scope.place_id, one.name) for one in await listings.places(agent, wanted, ALIKE)]
        return [said] if said in dict(known) else [one for one, name in known if name == said]

    async def export(self, path: Path, *, user_id: str | None) -> int:
        """Write an export, complete or not at all.

        Raises BadArgument for a target inside the data directory, StorageRefused.
        """
        target = await asyncio.to_thread(checked_target, path, self._data_dir)
        settings, events = self._settings.current, self.ledger.eraser
        return await exported(
            self.ledger.archive,
            target,
            user_id=user_id,
            profiles=FileProfiles(
                self._data_dir,
                settings.profile.revision_keep,
                self._clock,
                settings.zone,
                without_gone=self.ledger.without_gone,
            ),
            edited=lambda profile: without_forgotten(profile, events),
        )


@asynccontextmanager
async def opened_reader(settings: Settings, data_dir: Path) -> AsyncGenerator[MemoryReader, None]:
    """Open a data directory for reading; raises UnavailableError if there is no ledger that can be read."""
    async with AsyncExitStack() as stack:
        ledger = await Ledger.open(data_dir / LEDGER, read_only=True)
        stack.push_async_callback(ledger.close)
        embedder = await embedding_of(
            settings.models.embedding, ledger, uncounted, stack, data_dir=data_dir, given=None
        )
        ledger.corpora.follow(embedder.fingerprint)
        reader = MemoryReader(ledger, embedder, settings, data_dir)
        await reader.consent.load()
        yield reader


def uncounted(_purpose: str, _tokens: int, _answered: int) -> None:
    """Count nothing: the ledger may belong to a running bot."""
