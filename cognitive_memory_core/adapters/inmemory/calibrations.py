"""What was measured of each embedder."""

from __future__ import annotations

from ...ports.models import Calibration


class InMemoryCalibrations:
    """Calibrations, until the process ends."""

    def __init__(self) -> None:
        """Begin with nothing measured."""
        self._measured: dict[str, Calibration] = {}

    async def find(self, fingerprint: str) -> Calibration | None:
        """Return what was measured; None for what was never."""
        return self._measured.get(fingerprint)

    async def keep(self, fingerprint: str, calibration: Calibration) -> None:
        """Remember what was measured, in the place of what was known before."""
        self._measured[fingerprint] = calibration
