"""Reports damage of the ledger's file that reads do not notice."""

from __future__ import annotations

import logging

from .. import sentences
from ..domain.figures import LEDGER_ROWS
from ..store.database.integrity import LedgerExaminer
from ..tasks import BackgroundLoop, ErrorState

AFTER = 20.0  # seconds: a bot that starts has more urgent things to read
LONGEST = 120.0  # seconds of one examination
EVERY = 7 * 86400.0  # seconds
log = logging.getLogger(__name__)


class IntegrityWatch:
    """Starts an examination of the ledger soon after the start and once a week; the status names damaged parts.

    Nothing is repaired and nothing stops, because the rest of the ledger works.
    """

    def __init__(self, examiner: LedgerExaminer) -> None:
        """Create with the examiner of the ledger, which is first called :data:`AFTER` seconds after the loop starts."""
        self._examiner = examiner
        self._first_rest = AFTER
        self.trouble = ErrorState(LEDGER_ROWS)
        self.loop = BackgroundLoop("ledger check", self._round)

    async def _round(self) -> float:
        rest, self._first_rest = self._first_rest, 0.0
        if rest:
            return rest
        await self.examine()
        return EVERY

    async def examine(self) -> None:
        """Examine the ledger now; record damage as the error state, which ends if a complete examination finds none."""
        examined = await self._examiner.examine(LONGEST)
        if examined.damages:
            self.trouble.tell(sentences.storage_errors.rows_damaged(examined.damages))
        elif examined.is_complete:
            self.trouble.end()
        else:
            log.info("%s", sentences.log.LEDGER_NOT_EXAMINED.format(seconds=LONGEST))
