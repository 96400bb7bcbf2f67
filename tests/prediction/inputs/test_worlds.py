"""What may be unknown of a case, how worlds are drawn, and the case as it is in one of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zsim.case import worlds
from zsim.case.case import Case
from zsim.case.member import Factors, Member
from zsim.case.resolve import resolve
from zsim.case.worlds import Choice, in_world, pick
from zsim.prediction.inputs.ensemble import (
    LATER_NAMES,
    MEMBERS,
    NAMES,
    NORMAL,
    Unknown,
    draw_members,
    member_at,
    normal_strata,
    places_of,
    unknowns,
)
from zsim.scenario.model import Scenario


def case(**fields: Any) -> Case:
    return resolve(Scenario.from_dict({"layout": "raidz2x6"} | fields))


def names(**fields: Any) -> set[str]:
    return {each.name for each in unknowns(case(**fields))}


# What is unknown.


def test_of_a_bare_layout_all_is_unknown_but_what_only_some_pools_have() -> None:
    assert names() == {*NAMES, *LATER_NAMES} - {"host", "shingling", "ashift"}


@pytest.mark.parametrize(
    ("fields", "settled"),
    [
        ({"drive": "hd103uj"}, {"drive"}),
        ({"fill": 0.5}, {"fill"}),
        ({"alloc": "5T"}, {"fill"}),
        ({"history": "home-nas", "frag": 0.2}, {"history", "churn"}),
        ({"history": "home-nas", "recordsize": "1M"}, {"history", "file_size"}),
        ({"write_cache": True}, {"write_cache"}),
        ({"operation": "scrub"}, {"write_cache"}),
        ({"load": ["random-read,rate=5"]}, {"load"}),
    ],
)
def test_what_is_stated_is_no_longer_unknown(fields: dict[str, Any], settled: set[str]) -> None:
    assert names(**fields) & settled == set()
    assert names() - names(**fields) >= settled


def test_only_where_a_shingled_drive_is_written_to_does_its_cleaning_count() -> None:
    assert "shingling" in names(new_drive="st8000dm004", drive_size="8TB")
    assert "shingling" not in names(drive="st8000dm004", operation="scrub")


def test_solid_state_drives_share_a_host_of_which_nobody_speaks() -> None:
    ssd = {"drive": "generic-sata-ssd"}
    assert "host" in names(**ssd)


def test_other_flash_may_have_a_faster_or_slower_processor() -> None:
    """One coordinate: what a host is to drives that share its links, and to those that do not."""

    def field(**fields: Any) -> str:
        return next((each.field for each in unknowns(case(**fields)) if each.name == "host"), "")

    assert field(drive="generic-sata-ssd") == "ports"
    assert field(drive="generic-nvme-ssd") == field(drive="generic-sata-ssd", enclosure="jbod-60") == "cpus"
    assert field(drive="generic-nvme-ssd", layout="mirror2", operation="rebuild") == ""
    assert field() == ""


def test_every_unknown_says_what_to_do_and_has_a_width() -> None:
    for each in unknowns(case()):
        assert each.field in Scenario.field_infos() or each.field == "files"
        assert each.words
        assert bool(each.choices) != (each.spread > 0.0)


# How worlds are drawn.


def test_each_unknown_takes_each_stratum_once() -> None:
    drawn = draw_members(unknowns(case()), 3)
    scores = np.array([member.scores for member in drawn])
    strata = sorted(NORMAL.inv_cdf((row + 0.5) / MEMBERS) for row in range(MEMBERS))
    for column in scores.T:
        assert sorted(column.tolist()) == pytest.approx(strata)


def test_no_two_unknowns_go_together_much() -> None:
    scores = np.array([member.scores for member in draw_members(unknowns(case()), 3)])
    alike = np.corrcoef(scores.T) - np.eye(scores.shape[1])
    assert np.abs(alike).max() < 0.6


def test_scenarios_that_are_compared_share_their_random_numbers() -> None:
    """Whatever else is unknown in one of them, an unknown has the same scores in both."""
    many, few = unknowns(case()), unknowns(case(drive="hd103uj", fill=0.5))
    scores = [
        {
            each.name: [member.scores[place] for member in draw_members(inputs, 7)]
            for place, each in enumerate(inputs)
        }
        for inputs in (many, few)
    ]
    common = scores[0].keys() & scores[1].keys()
    assert len(common) >= 5
    assert all(scores[0][name] == scores[1][name] for name in common)


def test_another_seed_draws_other_worlds_and_the_same_seed_the_same() -> None:
    inputs = unknowns(case())
    assert draw_members(inputs, 1) == draw_members(inputs, 1)
    assert draw_members(inputs, 1) != draw_members(inputs, 2)


def test_where_nothing_is_unknown_there_are_no_members() -> None:
    assert draw_members((), 1) == ()


def test_a_score_of_zero_is_the_model_itself() -> None:
    inputs = tuple(each for each in unknowns(case()) if not each.choices)
    member = member_at(inputs, (0.0,) * len(inputs))
    assert member.factors == Factors()
    assert (member.churn, member.file_size) == (1.0, 1.0)


def test_a_score_moves_its_own_factor_by_its_spread() -> None:
    member = member_at((Unknown("seek", "drive", "", 0.2), Unknown("churn", "frag", "", 1.0)), (1.0, -2.0))
    assert member.factors == Factors(seek=math.exp(0.2))
    assert member.churn == pytest.approx(math.exp(-2.0))


@given(st.floats(0.0, 1.0))
def test_values_are_picked_by_their_shares(place: float) -> None:
    choices = (Choice("a", 1.0), Choice("b", 2.0), Choice("c", 1.0))
    edges = {"a": (0.0, 0.25), "b": (0.25, 0.75), "c": (0.75, 1.0)}
    low, high = edges[pick(choices, place)]
    assert low - 1e-12 <= place <= high + 1e-12


# The case in a world.


def test_choices_of_a_world_replace_what_was_assumed() -> None:
    base = case()
    world = in_world(base, Member(write_cache=False, fill=0.3, ashift=9, history="vm-host"))
    assert (world.write_cache, world.fill, world.ashift) == (False, 0.3, 9)
    assert world.alloc == round(0.3 * base.pool_size)
    assert world.history.name == "vm-host"
    assert world.vdevs[0].ashift == 9
    assert base.vdevs[0].ashift == 12, "the case itself stays as it is"


def test_a_quiet_world_has_no_load() -> None:
    assert in_world(case(), Member(load=0.0)).load == ()


def test_reads_of_a_drive_become_reads_of_a_pool() -> None:
    """A record lies on four of six drives: two reads a second and drive are three of the pool."""
    assert worlds.reads_of_pool(case(), 2.0) == pytest.approx(2.0 * 6 / 4)
    assert worlds.reads_of_pool(case(recordsize="4K"), 2.0) == pytest.approx(12.0), "one sector, one drive"
    assert worlds.reads_of_pool(case(layout="mirror2"), 2.0) == pytest.approx(4.0)


def test_what_is_stored_leaves_out_parity() -> None:
    for layout, share in (("raidz2x6", 4 / 6), ("mirror2", 1.0), ("draid2:4d:12c:1s", 4 / 6)):
        one = case(layout=layout, fill=0.5)
        assert worlds.data_bytes(one) == pytest.approx(one.alloc * share)


def test_records_of_worlds_are_those_that_the_release_takes() -> None:
    assert case(release="freebsd-9.1").largest_record == 128 << 10
    assert case(release="freebsd-10.3").largest_record == 16 << 20
    assert case(release="solaris-11.2").largest_record == 1 << 20
    assert case(release="openzfs-2.3").largest_record == 16 << 20


def test_narrow_writes_may_cost_a_shingled_drive_more() -> None:
    wide = worlds.shinglings(case(layout="mirror2"), "WD")
    narrow = worlds.shinglings(case(layout="raidz2x6"), "WD")
    assert len(narrow) > len(wide)
    assert max(each.value for each in narrow) > max(each.value for each in wide)
    assert worlds.shinglings(case(layout="raidz2x6"), "Seagate") == wide


@pytest.mark.parametrize(
    "choices", [worlds.loads(), worlds.fills(resolve(Scenario(layout="raidz2x6"))), worlds.uses()]
)
def test_choices_go_from_quick_to_slow_and_have_shares(choices: tuple[Choice, ...]) -> None:
    assert all(each.share > 0.0 for each in choices)
    values = [each.value for each in choices]
    assert len(set(values)) == len(values)
    if all(isinstance(each, float) for each in values):
        assert values == sorted(values)


def test_choices_lie_at_the_normal_quantiles_of_their_shares() -> None:
    choices = tuple(Choice(name, share) for name, share in (("a", 1.0), ("b", 2.0), ("c", 1.0)))
    unknown = Unknown("history", "history", "say it", choices=choices)
    quartile = 0.674489750196
    scores = np.array([-3.0, -quartile - 1e-9, -quartile + 1e-9, 0.0, quartile + 1e-9, 3.0])
    assert places_of(unknown, scores).tolist() == [0, 0, 1, 1, 2, 2]
    picked = [pick(choices, NORMAL.cdf(score)) for score in scores.tolist()]
    assert picked == [choices[place].value for place in places_of(unknown, scores)], "one world, one value"


def test_strata_are_symmetric_and_cannot_be_changed() -> None:
    strata = normal_strata(16)
    assert strata == pytest.approx(-strata[::-1])
    assert NORMAL.cdf(strata[0]) == pytest.approx(1 / 32)
    with pytest.raises(ValueError, match="read-only"):
        strata[0] = 0.0
