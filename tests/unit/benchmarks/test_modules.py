"""Tests that no benchmark was left behind by a change of the code."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import benchmarks


def test_every_benchmark_can_be_imported() -> None:
    """Every benchmark and fault row finds the names of the core and of the tests that it uses."""
    for module in pkgutil.walk_packages(benchmarks.__path__, "benchmarks."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
