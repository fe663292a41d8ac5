"""Runs one row for :func:`benchmarks.faults.run`: arguments are its name and extent, the last output line is JSON."""

from __future__ import annotations

import json
import logging
import sys
from dataclasses import asdict

from ..fault_row import Extent
from .rows import run_row

if __name__ == "__main__":
    logging.disable(logging.CRITICAL)  # the faults are intended
    print(json.dumps(asdict(run_row(sys.argv[1], Extent(**json.loads(sys.argv[2])))), ensure_ascii=False))
