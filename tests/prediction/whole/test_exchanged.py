"""Pools of which some drives are of another model, or larger, than the rest."""

from __future__ import annotations

import pytest

from zsim.base.errors import InputError
from zsim.case.resolve import resolve
from zsim.prediction.api import predict
from zsim.prediction.inputs.hardware import plane_model
from zsim.scenario.model import Scenario
from zsim.scenario.one_drive.exchanged import ExchangedDrive

STATED = {
    "layout": "raidz2x6", "fill": 0.6, "drive": "generic-7200rpm-cmr", "drive_size": "4TB",
    "history": "home-nas", "recordsize": "128K", "release": "openzfs-2.3", "operation": "scrub",
}  # fmt: skip


def scenario(*exchanged: str, **changes: object) -> Scenario:
    return Scenario.from_dict({**STATED, "exchanged": exchanged or None, **changes})


def test_forms() -> None:
    named = ExchangedDrive.model_validate("0:mg08aca16")
    assert (named.drive, named.model, named.size) == (0, "mg08aca16", None)
    larger = ExchangedDrive.model_validate("11:@8TB")
    assert (larger.drive, larger.model, larger.size) == (11, None, 8 * 10**12)
    for each in (named, larger, ExchangedDrive.model_validate("1:generic-7200rpm-cmr@8TB")):
        assert ExchangedDrive.model_validate(str(each)) == each
    for bad in ("0", "0:", "x:mg08aca16"):
        with pytest.raises(InputError, match="exchanged"):
            ExchangedDrive.model_validate(bad)


def test_the_others_stay_as_they_are() -> None:
    leaves = plane_model(resolve(scenario("1:mg08aca16", "2:@16TB"))).leaves
    sizes = [round(leaf.drive.capacity_bytes / 1e12) for leaf in leaves]
    assert sizes == [4, 16, 16, 4, 4, 4]
    assert [("exchanged" in leaf.name) for leaf in leaves] == [False, True, True, False, False, False]
    usual = plane_model(resolve(scenario())).leaves
    assert leaves[0].drive == usual[0].drive


def test_the_slowest_drives_set_the_pace_until_all_are_exchanged() -> None:
    """A scrub of a RAID-Z waits for its slowest drives; data on larger ones lies in their outer zones."""

    def p50(exchanged: int, seed: int = 0) -> float:
        larger = (f"{drive}:@16TB" for drive in range(exchanged))
        return predict(scenario(*larger, seed=seed), portion="row").resilver_s.p50

    # One answer is known to some 2 %: the mean of four tells more.
    assert 0.9 < sum(p50(3, seed) / p50(0, seed) for seed in range(4)) / 4 < 1.02
    assert p50(6) < 0.8 * p50(0)
    some = predict(scenario(*(f"{drive}:@16TB" for drive in range(3))))
    rows = {row.role: row for row in some.leaves}
    assert rows["exchanged source"].count == 3
    # The row of a role is of all its drives; those that were not exchanged are the rest.
    rest = 2 * rows["source"].utilisation - rows["exchanged source"].utilisation
    assert rows["exchanged source"].utilisation < 0.8 * rest
    assert rows["source"].name == "generic-7200rpm-cmr"


def test_of_a_vdev_named_by_replace_in_the_numbers_are_those_of_the_layout() -> None:
    other = scenario("6:@16TB", layout="2*raidz2x6", replace_in="1", operation="resilver")
    leaves = plane_model(resolve(other)).leaves
    # The second vdev stands first where it is repaired.
    assert round(leaves[0].drive.capacity_bytes / 1e12) == 16


@pytest.mark.parametrize("exchanged", [("6:@8TB",), ("0:@8TB", "0:@9TB"), ("0:@2TB",), ("0:no-such-drive",)])
def test_what_cannot_be_is_refused(exchanged: tuple[str, ...]) -> None:
    with pytest.raises(InputError):
        predict(scenario(*exchanged))
