"""The best of many rows by their scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def best(seqs: NDArray[np.int64], scores: NDArray[Any], limit: int) -> dict[int, float]:
    """Give the seqs of the highest scores with these, best first; of equal ones the newest."""
    among = np.arange(len(seqs))
    if 0 < limit < len(seqs):
        least = np.partition(scores, len(seqs) - limit)[len(seqs) - limit]
        among = np.flatnonzero(scores >= least)
    order = among[np.lexsort((-seqs[among], -scores[among]))][:limit]
    return dict(zip(seqs[order].tolist(), scores[order].tolist(), strict=True))
