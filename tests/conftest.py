"""Configuration for all pytest runs."""

from __future__ import annotations

import os

from hypothesis import settings

from tests.support.sizes import IS_NIGHTLY, NIGHTLY

settings.register_profile("default", deadline=None, max_examples=60)  # a slow machine must not fail a test
settings.register_profile("ci", deadline=None, max_examples=60, derandomize=True)
settings.register_profile(NIGHTLY, deadline=None, max_examples=500, print_blob=True)
settings.load_profile(NIGHTLY if IS_NIGHTLY else "ci" if os.environ.get("CI") else "default")
