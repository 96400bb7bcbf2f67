"""Values as scripts have them: paths, dates, spans of time, numbers of numpy, parts made by their names."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import zsim
from zsim.base.errors import InputError
from zsim.scenario.asked import scenario_of
from zsim.scenario.model import Scenario
from zsim.scenario.one_drive.exchanged import ExchangedDrive
from zsim.scenario.one_drive.sick import Attached, BadSectors

POOL: dict[str, Any] = {"layout": "raidz2x6", "fill": 0.5}


def test_files_may_be_paths(tmp_path: Path) -> None:
    job = tmp_path / "night"
    job.write_text("[a]\nrw=randread\nbs=8k\nrate_iops=50\n")
    for name in ("drive", "new_drive", "history", "block_list", "blocks", "metaslabs"):
        pool = POOL if name != "block_list" else {"layout": "raidz2x6"}
        path = tmp_path / "own.toml"
        assert Scenario(**{**pool, name: path}) == Scenario(**{**pool, name: str(path)})
    assert Scenario(**POOL, load=job) == Scenario(**POOL, load=[str(job)])
    assert Scenario(**POOL, load=[job, "random-read,rate=2"]).load is not None


def test_a_load_that_is_a_path_is_a_file_whatever_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "night").write_text("[a]\nrw=randread\nbs=8k\nrate_iops=50\n")
    monkeypatch.chdir(tmp_path)
    assert Scenario(**POOL, load=Path("night")) == Scenario(**POOL, load="./night")


def test_when_it_begins_may_be_a_date() -> None:
    friday = datetime(2026, 11, 27, 13, 41)
    asked = Scenario(**POOL, begins="fri 13:41")
    assert Scenario(**POOL, begins=friday) == asked
    assert Scenario(**POOL, begins=friday.replace(tzinfo=UTC)) == asked


def test_a_duration_may_be_a_span_of_time() -> None:
    hours = timedelta(hours=25, minutes=17)
    assert zsim.FinishedScan(kind="scrub", duration=hours).duration == 91_020.0
    assert zsim.SlowDrive(drive=3, factor=5, on_s=timedelta(hours=2), off_s="20h").on_s == 7200.0
    assert Scenario(**POOL, erc=timedelta(seconds=7)) == Scenario(**POOL, erc="7s")
    assert Scenario(**POOL, erc=np.int64(7)) == Scenario(**POOL, erc="7s")  # type: ignore[arg-type]


def test_what_is_dumped_is_read_again() -> None:
    full = Scenario(
        **POOL,
        replace=2,
        tunables={"zfs_vdev_scrub_max_active": 5},
        load=[zsim.Load(kind="sequential-read", bandwidth="100MB/s", hours="08:00-18:00")],
        slow=["3:x2.5"],
        begins="fri 13:41",
        erc="none",
        evidence="scrub=25h17m",
    )
    assert Scenario(**full.model_dump()) == full
    assert Scenario.model_validate_json(full.model_dump_json()) == full
    assert (pickle.loads(pickle.dumps(full)), copy.deepcopy(full)) == (full, full)


def test_a_scenario_with_tunables_is_hashed_and_does_not_change() -> None:
    given: dict[str, int | float | str] = {"zfs_vdev_scrub_max_active": 5}
    scenario = Scenario(**POOL, tunables=given)
    given["zfs_vdev_scrub_max_active"] = 6
    assert scenario.tunables == {"zfs_vdev_scrub_max_active": 5}
    assert {scenario: 1}[Scenario(**POOL, tunables={"zfs_vdev_scrub_max_active": 5})] == 1
    held: Any = scenario.tunables
    changes: tuple[Callable[[], object], ...] = (
        lambda: held.update(given),
        lambda: held.__setitem__("zfs_vdev_scrub_max_active", 6),
        lambda: held.pop("zfs_vdev_scrub_max_active"),
    )
    for change in changes:
        with pytest.raises(InputError, match=r"a scenario does not change; write scenario.replace\(tunables"):
            change()
    with pytest.raises(InputError, match=r"fill 0.8 cannot be used: .* write scenario.replace\(fill="):
        setattr(scenario, "fill", 0.8)  # noqa: B010 - type checkers see it too


def test_another_layout_puts_aside_what_the_first_has_shown() -> None:
    shown = Scenario(layout="raidz2x8", fill=0.5, evidence=["scrub=25h"])
    assert shown.replace(layout="4*mirror2").evidence is None
    assert shown.replace(layout="raidz2x8", fill=0.6).evidence == shown.evidence
    own = shown.replace(layout="4*mirror2", evidence=["scrub=9h"])
    assert own.evidence is not None
    assert own.evidence != shown.evidence
    assert (
        zsim.predict(shown, layout="mirror2", drive_size="4TB").provenance["scenario"].get("evidence") is None
    )


def test_fill_puts_alloc_aside_in_a_changed_scenario_too() -> None:
    assert Scenario(**POOL).replace(alloc="2T") == Scenario(layout="raidz2x6", alloc="2T")
    with pytest.raises(InputError, match="give one of the two"):
        Scenario(**POOL).replace(alloc="2T", fill=0.5)


@pytest.mark.parametrize(
    ("kind", "fields", "said"),
    [
        (zsim.Load, {"kind": "random", "rate": 20}, "kind 'random' cannot be used: it is one of random-read"),
        (zsim.Load, {"rate": 20}, "kind is missing: it must be given"),
        (zsim.SlowDrive, {"drive": 3, "factor": 0.5}, "factor 0.5 cannot be used: it is at least 1"),
        (zsim.Port, {"enclosure": "sas-expander", "drives": [-1.5]}, "it is a whole number"),
        (zsim.FinishedScan, {"kind": "scrub", "duration": 0}, "duration 0.0 cannot be used: it is more than"),
        (zsim.FinishedScan, {"kind": "scrub", "duration": 1, "x": 2}, "x 2 cannot be used: there is no such"),
        (zsim.Quantiles, {"p10": 3, "p50": 2, "p90": 1}, "cannot be used: p10, p50 and p90 must not fall"),
        (BadSectors, {"drive": 1, "count": 0}, "count 0 cannot be used: it is at least 1"),
        (Attached, {"how": "usb"}, "drive is missing"),
        (ExchangedDrive, {"drive": 1, "size": "much"}, "size 'much' cannot be used"),
    ],
)
def test_parts_made_by_their_names_are_refused_in_one_sentence(
    kind: Callable[..., object], fields: dict[str, object], said: str
) -> None:
    with pytest.raises(InputError) as caught:
        kind(**fields)
    assert said in str(caught.value)


def test_inside_a_scenario_the_place_of_a_part_is_named() -> None:
    with pytest.raises(InputError, match=r"load\.0\.kind 'x' cannot be used"):
        Scenario(**POOL, load=[{"kind": "x", "rate": 3}])


def test_evidence_without_its_kind_is_a_scan_where_it_lasted() -> None:
    assert Scenario(**POOL, evidence={"kind": "scrub", "duration": "25h17m"}) == Scenario(
        **POOL, evidence="scrub=25h17m"
    )
    with pytest.raises(InputError, match="is one of finished, running, drive, benchmark, class"):
        Scenario(**POOL, evidence={"what": "scrub"})
    with pytest.raises(InputError, match="it says in 'what' which kind it is"):
        Scenario(**POOL, evidence={"kind": "scrub"})


# An answer, stored or not, stands for its scenario; names that completion offers are zsim's own.


class _Answered:
    """What any answer has: its provenance."""

    provenance: ClassVar[dict[str, object]] = {"scenario": {"layout": "raidz2x6", "fill": 0.62}}


def test_an_answer_stands_for_its_scenario_with_fields_over_it(tmp_path: Path) -> None:
    assert scenario_of(_Answered(), {}) == Scenario(layout="raidz2x6", fill=0.62)
    assert scenario_of(_Answered(), {"fill": "80%"}) == Scenario(layout="raidz2x6", fill=0.8)
    stored = tmp_path / "answer.json"
    stored.write_text(json.dumps({"provenance": _Answered.provenance}), encoding="utf-8")
    assert scenario_of(str(stored), {}) == scenario_of(stored, {}) == Scenario.read(stored)


@pytest.mark.parametrize("text", ["{}", "{", '{"provenance": 3}', '{"provenance": {"scenario": "raidz2x6"}}'])
def test_a_file_that_is_no_answer_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="no stored answer of zsim predict"):
        scenario_of(tmp_path / "other.json", {})


def test_completion_offers_names_of_zsim_alone() -> None:
    scenario = Scenario(layout="raidz2x6")
    assert {"layout", "fill", "replace", "stated", "write"} <= set(dir(scenario))
    assert not [name for name in dir(scenario) if name.startswith("model_") or name in ("json", "construct")]


def test_a_notebook_shows_a_scenario_as_its_file() -> None:
    shown = Scenario(layout="raidz2x6", fill=0.62)._repr_html_()
    assert shown == '<pre class="zsim">layout = &quot;raidz2x6&quot;\nfill = 0.62\n</pre>'
