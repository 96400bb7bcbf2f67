"""Persistent caches and fast regions of drives as a miniature of a pool sees them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from zsim.case.resolve import resolve
from zsim.drives.models.parameters import DriveParameters
from zsim.engine.model import PlaneModel
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.shingled import (
    BANDS,
    BANDS_BY_BIRTH,
    CACHED_BANDS,
    CACHED_WRITE,
    LEAST_BAND,
    in_miniature,
)
from zsim.scenario.model import Scenario

MIB, GIB = 1 << 20, 1 << 30


def with_drive(**changes: object) -> PlaneModel:
    """A mirror of drives with these properties."""
    case = resolve(Scenario.from_dict({"layout": "mirror2", "fill": 0.5, "drive_size": "4TB"}))
    model = plane_model(case)
    drive = replace(model.leaves[0].drive, **changes)  # type: ignore[arg-type]
    return replace(model, leaves=tuple(replace(leaf, drive=drive) for leaf in model.leaves))


def shingled(**changes: object) -> PlaneModel:
    known = {"smr_band_bytes": 256 * MIB, "smr_cache_bytes": 32 * GIB, "smr_cached_writes": 100_000}
    return with_drive(**{**known, **changes})


def seen(
    model: PlaneModel, scale: float, *, cleaning: float = 1.0, stretch: float = 1e15, in_order: bool = True
) -> DriveParameters:
    return in_miniature(model, scale, cleaning, stretch, in_order=in_order).leaves[0].drive


def test_a_drive_without_a_cache_that_fills_is_as_it_is() -> None:
    plain = with_drive(smr_band_bytes=0, slc_cache_bytes=0)
    assert in_miniature(plain, 100.0, 2.0, 1e6, in_order=True) == plain


@pytest.mark.parametrize(("scale", "left"), [(10.0, 10), (1.0, 100), (0.5, 100), (1e6, 1)])
def test_a_fast_region_is_as_much_smaller_as_what_is_written(scale: float, left: int) -> None:
    """A miniature larger than its pool writes no more than the pool; something of the region stays."""
    drive = seen(with_drive(slc_cache_bytes=100), scale)
    assert drive.slc_cache_bytes == left


def test_by_address_the_cache_holds_some_bands_and_has_the_miniatures_share_of_room_left() -> None:
    drive = seen(shingled(), 400.0)
    assert drive.smr_cache_bytes == CACHED_BANDS * 256 * MIB
    assert (1.0 - drive.smr_prior) * drive.smr_cache_bytes == pytest.approx(32 * GIB / 400, rel=1e-6)
    assert drive.smr_cached_writes == CACHED_BANDS * 256 * MIB // CACHED_WRITE
    assert drive.smr_reduced, "what comes again in every txg would be cleaned hundreds of times as often"


def test_of_a_miniature_that_is_a_large_part_of_the_pool_the_cache_is_that_part() -> None:
    drive = seen(shingled(), 4.0)
    assert (drive.smr_cache_bytes, drive.smr_prior, drive.smr_reduced) == (8 * GIB, 0.0, True)
    whole = seen(shingled(), 1.0)
    assert whole == replace(shingled().leaves[0].drive, smr_prior=0.0)


def test_in_the_order_of_birth_the_cache_is_as_much_smaller_as_the_miniature() -> None:
    drive = seen(shingled(), 4.0, in_order=False)
    assert drive.smr_cache_bytes == 8 * GIB
    assert drive.smr_cached_writes == 25_000
    assert drive.smr_prior == shingled().leaves[0].drive.smr_prior


def test_a_cache_keeps_some_bands_however_small_the_miniature_is() -> None:
    """Of a smaller one each write would rewrite its band; a cache smaller than that stays what it is."""
    tiny = seen(shingled(), 1e6, in_order=False)
    assert 1 < tiny.smr_cache_bytes / tiny.smr_band_bytes < 128
    assert tiny.smr_cache_bytes == seen(shingled(), 1e5, in_order=False).smr_cache_bytes
    small = shingled(smr_cache_bytes=tiny.smr_cache_bytes // 2)
    assert seen(small, 1e6, in_order=False).smr_cache_bytes == tiny.smr_cache_bytes // 2
    assert seen(shingled(smr_cached_writes=3), 1e6, in_order=False).smr_cached_writes == 1


@pytest.mark.parametrize(("in_order", "bands"), [(True, BANDS), (False, BANDS_BY_BIRTH)])
def test_bands_are_small_against_what_a_miniature_has_at_a_stretch(in_order: bool, bands: int) -> None:
    stretch = float(bands * 4 * MIB)
    assert seen(shingled(), 10.0, stretch=stretch, in_order=in_order).smr_band_bytes == 4 * MIB
    assert seen(shingled(), 10.0, stretch=1.0, in_order=in_order).smr_band_bytes == LEAST_BAND
    wide = float(bands * 300 * MIB)
    assert seen(shingled(), 10.0, stretch=wide, in_order=in_order).smr_band_bytes == 256 * MIB


def test_a_part_of_a_band_stands_for_that_part_by_address_and_for_a_band_by_birth() -> None:
    """A sweep fills the parts one after the other; pieces that lie far apart each cost the way of the arm."""
    stretch = float(BANDS * 4 * MIB)
    assert seen(shingled(), 10.0, cleaning=1.7, stretch=stretch).smr_fixed == 4 / 256
    assert seen(shingled(), 10.0, cleaning=1.7, stretch=stretch).smr_cleaning == 1.7
    assert seen(shingled(), 10.0, stretch=stretch, in_order=False).smr_fixed == 1.0
