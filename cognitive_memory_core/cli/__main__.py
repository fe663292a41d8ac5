"""``python -m cognitive_memory_core.cli``: the same command where no script is installed."""

from __future__ import annotations

import sys

from .main import main

sys.exit(main())
