"""Random scenes over random memories: the rule, the SQL it compiles to, Chroma's filter and every search must agree.

Ids are drawn from a small pool, so that groups and people share numbers, and some look like the filters' own words.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from array import array
from pathlib import Path

from cognitive_memory_core.adapters.chroma.filters import chroma_where
from cognitive_memory_core.adapters.sqlite import SqliteLedger
from cognitive_memory_core.domain.event import Draft, Event
from cognitive_memory_core.domain.hit import Reading
from cognitive_memory_core.domain.scope import Scene
from cognitive_memory_core.ports.ledger import EmbeddedEvent, VectorRow

from .measure import Report
from .workload import NOW

IDS = ("1", "2", "10001", "2000001", "2000002", "$ne", "*", "' OR 1=1 --", "group", "private", "棠", "１")
AGENTS = ("default", "second")
MEMORIES = 500
FINGERPRINT = "isolation"
WORD = "乌龙"
