"""A2 and A3: what automatic injection and every other way of reading shows, over every make of store."""

from __future__ import annotations

from collections.abc import Sequence

from ..fault_row import Extent, Row
from ..isolation_scenes import SCENES, SHARES, Plan, Tally, plans, tallied

LEAST = 600  # scenes of a quick run: some of every way and every make


def a2(extent: Extent) -> Row:
    """Ask in random scenes, by every way; nothing foreign is shown, and no store gives anything to take out."""
    return _row("A2", "random scenes, every way of reading", plans(extent.of(100_000, LEAST), extent.seed))


def a3(extent: Extent) -> Row:
    """Ask in groups about what was told in private; it is shown only in a portrait that its person opened."""
    wanted = plans(extent.of(20_000, LEAST), extent.seed + SCENES, only_private=True)
    return _row("A3", "groups ask for what was told in private", wanted)


def _row(row: str, what: str, wanted: Sequence[Plan]) -> Row:
    """Sum up: leaked counts as twice, missing as lost, and what only the last check took out as stuck."""
    total = Tally()
    for tally in tallied(wanted).values():
        total.add(tally)
    note = (
        f"{total.histories} histories over {', '.join(SHARES)}; {total.shown.total()} texts shown; leaks "
        f"{total.leaked.total()}; missing {total.missing.total()}; {total.rows} rows of the legs, re-check drops "
        f"{total.dropped} {total.example}"
    )
    leaked, missing = total.leaked.total(), total.missing.total()
    return Row(row, what, total.asked.total(), missing, leaked, total.dropped, note=note.strip())
