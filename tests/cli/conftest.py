"""What all tests of the command line share."""

from __future__ import annotations

import pytest

# Before any test puts another `timeline` in its place: what is imported later would keep that one.
import zsim.planning.timeline.decisions  # noqa: F401
from zsim.cli.loudness import begin_telling


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No tracebacks on request, no colours forced, nothing left out: what a user has who set nothing."""
    begin_telling(verbose=False, quiet=False)
    for name in ("ZSIM_DEBUG", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
