"""The bottleneck is the resource without which most time is saved, and the breakdown is of its drives."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import zsim
from zsim.base.model_data import models_directory
from zsim.case.resolve import resolve
from zsim.operation.blocks import scan_tables
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.inputs.population import TILE_BLOCKS, miniature
from zsim.prediction.runs import what_if
from zsim.prediction.runs.member import MemberResult
from zsim.prediction.runs.middle_world import SMALL_TILE_BLOCKS
from zsim.prediction.runs.one_tile import run_pool, tile_setup
from zsim.prediction.runs.what_if import HEAVY, Baseline, without_each
from zsim.prediction.summary import bottleneck, busiest, limiting


def _answer(**stated: Any) -> zsim.Prediction:
    known = {"fill": 0.3, "history": "write-once-archive", "write_cache": True, "load": []}
    return zsim.predict(zsim.Scenario.from_dict({**known, **stated}))


@pytest.mark.parametrize(
    ("stated", "resource"),
    [
        ({"layout": "raidz1x4", "enclosure": "port-multiplier-cbs"}, "the shared link"),
        ({"layout": "mirror2", "new_drive": "st8000as0002", "drive_size": "8TB"}, "the replacement drive"),
        ({"layout": "raidz1x4", "operation": "scrub"}, "the source drives"),
        (
            {"layout": "raidz1x3", "drive": "generic-5400rpm-cmr", "new_drive": "870-evo-4tb"},
            "the source drives",
        ),
        (
            {"layout": "2*mirror2", "drive": "generic-nvme-ssd", "recordsize": "8K", "operation": "scrub"},
            "the processor core of a scan thread",
        ),
    ],
)
def test_what_holds_it_up_is_named(stated: dict[str, Any], resource: str) -> None:
    answer = _answer(**stated)
    assert answer.bottleneck.resource.startswith(resource)
    assert answer.bottleneck.without_it_s is not None
    assert answer.bottleneck.without_it_s < 0.9 * answer.resilver_s.p50
    assert sum(answer.breakdown.values()) == pytest.approx(answer.resilver_s.p50)


def test_two_drives_in_step_have_no_single_bottleneck() -> None:
    # Both drives alike: in a possible world one of the two may be the slower.
    baseline = _baseline(layout="mirror2", release="zol-0.7.13", fill=0.3, history="write-once-archive")
    without = without_each(baseline.scaled_to(100.0))
    named = bottleneck(baseline.result, without, limiting(baseline.result, without, 100.0))
    assert named.resource.startswith("no single one")
    assert "infinitely fast it takes" in named.why


@pytest.mark.parametrize("write_cache", [True, False])
@pytest.mark.parametrize("history", ["home-nas", "vm-host", "write-once-archive"])
@pytest.mark.parametrize(
    "stated",
    [
        {},
        {"release": "openzfs-0.7"},
        {"drive": "870-evo-4tb", "new_drive": "generic-7200rpm-cmr", "drive_size": "4TB"},
        {"layout": "raidz1x4", "enclosure": "port-multiplier-cbs"},
    ],
)
def test_without_one_resource_the_others_still_need_their_time(
    stated: dict[str, Any], history: str, write_cache: bool
) -> None:
    """Nothing is faster than what the busiest of the rest has to do, however large the write caches are."""
    baseline = _baseline(fill=0.4, history=history, write_cache=write_cache, **stated)
    times = without_each(baseline)
    assert {"source", "target"} <= set(times)
    for gone, time in times.items():
        left = max(_moving_data(baseline.result, kind) for kind in ("source", "target") if kind != gone)
        assert gone == "link" or time > 0.97 * left, f"without {gone} {time:.2f} of the others' {left:.2f}"


def test_a_write_cache_that_takes_what_a_population_writes_is_no_saving() -> None:
    """A drive of a wide vdev is written a cacheful of a small population; the pool's go on for hours."""
    drives = {"drive": "generic-7200rpm-cmr", "new_drive": "generic-7200rpm-cmr", "drive_size": "6TB"}
    stated = {"layout": "raidz2x12", "fill": 0.5, "history": "backup-target", "write_cache": True, **drives}
    small, large = (
        without_each(_baseline(blocks, **stated))["source"] for blocks in (18_750, SMALL_TILE_BLOCKS)
    )
    # The smaller one took 0.45 of the time, the larger 0.80.
    assert small == pytest.approx(large, abs=0.1)


def _baseline(blocks: int = SMALL_TILE_BLOCKS, **stated: Any) -> Baseline:
    asked = resolve(zsim.Scenario.from_dict({"layout": "raidz2x6", "load": [], **stated}))
    model = plane_model(asked)
    pool = miniature(asked, blocks=blocks)
    return Baseline(asked, pool, run_pool(asked, pool, model))


def _moving_data(result: MemberResult, kind: str) -> float:
    """Return how much of the time the busiest drive of a kind moves data: what no better order takes away."""
    _, _, number = busiest(result, kind)
    servers = result.model.leaves[number].drive.parallel_commands
    return float(result.run.leaves["transfer"][number]) / result.run.end / servers


def test_what_ifs_hardly_depend_on_the_size_of_the_population() -> None:
    stated = {"fill": 0.62, "write_cache": True, "history": "home-nas"}

    def mean(blocks: int) -> dict[str, float]:
        each = [without_each(_baseline(blocks, seed=seed, **stated)) for seed in range(3)]
        return {gone: sum(times[gone] for times in each) / len(each) for gone in each[0]}

    # Those of single populations lie some 0.03 about their mean.
    assert mean(SMALL_TILE_BLOCKS) == pytest.approx(mean(2 * SMALL_TILE_BLOCKS), abs=0.1)


@pytest.mark.parametrize(("layout", "lighter"), [("raidz2x6", 1), ("raidz2x12", 0)])
def test_what_ifs_of_large_records_take_a_small_tile_of_narrow_vdevs(layout: str, lighter: int) -> None:
    """Of 75,000 records of 16M each run is half a million child I/Os; a fourth of them tells the same."""
    baseline = _baseline(TILE_BLOCKS, layout=layout, fill=0.6, recordsize="16M", history="write-once-archive")
    assert baseline.result.run.children > HEAVY
    found = without_each(baseline)
    assert len(baseline._lighter) == lighter
    if lighter:
        assert len(baseline._lighter[0].pool.table) < len(baseline.pool.table) / 3
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(what_if, "HEAVY", math.inf)
            assert found == pytest.approx(without_each(baseline), abs=0.02)
    baseline.forget()
    assert baseline._lighter == []


def test_what_ifs_take_what_was_made_of_the_same_blocks() -> None:
    baseline = _baseline(blocks=2_000)
    first = without_each(baseline)
    kept = baseline.kept.of(tile_setup(baseline.case, baseline.result.model, baseline.pool), queued=True)
    assert without_each(baseline) == first == without_each(_baseline(blocks=2_000))
    assert (
        baseline.kept.of(tile_setup(baseline.case, baseline.result.model, baseline.pool), queued=True) is kept
    )
    baseline.kept.forget()
    assert without_each(baseline) == first


def test_what_was_made_of_blocks_serves_only_runs_that_would_make_the_same() -> None:
    baseline = _baseline(blocks=2_000)
    own = tile_setup(baseline.case, baseline.result.model, baseline.pool)
    first = baseline.kept.of(own, queued=True)
    moved = replace(own.blocks, dva_offset=own.blocks.dva_offset + 4096)
    for changed in ({"seed": own.seed + 1}, {"operation": "scrub"}, {"blocks": moved}):
        other = replace(own, **changed)
        found = baseline.kept.of(other, queued=True)
        assert found is not first
        assert found.wanted.tolist() == scan_tables(other, queued=True).wanted.tolist()
    assert baseline.kept.of(own, queued=False).queue is None


def test_an_enclosure_of_a_file_is_called_as_the_file_is_not_by_its_path(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text((models_directory() / "enclosures" / "port-multiplier-cbs.toml").read_text())
    stated = zsim.Scenario.from_dict({"layout": "raidz1x4", "enclosure": str(mine)})
    assert {link.name.partition(": ")[0] for link in plane_model(resolve(stated)).links} == {"mine"}
