"""A2 and A3: what automatic injection and every other read path show, over every kind of store."""

from __future__ import annotations

from collections.abc import Sequence

from ..fault_row import Extent, Row, Seen
from ..isolation import SCENES, SHARES, Plan, Tally, plans, tallied

LEAST = 600  # scenes of a quick run: some for every read path and store


def a2(extent: Extent) -> Row:
    """Read in random scenes by every path; nothing foreign may be shown, nor returned by a store."""
    return _row(plans(extent.of(100_000, LEAST), extent.seed))


def a3(extent: Extent) -> Row:
    """Ask in groups about what was told in private; it may appear only in a profile that its person shared."""
    wanted = plans(extent.of(20_000, LEAST), extent.seed + SCENES, only_private=True)
    return _row(wanted)


def _row(wanted: Sequence[Plan]) -> Row:
    """Sum up: leaks count as twice, missing as lost, and rows that only the last check removed as stuck."""
    total = Tally()
    for tally in tallied(wanted).values():
        total.update(tally)
    seen = Seen(lost=total.sum("missing"), twice=total.sum("leaked"), stuck=total.sum("dropped"))
    seen.update({name: total.sum(name) for name in ("histories", "shown", "rows")})
    seen.examples = total.examples
    return seen.row(total.sum("asked"), f"over {', '.join(SHARES)}")
