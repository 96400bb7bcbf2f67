"""Products: release, tunables, hours; and tunables that have hours of their own."""

from __future__ import annotations

import pytest

from tests.sourced import unsourced_numbers
from zsim.base import model_data
from zsim.base.errors import InputError
from zsim.case.resolve import resolve
from zsim.scenario.model import Scenario
from zsim.scenario.parts import Hours
from zsim.scenario.releases.products import load_product, product_names, settings
from zsim.scenario.releases.profile import load_release

ACTIVE = "zfs_vdev_scrub_max_active"
MINIMUM = "zfs_resilver_min_time_ms"


@pytest.mark.parametrize("name", product_names())
def test_every_product_ships_a_release_that_knows_its_tunables(name: str) -> None:
    product = load_product(name)
    release = load_release(product.release)
    assert set(product.within) == set(product.otherwise) <= set(release.tunables)
    assert (product.hours is None) == (not product.within)


@pytest.mark.parametrize("family", model_data.names("products"))
def test_every_number_and_choice_has_a_source(family: str) -> None:
    data = model_data.load("products", family)
    assert unsourced_numbers(data) == []
    versions = data["versions"]
    assert isinstance(versions, dict)
    for told in [data["names"], *(each["release"] for each in versions.values())]:
        assert isinstance(told, dict)
        assert told["source"]
        assert told["kind"] in model_data.SOURCE_KINDS


@pytest.mark.parametrize(
    ("product", "within", "otherwise"), [("truenas-25.10", 9000, 3000), ("truenas-26.04", 3000, 1500)]
)
def test_truenas_has_a_window(product: str, within: int, otherwise: int) -> None:
    case = resolve(Scenario(layout="raidz2x6", product=product, begins="fri 17:30"))
    assert case.release.tunables[MINIMUM] == otherwise
    assert case.release.tunables[ACTIVE] == 3
    (timed,) = case.timed
    assert timed.hours == Hours.parse("18:00-09:00")
    assert dict(timed.values) == {
        ACTIVE: 8, "zfs_vdev_nia_credit": 10, "zfs_vdev_nia_delay": 2, MINIMUM: within
    }  # fmt: skip


def test_outside_its_window_truenas_has_the_defaults_of_its_release() -> None:
    for name in ("truenas-25.10", "truenas-26.04", "truenas-core-13.0"):
        product = load_product(name)
        known = load_release(product.release).tunables
        assert {key: known[key] for key in product.otherwise} == dict(product.otherwise)


def test_a_product_names_the_release_and_is_echoed() -> None:
    case = resolve(Scenario(layout="raidz2x6", product="Debian-12"))
    assert case.release.name == "openzfs-2.1.11"
    told = {each.field: each for each in case.assumptions}
    assert told["release"].why == "what Debian 12 ships"
    assert "second Sunday" in told["tunables"].why
    assert case.timed == ()


def test_names_of_freebsd_are_told_where_the_product_has_them() -> None:
    assert "vfs.zfs.vdev.scrub_max_active=8 at 18:00-09:00" in load_product("truenas-core-13.0").words()


def test_a_stated_tunable_wins_at_every_hour() -> None:
    case = resolve(
        Scenario(layout="raidz2x6", product="truenas-25.10", begins="fri 17:30", tunables={ACTIVE: 4})
    )
    assert case.release.tunables[ACTIVE] == 4
    assert all(ACTIVE not in dict(each.values) for each in case.timed)
    (told,) = (each.text for each in case.assumptions if each.field == "tunables")
    assert ACTIVE not in told
    assert "zfs_vdev_nia_credit=10" in told


def test_a_patch_level_of_the_same_series_may_be_stated() -> None:
    assert (
        resolve(Scenario(layout="raidz2x6", product="debian-12", release="2.1.5")).release.version == "2.1.5"
    )


def test_a_tunable_may_have_hours() -> None:
    release = load_release("openzfs-2.3")
    found = settings(release, None, {"vfs.zfs.vdev.scrub_max_active": "8 mon-fri 22:00-06:00", MINIMUM: 1})
    assert found.always == {MINIMUM: 1}
    assert found.timed == ((Hours.parse("mon-fri 22:00-06:00"), ((ACTIVE, "8"),)),)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"product": "truenas-99"}, "known are debian-11"),
        ({"product": "truenas-25.10"}, "truenas-25.10 sets tunables by the hour"),
        ({"product": "debian-12", "release": "2.3.0"}, "Debian 12 ships openzfs-2.1.11"),
        ({"tunables": {ACTIVE: "8 22:00-06:00"}}, "a tunable with hours"),
        ({"tunables": {ACTIVE: "8 22:00-26:00"}, "begins": "fri 17:30"}, "an hour beyond 24:00"),
        ({"tunables": {ACTIVE: "x 22:00-06:00"}, "begins": "fri 17:30"}, "it is a whole number"),
        ({"tunables": {"zfs_scan_legacy": "1 22:00-06:00"}, "begins": "fri 17:30"}, "keeps its order"),
    ],
)
def test_what_cannot_be_is_said_in_one_sentence(fields: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Scenario.from_dict({"layout": "raidz2x6", **fields})


def test_what_is_stated_is_read_again() -> None:
    scenario = Scenario(layout="raidz2x6", begins="fri 17:30", tunables={ACTIVE: "8 22:00-06:00"})
    assert Scenario.from_dict(scenario.stated()) == scenario
    assert scenario.has_hours
    assert not Scenario(layout="raidz2x6", begins="fri 17:30").has_hours


def test_a_product_of_freebsd_runs_on_its_kernel() -> None:
    case = resolve({"layout": "raidz2x6", "product": "freebsd-14.3"})
    assert (case.platform, case.release.hz, case.assumed("hz")) == ("freebsd", 1000, False)
    linux = resolve({"layout": "raidz2x6", "product": "debian-12"})
    assert (linux.platform, linux.release.hz, linux.assumed("hz")) == ("linux", 250, True)
