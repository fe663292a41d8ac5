"""Calibrations of embedders, in memory."""

from __future__ import annotations

from cognitive_memory_core.ports.models import Calibration


class InMemoryCalibrations:
    """Calibrations by embedder fingerprint, in memory."""

    def __init__(self) -> None:
        """Start without calibrations."""
        self._measured: dict[str, Calibration] = {}

    async def find(self, fingerprint: str) -> Calibration | None:
        """Return the calibration of an embedder; None if it was never measured."""
        return self._measured.get(fingerprint)

    async def keep(self, fingerprint: str, calibration: Calibration) -> None:
        """Store a calibration, replacing an earlier one."""
        self._measured[fingerprint] = calibration
