"""Figures for operators at ``/memory/metrics`` of the HTTP interface, in Prometheus' format; see :mod:`.mounting`."""

from __future__ import annotations

from .mounting import is_mounted

__all__ = ["is_mounted"]
