"""Settings that all tests share."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("zsim", deadline=None, derandomize=True)  # a first call compiles
settings.load_profile("zsim")
