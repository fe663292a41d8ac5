"""Reads the jobs that an older system left in its queue, with old and new names of their fields."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timezone

from .. import sentences
from ..disk import MAX_BYTES, Disk
from ..domain.ids import derived_id
from ..domain.scope import DEFAULT_AGENT
from ..domain.turn import Turn
from ..errors import BadArgument, CognitiveMemoryError
from ..queue.format import body_of, job_of
from .layout import Layout, written_at
from .report import MigrationReport

STATES = ("pending", "processing", "failed")


def turns_of(layout: Layout, report: MigrationReport, agent: str = DEFAULT_AGENT) -> Iterator[Turn]:
    """Yield the turn of each job; its ``request_id`` is derived from its content, so that a second run adds nothing."""
    if layout.queues is None:
        return
    for state in STATES:
        for path in layout.files(layout.queues / state, ".json"):
            try:
                arrived_at = datetime.fromtimestamp(written_at(path, MAX_BYTES), timezone.utc)
                work = job_of(body_of(Disk().read(path)), path.stem, arrived_at).work
                if not isinstance(work, Turn):
                    raise BadArgument(sentences.migration.NO_TURN)
            except CognitiveMemoryError as refused:
                report.leave_out(layout.name(path), refused)
            else:
                report.count("job")
                key = derived_id("migrated job", work.scene.scope.key, work.memo, *work.observations, work.happened_at)
                yield replace(work, scene=replace(work.scene, agent=agent), request_id=f"migrated-{key}")
