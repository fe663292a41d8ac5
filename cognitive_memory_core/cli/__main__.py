"""``python -m cognitive_memory_core.cli``: the same command, for use without the installed script."""

from __future__ import annotations

import sys

from .main import main

sys.exit(main())
