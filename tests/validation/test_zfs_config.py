"""What a run of real OpenZFS states is read, or refused: nothing is passed over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from zsim.base.errors import InputError
from zsim.validation.formats.zfs_config import (
    EmulatedRun,
    drive_of,
    refuse_unknown,
    second_replacement,
    vdevs_of,
)

RUN = Path(__file__).parents[2] / "validation" / "zfs-sorted" / "raidz2x6-a12-f50-aged" / "config.json"


def _run(**changes: Any) -> EmulatedRun:
    config = json.loads(RUN.read_text())
    for name, value in changes.items():
        if isinstance(value, dict):
            config[name] = {**config[name], **value}
        else:
            config[name] = value
    return EmulatedRun(config, {})


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"autosat": 1}, "autosat"),
        ({"disk": {"tail_leafs": "3", "tail_p": "0.01"}}, "disk.tail_leafs"),
        ({"pool": {"colour": "red"}}, "pool.colour"),
        ({"foreground": {"fgz": 3}}, "foreground.fgz"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_a_field_that_would_be_passed_over_is_refused(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError, match=f"config.json: {field}"):
        refuse_unknown(_run(**changes))


def test_committed_runs_have_no_unknown_field() -> None:
    runs = [*RUN.parents[2].glob("zfs-*/*/config.json")]
    assert len(runs) > 10
    for path in runs:
        refuse_unknown(EmulatedRun(json.loads(path.read_text()), {}))


def test_a_slow_leaf_is_slow_in_every_respect() -> None:
    bench = _run(disk={"slow_leaf": "3", "slow_mult": "3"})
    slow, sound = drive_of(bench, 3), drive_of(_run(), 3)
    assert drive_of(bench, 2) == drive_of(_run(), 2)
    assert slow.revolution_s == pytest.approx(3 * sound.revolution_s)
    assert slow.read_overhead_s == pytest.approx(3 * sound.read_overhead_s)
    assert slow.zone_rates == pytest.approx([rate / 3 for rate in sound.zone_rates])


def test_a_leaf_that_sits_out_is_written_but_not_read() -> None:
    vdev = vdevs_of(_run(sitout="3"))[0]
    assert vdev.read_leaf == (-1, 1, 2, -1, 4, 5)
    assert vdev.written(3) == {3}
    assert vdevs_of(_run())[0].read_leaf == (-1, 1, 2, 3, 4, 5)


def test_a_special_vdev_is_one_of_its_class() -> None:
    layout = _run(pool={"layout": "raidz2x6+mirror2", "special_vdevs": [1]}).layout
    assert str(layout) == "raidz2x6+special:mirror2"


@pytest.mark.parametrize(("back", "together"), [(1.2, True), (9.0, False)])
def test_replacements_made_before_the_first_visit_are_one_pass(back: float, together: bool) -> None:
    two = _run(replaced_leaf2=1, new_leaves=[6, 7], foreground={"replace2": 1})
    result = {"attach1_returned_s": 1.0, "attach_returned_s": back, "first_visit_s": 1.5}
    second = second_replacement(EmulatedRun(two.config, result))
    assert second is not None
    assert second.together is together
