"""Top rows by score."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def best(seqs: NDArray[np.int64], scores: NDArray[Any], limit: int) -> dict[int, float]:
    """Return the highest scores by seq, best first; equal scores are ordered newest first."""
    among = np.arange(len(seqs))
    if 0 < limit < len(seqs):
        least = np.partition(scores, len(seqs) - limit)[len(seqs) - limit]
        among = np.flatnonzero(scores >= least)
    order = among[np.lexsort((-seqs[among], -scores[among]))][:limit]
    return dict(zip(seqs[order].tolist(), scores[order].tolist(), strict=True))
