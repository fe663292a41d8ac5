"""Top rows by score."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

SORTED = 512  # scores that are sorted sooner than the highest of them are found


def best(seqs: NDArray[np.int64], scores: NDArray[Any], limit: int) -> dict[int, float]:
    """Return the highest scores by seq, best first; equal scores are ordered newest first."""
    if 0 < limit < len(seqs) and len(seqs) > SORTED:
        least = np.partition(scores, len(seqs) - limit)[len(seqs) - limit]
        among = np.flatnonzero(scores >= least)
        seqs, scores = seqs[among], scores[among]
    order = np.lexsort((-seqs, -scores))[:limit]
    return dict(zip(seqs[order].tolist(), scores[order].tolist(), strict=True))
