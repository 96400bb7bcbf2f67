"""Refusals in a sentence; pools almost empty, or smaller than their files, are as full as asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from zsim.base.errors import InputError
from zsim.case.case import Case
from zsim.case.resolve import resolve
from zsim.prediction.api import case_of
from zsim.prediction.groups import degraded_bytes, degraded_share, lost_when_moved
from zsim.prediction.inputs.population import history_of, miniature, pool_miniature
from zsim.scenario.model import Scenario
from zsim.vdevs.kind import kind_of


def resolved(**fields: Any) -> Case:
    return case_of(Scenario.from_dict({"load": [], **fields}))


@pytest.mark.parametrize("fill", [0.0005, 0.005, 0.05])
def test_a_population_holds_data_however_empty_the_pool_is(fill: float) -> None:
    asked = resolved(layout="raidz2x6", fill=fill, history="database")
    table = miniature(asked, blocks=3_000).table
    data = int((~table.is_metadata).sum())
    assert 1_000 < data < 13_000


@pytest.mark.parametrize("history", ["media-server", "write-once-archive", "home-nas", "small-files"])
@pytest.mark.parametrize("fill", [0.1, 0.9])
def test_a_pool_smaller_than_its_files_is_as_full_as_asked(history: str, fill: float) -> None:
    asked = resolved(layout="mirror2", drive_size="1GB", fill=fill, history=history)
    pool, note = pool_miniature(asked, blocks=40_000)
    assert note == ""
    assert pool.table.allocated_bytes * pool.scale == pytest.approx(asked.alloc, rel=0.08)


@pytest.mark.parametrize("seed", range(4))
def test_a_miniature_of_a_draid_has_degraded_groups(seed: int) -> None:
    asked = resolved(
        layout="draid2:8d:90c:4s", drive_size="16TB", fill=0.7, operation="resilver", seed=seed,
        history="home-nas",
    )  # fmt: skip
    pool = miniature(asked, blocks=3_000)
    here, lost = degraded_bytes(asked, pool.table)
    usual = degraded_share(asked.layout.vdevs[0], 1)
    assert lost >= 0.5 * usual * here
    assert pool.table.dva_offset.max() < asked.pool_size
    slabs = pool.damaged.slab_of(pool.table.dva_offset[pool.table.dva_vdev == 0])
    assert slabs.min() >= 0


@pytest.mark.parametrize(
    ("layout", "replace_"), [("draid2:8d:90c:4s", 1), ("draid2:3d:14c:1s", 2), ("draid2:8d:24c", 1)]
)
def test_what_is_lost_of_a_draid_is_known_wherever_its_groups_are(layout: str, replace_: int) -> None:
    asked = resolved(
        layout=layout, drive_size="16TB", fill=0.7, operation="resilver", replace=replace_,
        history="media-server", recordsize="1M",
    )  # fmt: skip
    table = miniature(asked, blocks=3_000).table
    group = kind_of("draid").group_bytes(asked.layout.vdevs[0])
    over = table.dva_offset[:, 0] // group != (table.dva_offset[:, 0] + table.dva_asize[:, 0] - 1) // group
    assert over.any()
    found = lost_when_moved(asked, table, group, 40)
    moved = (replace(table, dva_offset=table.dva_offset + group * number) for number in range(41))
    assert found.tolist() == [degraded_bytes(asked, each)[1] for each in moved]
    assert len(set(found.tolist())) > 5


def test_a_history_without_room_is_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    from zsim.pool.simulator.population import HistoryError
    from zsim.prediction.inputs import population

    def full(*_: Any, **__: Any) -> None:
        raise HistoryError("The pool is full.")

    monkeypatch.setattr(population, "_pool", full)
    asked = resolved(layout="mirror2", drive_size="1GB", fill=0.9, history="home-nas")
    assert history_of(asked).name == "home-nas"
    with pytest.raises(InputError, match="does not fit on mirror2 of 1 GB .* drives") as caught:
        miniature(asked)
    assert caught.value.field == "fill"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"drive_size": "8EB"}, "drive_size"),
        ({"new_drive_size": "2PB"}, "new_drive_size"),
        ({"memory": 1}, "memory"),
    ],
)
def test_sizes_that_nothing_has_are_refused(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        Scenario.from_dict({"layout": "mirror2", **fields})
    assert caught.value.field == field
    assert caught.value.remedy


@pytest.mark.parametrize("field", ["history", "enclosure"])
def test_names_are_looked_up_when_a_scenario_is_resolved(field: str) -> None:
    with pytest.raises(InputError, match=f"has no such {field}"):
        resolve(Scenario.from_dict({"layout": "mirror2", field: "nosuch"}))


@pytest.mark.parametrize(
    "load", ["random-read,rate=1000000,size=1M", "async-write,rate=1000000,size=1M", "random-read,rate=30000"]
)
def test_a_load_far_beyond_the_drives_is_refused(load: str) -> None:
    with pytest.raises(InputError, match="more than 10 times what 6 such drives can do") as caught:
        resolved(layout="raidz2x6", load=[load])
    assert caught.value.field == "load rate"


def test_a_load_that_drives_may_serve_is_taken() -> None:
    assert resolved(layout="raidz2x6", load=["random-read,rate=1000,size=128K"]).load


def test_flash_serves_what_it_reads() -> None:
    """Two drives of 3 GB/s: 5722 requests of a mebibyte a second, and none more in another order."""
    flash = {"layout": "mirror2", "drive": "generic-nvme-ssd", "drive_size": "1TB"}
    assert resolved(**flash, load=["random-read,rate=5700,size=1M"]).load
    with pytest.raises(InputError, match="more than what 2 such drives can do, 5722 a second"):
        resolved(**flash, load=["random-read,rate=5730,size=1M"])


def test_a_link_slower_than_any_bus_is_refused(tmp_path: Path) -> None:
    from zsim.base import model_data
    from zsim.drives.models.links import load_enclosure

    text = model_data.find("enclosures", "usb-dock").read_text()
    slow = tmp_path / "slow.toml"
    slow.write_text(text.replace("value = 400", "value = 0.000001"))
    with pytest.raises(InputError, match="slower than 1 MB/s"):
        load_enclosure(str(slow))
