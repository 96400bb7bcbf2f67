"""Large pools with next to nothing on them: small files, less than a few transaction groups."""

import pytest

from zsim.prediction.api import predict
from zsim.scenario.model import Scenario

SMALL = {"layout": "40*mirror2", "drive_size": "4TB", "recordsize": 16384}


@pytest.mark.parametrize(
    "more",
    [
        {"fill": 0.01, "release": "openzfs-2.3", "history": "maildir"},
        {"fill": 0.01, "release": "zol-0.7", "history": "small-files", "layout": "10*raidz2x8", "ashift": 9},
        {"fill": 0.001, "history": "small-files", "layout": "80*disk", "operation": "scrub"},
    ],
)  # fmt: skip
def test_eighty_drives_of_small_files_are_answered(more):
    answer = predict(Scenario.from_dict(SMALL | more)).resilver_s
    assert 0.0 < answer.p10 <= answer.p50 <= answer.p90
