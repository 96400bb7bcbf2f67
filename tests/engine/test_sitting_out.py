"""Children that are slow or faulted in the reference engine, by hand: which sit out, and which are read."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from zsim.engine.model import NOT_REPAIRED, SitOutRules, VdevModel
from zsim.engine.reference.sitting import SittingOut, Watch
from zsim.engine.reference.vdev import vdev_process
from zsim.operation.rules import queue_rules
from zsim.scenario.releases.profile import load_release

CHILDREN = 6
QUICK, SLOW = 1e-3, 64e-3


class Looked:
    """A RAID-Z2 of six of which each read takes so long, looked at once an interval of a second [s]."""

    def __init__(self, faulted: tuple[int, ...] = (), scrub: bool = False, **fields: Any) -> None:
        self.shared: Any = SimpleNamespace(now=100.0, scan=SimpleNamespace(scrub=scrub), watches=True)
        gone = np.where(np.isin(np.arange(CHILDREN), faulted), 0.0, np.inf)
        self.watch = Watch(self.shared, CHILDREN, {"faulted": gone})  # type: ignore[arg-type]
        known: dict[str, Any] = {
            "kind": "raidz", "parity": 2, "ashift": 12, "read_leaf": tuple(range(CHILDREN)),
            "write_leaf": (NOT_REPAIRED,) * CHILDREN,
            "autosit": SitOutRules(seconds=600.0, interval_s=1.0, insensitivity=50),
        }  # fmt: skip
        self.model = VdevModel(**{**known, **fields})
        self.sitting = SittingOut(self.shared, self.watch, self.model)

    def read(self, *seconds: float) -> list[int]:
        """Read once of each child that takes any time, look, and return how often each was an outlier."""
        for leaf, each in enumerate(seconds):
            if each > 0.0:
                self.watch.note(leaf, each)
        self.shared.now += 1.0
        self.sitting.look(self.model)
        return self.sitting.outliers


ALL = (QUICK,) * 5


def test_the_slowest_child_is_an_outlier_where_it_takes_far_longer_than_the_others() -> None:
    assert Looked().read(*ALL, SLOW)[5] > 0
    assert Looked().read(SLOW, *ALL)[0] > 0
    assert Looked().read(*ALL, QUICK) == [0] * 6


@pytest.mark.parametrize(
    ("faulted", "seconds"),
    [
        # A healthy child was not read.
        ((), (QUICK, 0.0, QUICK, QUICK, QUICK, SLOW)),
        # As many are ill as there is parity.
        ((0, 1), (QUICK, QUICK, QUICK, QUICK, QUICK, SLOW)),
        # The slowest is ill itself.
        ((5,), (*ALL, SLOW)),
        # Nothing was read.
        ((), (0.0,) * 6),
    ],
)
def test_nothing_is_concluded_where_one_is_unread_or_too_many_are_ill(
    faulted: tuple[int, ...], seconds: tuple[float, ...]
) -> None:
    assert Looked(faulted).read(*seconds) == [0] * 6


def test_one_that_is_ill_leaves_the_others_to_be_compared() -> None:
    assert Looked((0,)).read(0.0, *ALL[:4], SLOW)[5] > 0
    missing = Looked(read_leaf=(-1, 1, 2, 3, 4, 5))
    assert missing.read(0.0, *ALL[:4], SLOW)[5] > 0


def test_it_is_looked_at_once_an_interval_and_the_reads_before_count_no_more() -> None:
    looked = Looked()
    first = looked.read(*ALL, SLOW)[5]
    looked.shared.now -= 0.5
    assert looked.read(*ALL, SLOW)[5] == first, "half an interval later"
    looked.shared.now += 1.0
    assert looked.read(*ALL, SLOW)[5] > first


def test_after_more_than_twenty_outliers_it_sits_out_for_its_time_but_not_from_a_scrub() -> None:
    looked = Looked()
    looks = 0
    while not looked.sitting.sat_out[5]:
        looked.read(*ALL, SLOW)
        looks += 1
        assert looks < 100
    since = looked.shared.now
    assert looked.sitting.sat_out == (0, 0, 0, 0, 0, 1)
    assert [looked.sitting.sits_out(child) for child in range(6)] == [False] * 5 + [True]
    looked.shared.scan.scrub = True
    assert not looked.sitting.sits_out(5)
    looked.shared.scan.scrub = False
    looked.shared.now = since + 599.0
    assert looked.sitting.sits_out(5)
    looked.shared.now = since + 600.0
    assert not looked.sitting.sits_out(5)


def test_when_one_sits_out_all_begin_anew() -> None:
    """OpenZFS 2.4 vdev_raidz.c:vdev_child_slow_outlier: the outliers of all children are forgotten."""
    looked = Looked()
    looked.sitting.outliers[2] = 15
    while not looked.sitting.sat_out[5]:
        counts = looked.read(*ALL, SLOW)
    assert counts == [0] * 6


@pytest.mark.parametrize(("gone", "read"), [((), 5), ((0,), 4), ((0, 1), 4), ((0, 5), 4)])
def test_one_that_sits_out_is_read_where_parity_does_not_suffice(gone: tuple[int, ...], read: int) -> None:
    """A row of RAID-Z2 with two columns missing needs all others (vdev_raidz_io_start_read_row)."""
    looked = Looked(read_leaf=tuple(-1 if child in gone else child for child in range(CHILDREN)))
    looked.sitting.until[5] = looked.shared.now + 600.0
    looked.shared.label_bytes = 0
    process: Any = vdev_process(looked.shared, looked.model, [], looked.watch)
    process.sitting = looked.sitting
    row = [(child, 0, 4096) for child in range(CHILDREN)]
    assert len(process._read_now(row, row)) == read


@pytest.mark.parametrize("sound", [0, 1])
def test_a_mirror_reads_the_leaf_that_is_not_faulted_wherever_the_block_is(sound: int) -> None:
    looked = Looked((1 - sound,))
    looked.shared.queue, looked.shared.label_bytes = queue_rules(load_release("openzfs-2.3")), 0
    idle = SimpleNamespace(rotating=True, state=SimpleNamespace(pending=0, last_offset=0))
    mirror = VdevModel(kind="mirror", parity=0, ashift=12, read_leaf=(0, 1), write_leaf=(NOT_REPAIRED,) * 2)
    process: Any = vdev_process(looked.shared, mirror, [idle, idle], looked.watch)  # type: ignore[list-item]
    assert {process._choice(place << 20) for place in range(64)} == {sound}


def test_a_vdev_of_four_or_without_autosit_is_not_watched() -> None:
    assert Looked(autosit=None).read(*ALL, SLOW) == [0] * 6
    four = Looked(read_leaf=(0, 1, 2, 3), write_leaf=(NOT_REPAIRED,) * 4)
    assert four.read(*ALL[:3], SLOW) == [0] * 4
