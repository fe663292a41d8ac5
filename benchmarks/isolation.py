"""Random scenes over random memories: the rule, the SQL it compiles to, Chroma's filter and every search must agree.

Ids are drawn from a small pool, so that groups and people share numbers, and some look like the filters' own words.
"""

from __future__ import annotations

IDS = ("1", "2", "10001", "2000001", "2000002", "$ne", "*", "' OR 1=1 --", "group", "private", "棠", "１")
AGENTS = ("default", "second")
MEMORIES = 500
FINGERPRINT = "isolation"
WORD = "乌龙"
