"""What the leaves did falls to the phases of a run, and nothing is lost or counted twice."""

from __future__ import annotations

import numpy as np
import pytest

import zsim
from zsim.engine.codes import LEAF_DTYPE
from zsim.operation.ledger import PhaseLedger


def test_bookings_add_up() -> None:
    ledger, leaves = PhaseLedger(), np.zeros(2, LEAF_DTYPE)
    for phase, read in (("visit", 10), ("issue", 30), ("visit", 40), ("issue", 100)):
        leaves["read_bytes"] = read
        ledger.book(phase, leaves)
    assert ledger.done["visit"][:, 1].tolist() == [20.0, 20.0]
    assert ledger.done["issue"][:, 1].tolist() == [80.0, 80.0]


@pytest.mark.parametrize("release", ["openzfs-2.3", "zol-0.7"])
def test_phases_share_out_what_was_read_and_written(release: str) -> None:
    answer = zsim.predict(zsim.Scenario(layout="mirror2", fill=0.3, history="home-nas", release=release))
    assert sum(phase.read_bytes for phase in answer.phases) == pytest.approx(answer.read_bytes, rel=1e-6)
    assert sum(phase.written_bytes for phase in answer.phases) == pytest.approx(
        answer.written_bytes, rel=1e-6
    )
    assert all("drive" in phase.bound_by for phase in answer.phases)
    if release == "openzfs-2.3":
        first, second = answer.phases
        assert first.read_bytes < 0.1 * second.read_bytes
