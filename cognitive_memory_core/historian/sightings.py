"""Who goes by which name, as a scene shows it."""

from __future__ import annotations

from datetime import datetime

from ..domain.scope import Scene
from ..ports.ledger import Alias
from ..text.names import clean_name


def sighting(scene: Scene, at: datetime) -> Alias:
    """Give the name that the person of a scene bears there; blank where they bear none."""
    return Alias(scene.scope, scene.user_id, clean_name(scene.user_name), at, at)
