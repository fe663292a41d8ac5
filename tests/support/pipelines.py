"""The historian's pipeline over a ledger in memory, with a test's own parts."""

from __future__ import annotations

from typing import Any

from cognitive_memory_core.consent import Consent
from cognitive_memory_core.historian.pipeline import Pipeline, SurroundingsReader
from cognitive_memory_core.settings.schema import Live, Settings
from tests.support.ledgers import Ledger

from .mirrors import NoMirror
from .sightings import sightings_of


def a_pipeline(ledger: Ledger, historian: Any, **parts: Any) -> Pipeline:
    """Return a pipeline over a ledger; ``parts`` replace its own ones."""
    consent = parts.pop("consent", None) or Consent(ledger)
    settings = Live(Settings(timezone="Asia/Shanghai"))
    own = {
        "events": ledger.events,
        "memos": NoMirror(ledger.notes),
        "name_observer": sightings_of(ledger),
        "reader": SurroundingsReader(ledger, consent, settings, asks_model=parts.pop("asks_model", True)),
        "settings": settings,
    }
    return Pipeline(historian=historian, consent=consent, **{**own, **parts})
