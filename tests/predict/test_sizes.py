"""Corrections for the size of a miniature by kind of world; what pools of a size are used for."""

from __future__ import annotations

import pytest

from zsim.predict.ensemble import Member
from zsim.predict.sizes import common_places, factors_by_kind
from zsim.predict.worlds import LATEST, YEARS, uses, year_of
from zsim.scenario import catalogue

TB = 10**12


def member(history: str, write_cache: bool = True) -> Member:
    return Member(history=history, write_cache=write_cache)


def test_each_kind_has_a_factor_of_its_own() -> None:
    members = [member("home-nas"), member("maildir"), member("home-nas"), member("home-nas", False)]
    asked: list[Member] = []

    def larger(each: Member) -> float:
        asked.append(each)
        return 80.0

    factors = factors_by_kind(members, [100.0, 50.0, 160.0, 70.0], larger)
    assert factors == [0.5, 1.0, 0.5, 1.0]
    assert asked == [members[2]]


def test_one_kind_alone_is_left_to_the_correction_of_the_middle() -> None:
    members = [member("home-nas")] * 3
    assert factors_by_kind(members, [1.0, 2.0, 3.0], pytest.fail) == [1.0, 1.0, 1.0]


def test_large_pools_are_seldom_full_of_documents_or_mail() -> None:
    small, large = ({each.value: each.share for each in uses(size * TB)} for size in (1, 40))
    assert large["home-nas"] == pytest.approx(small["home-nas"] / 10)
    assert large["maildir"] < small["maildir"]
    for unlimited in ("media-server", "backup-target", "write-once-archive", "vm-host"):
        assert large[unlimited] == small[unlimited]


def test_every_release_has_its_year() -> None:
    for name in catalogue.names("releases"):
        assert 2010 <= year_of(name) <= LATEST + 1
        assert any(name.startswith(each) for each in YEARS)


def test_the_middle_world_is_of_a_kind_with_several_members() -> None:
    alone, common = member("maildir"), member("home-nas")
    assert common_places([alone, common, member("vm-host"), common]) == [1, 3]
    assert common_places([alone, common]) == [0, 1]
