"""The historian's pipeline over a ledger in memory, with a test's own parts."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from cognitive_memory_core.consent import Consent
from cognitive_memory_core.domain.job import Job
from cognitive_memory_core.domain.turn import Dialogue, Turn
from cognitive_memory_core.historian.pipeline import Pipeline, Surroundings
from cognitive_memory_core.settings.schema import Live, Settings
from tests.support.clock import NOON
from tests.support.ledgers import Ledger

from .mirrors import NoMirror
from .sightings import sightings_of


def a_pipeline(ledger: Ledger, historian: Any, **parts: Any) -> Pipeline:
    """Return a pipeline over a ledger; ``parts`` replace its own ones."""
    consent = parts.pop("consent", None) or Consent(ledger)
    settings = Live(Settings(timezone="Asia/Shanghai"))
    own = {
        "ledger": ledger,
        "events": ledger.events,
        "memos": NoMirror(ledger.notes),
        "name_observer": sightings_of(ledger),
        "settings": settings,
    }
    return Pipeline(historian=historian, consent=consent, **{**own, **parts})


async def surroundings_of(ledger: Ledger, work: Turn | Dialogue, at: datetime = NOON) -> Surroundings:
    """Read what a job of this work, handed in at this time, is read beside."""
    consent = Consent(ledger)
    await consent.load()
    return await ledger.database.read(a_pipeline(ledger, None, consent=consent).surroundings, Job("job", work, at))
