"""What pools of a size are used for."""

from __future__ import annotations

import pytest

from zsim.base import model_data
from zsim.case.worlds import uses
from zsim.drives.models.generations import LATEST
from zsim.scenario.releases.profile import load_release

TB = 10**12


def test_large_pools_are_seldom_full_of_documents_or_mail() -> None:
    small, large = ({each.value: each.share for each in uses(size * TB)} for size in (1, 40))
    assert large["home-nas"] == pytest.approx(small["home-nas"] / 10)
    assert large["maildir"] < small["maildir"]
    assert large["vm-host"] == pytest.approx(small["vm-host"] / 4), "ten TB of volumes are usual at the most"
    for unlimited in ("media-server", "backup-target", "write-once-archive"):
        assert large[unlimited] == small[unlimited]


def test_every_release_has_its_year() -> None:
    for name in model_data.names("releases"):
        assert 2010 <= load_release(name).year <= LATEST + 1
