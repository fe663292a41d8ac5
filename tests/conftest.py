"""What every run of the suite shares."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("default", deadline=None)  # a shared machine is no reason to fail
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")
