"""Names of the people heard lately, for mentions that contain only an id."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable

import cognitive_memory_core as core

from .erasure import on_erased

PEOPLE = 10_000


class HeardNames:
    """The latest name of each person in each place; in memory only, and dropped when the person or place is erased."""

    def __init__(self, limit: int = PEOPLE) -> None:
        """Keep at most ``limit`` names."""
        self._limit = limit
        self._names: OrderedDict[tuple[Hashable, str], core.Scene] = OrderedDict()

    def note(self, scene: core.Scene) -> None:
        """Store the name of a scene's person; beyond the limit, drop the name heard longest ago."""
        if scene.user_name:
            self._names[scene.scope, scene.user_id] = scene
            self._names.move_to_end((scene.scope, scene.user_id))
            if len(self._names) > self._limit:
                self._names.popitem(last=False)

    def name(self, scene: core.Scene, user_id: str) -> str:
        """Return the name of a person in the scene's place; "" if the person was not heard there lately."""
        known = self._names.get((scene.scope, user_id))
        return known.user_name if known else ""

    async def forget(self, is_erased: Callable[[core.Scene], bool]) -> None:
        """Drop the names heard in a scene for which ``is_erased`` is true."""
        self._names = OrderedDict((key, scene) for key, scene in self._names.items() if not is_erased(scene))


heard_names = HeardNames()
on_erased(heard_names.forget)
