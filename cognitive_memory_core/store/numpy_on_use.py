"""numpy, which is imported when an array is first needed: importing it takes a tenth of a second of an opening."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike, NDArray

    Array = NDArray[Any]
    Mask = NDArray[np.bool_]
    Scores = NDArray[np.float64]
    Vectors = NDArray[np.float32]
else:
    from importlib import import_module

    from ..loading_on_use import OnUse

    np = OnUse(lambda: import_module("numpy"))
    Array = DTypeLike = Mask = NDArray = Scores = Vectors = Any

__all__ = ["Array", "DTypeLike", "Mask", "NDArray", "Scores", "Vectors", "np"]
