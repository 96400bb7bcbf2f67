"""What scripts ask of plans, risk, fleets and sweeps: values as Python has them, answers as commands give."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import json
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zsim
from zsim.base.errors import InputError
from zsim.base.units import format_duration
from zsim.planning.fleet.spec import Fleet, Pools
from zsim.planning.risk.question import RiskInputs, Seconds
from zsim.planning.store.keys import key_of
from zsim.planning.timeline.api import read_plan
from zsim.planning.tune.records import Tuning
from zsim.prediction.answer.records import Quantiles

HOUR = 3600.0
FLEET: dict[str, Any] = {
    "years": 3,
    "trials": 20,
    "lead_time": "14d",
    "visit": 2,
    "pool": [
        {"name": "a", "count": 5, "layout": "2*raidz2x12", "hours": 30, "scrub": "never"},
        {"name": "b", "layout": "6*mirror2", "hours": "9h", "afr": "1.2%", "age": 3, "erc": "none"},
    ],
}


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"hours": "30h"}, {"hours": 30 * HOUR}),
        ({"hours": timedelta(hours=30)}, {"hours": 30 * HOUR}),
        ({"hours": np.int64(108_000)}, {"hours": 30 * HOUR}),
        ({"mttr": "1d", "mttf": "1000d"}, {"mttr": 86_400.0, "mttf": 86_400_000.0}),
        ({"scrub": "30d", "age": timedelta(days=365)}, {"scrub": 30 * 86_400.0, "age": 365 * 86_400.0}),
        ({"scrub": "never"}, {"scrub": float("inf")}),
        ({"afr": "1.5%", "latent_incidence": "0.27%"}, {"afr": 0.015, "latent_incidence": 0.0027}),
        ({"afr": np.float32(0.5), "correlation": np.int32(3)}, {"afr": 0.5, "correlation": 3}),
        ({"latent": np.False_, "seed": np.int64(7)}, {"latent": False, "seed": 7}),
    ],
)
def test_inputs_of_a_risk_are_taken_as_python_has_them(given: Any, read: Any) -> None:
    inputs = RiskInputs(**given)
    assert inputs == RiskInputs(**read)
    for name in given:
        assert type(getattr(inputs, name)) in (bool, int, float, Seconds)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"latent": "no"}, "latent 'no' cannot be used: it is true or false"),
        ({"erc": "none"}, "erc 'none' cannot be used: it is true or false"),
        ({"seed": -1}, "seed -1 cannot be used: it is a whole number from 0"),
        ({"seed": 1.5}, "seed 1.5 cannot be used: it is a whole number"),
        ({"afr": "150%"}, "afr '150%' cannot be used"),
        ({"hours": "soon"}, "hours 'soon' cannot be used"),
    ],
)
def test_inputs_of_a_risk_that_are_none_are_sentences(given: Any, said: str) -> None:
    with pytest.raises(InputError) as caught:
        RiskInputs(**given)
    assert said in str(caught.value)


def test_numbers_of_numpy_end_in_json() -> None:
    answer = zsim.risk("raidz2x6", RiskInputs(hours=np.int64(3600), afr=np.float64(0.02)))  # type: ignore[arg-type]
    assert answer == zsim.risk("raidz2x6", RiskInputs(hours=3600.0, afr=0.02))
    json.dumps(answer.to_dict(), allow_nan=False)


def test_drives_without_erc_count_wherever_it_is_stated() -> None:
    """The flag of the command line states both; a scenario, a fleet or a plan in Python states one."""
    inputs: dict[str, Any] = {"hours": 200 * HOUR, "latent_incidence": 0.05}
    pool: dict[str, Any] = {"layout": "raidz2x8", "drive_size": "20TB", "fill": 0.9}
    asked = RiskInputs(**inputs, erc=False)
    without = zsim.risk({**pool, "erc": "none"}, RiskInputs(**inputs))
    assert without.window == zsim.risk(pool, asked).window
    assert without.window != zsim.risk(pool, RiskInputs(**inputs)).window
    assert without.window != zsim.risk({**pool, "erc": "7s"}, RiskInputs(**inputs)).window
    read = [
        Pools.read({"layout": "mirror2", "erc": given}).inputs.erc for given in ("none", False, "7s", True)
    ]
    assert read == [False, False, True, True]
    every: dict[str, Any] = {"kinds": ["raidz"], "confirm": 0, "drive_size": "20TB", "fill": 0.9}
    ways: tuple[tuple[RiskInputs, dict[str, Any]], ...] = (
        (asked, {}), (RiskInputs(**inputs), {"erc": "none"}), (RiskInputs(**inputs), {}),
    )  # fmt: skip
    plans = [zsim.plan_layouts(12, inputs=each, **every, **more) for each, more in ways]
    chances = [[row["files_per_year"] for row in plan.rows] for plan in plans]
    assert chances[0] == chances[1] != chances[2]


def test_what_a_fleet_stated_is_a_fleet_again() -> None:
    fleet = Fleet.from_dict(FLEET)
    assert (fleet.lead_time, fleet.visit, fleet.pool[1].hours) == (14 * 86_400.0, 2 * HOUR, 9.0)
    assert Fleet.from_dict(json.loads(json.dumps(fleet.plain()))) == fleet
    answer = zsim.fleet(fleet)
    provenance: Any = answer.to_dict()["provenance"]
    assert zsim.fleet(provenance["scenario"]) == answer


def test_a_fleet_is_given_as_fields_or_as_a_file(tmp_path: Path) -> None:
    path = tmp_path / "fleet.toml"
    path.write_text('years = 3\ntrials = 20\n[[pool]]\nlayout = "mirror2"\nhours = 9\n')
    fields = {"years": 3, "trials": 20, "pool": ({"layout": "mirror2", "hours": 9},)}
    answer = zsim.fleet(Fleet.read(path))
    assert zsim.fleet(path) == zsim.fleet(str(path)) == zsim.fleet(fields) == answer
    with pytest.raises(InputError, match="fleet 3 cannot be used: it is a zsim.Fleet, its fields"):
        zsim.fleet(3)  # type: ignore[arg-type]


def test_a_fleet_made_by_its_name_is_refused_in_one_sentence() -> None:
    with pytest.raises(InputError, match="years 0 cannot be used: it is more than 0"):
        Fleet(years=0, pool=Fleet.from_dict(FLEET).pool)


GRID: dict[str, Any] = {"width": [3, 4], "parity": 1, "fill": 0.3, "drive_size": "200GB"}


def test_a_sweep_is_kept_in_sqlite_as_by_the_command(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    kept = zsim.sweep(store=store, jobs=1, **GRID)
    assert store.read_bytes().startswith(b"SQLite format 3")
    assert kept == zsim.sweep(jobs=1, **GRID)
    common = {"fill": 0.3, "drive_size": "200GB"}
    assert zsim.sweep(common, store=store, width=[3, 4], parity=1)["p50_s"] == kept["p50_s"]


def test_what_a_base_is_taken_as() -> None:
    asked = zsim.sweep(zsim.Scenario(layout="mirror2", drive_size="200GB"), fill=[0.3], jobs=1)
    assert zsim.sweep({"layout": "mirror2", "drive_size": "200GB"}, fill=[0.3], jobs=1) == asked
    assert zsim.sweep("mirror2", drive_size="200GB", fill=[0.3], jobs=1)["p50_s"] == asked["p50_s"]


def test_the_key_of_an_answer_depends_on_what_named_files_hold(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    stated = {"layout": "mirror2", "drive": str(mine)}
    keys = []
    for text in ("a = 1\n", "a = 2\n", "a = 1\n"):
        mine.write_text(text)
        keys.append(key_of(stated, "x"))
    assert keys[0] == keys[2] != keys[1]


def test_scenarios_are_compared_as_mappings_too() -> None:
    fields: dict[str, object] = {"layout": "mirror2", "fill": 0.3}
    found = zsim.compare(fields, [{"layout": "raidz1x3", "fill": 0.3}], drive_size="200GB", jobs=1)
    asked = zsim.compare("mirror2", "raidz1x3", fill=0.3, drive_size="200GB", jobs=1)
    assert found.rows == asked.rows
    assert found["name"] == ["mirror2", "raidz1x3"]
    assert found[:1] == (found[0],)


def test_a_system_that_is_none_is_refused_before_anything_runs() -> None:
    with pytest.raises(InputError, match="system 'windows' cannot be used: it is one of linux, freebsd"):
        zsim.tune("raidz2x6", system="windows")


def test_progress_ends_with_one() -> None:
    heard: list[float] = []
    zsim.predict(
        "mirror2", lambda share, words: heard.append(share), drive_size="200GB", fill=0.3, portion="row"
    )
    assert heard == sorted(heard)
    assert heard[-1] == 1.0


def test_a_repair_may_be_given_as_quantiles() -> None:
    found = zsim.risk("mirror2", hours_of=lambda scenario, report: Quantiles(p10=1e4, p50=2e4, p90=4e4))
    assert (found.repair_s.p10, found.repair_s.p90) == (1e4, 4e4)


SMALL: dict[str, Any] = {
    "kinds": ["mirror"],
    "confirm": 0,
    "drive_size": "200GB",
    "inputs": RiskInputs(hours=HOUR),
}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"drives": 12, "confirm": -1}, "confirm -1 cannot be used: it is a whole number, at least 0"),
        ({"drives": 12, "confirm": "2"}, "confirm '2' cannot be used: it is a whole number"),
        ({"drives": 12, "spares": -1}, "spares -1 cannot be used: it is a whole number, at least 0"),
        ({"drives": 0}, "drives 0 cannot be used: it is a whole number, at least 1"),
        (
            {"drives": 12, "layout": "raidz2x6"},
            "layout 'raidz2x6' cannot be used: this search finds the layout",
        ),
        ({"drives": 12, "kinds": "mirror"}, "kinds 'mirror' cannot be used: it is a list of kinds"),
        ({"drives": 12, "budget": 1000, "price": 10}, "drives 12 cannot be used: it excludes budget"),
        ({}, "drives is missing: one of drives, usable and budget is given"),
    ],
)
def test_what_a_plan_cannot_be_asked(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        zsim.plan_layouts(**{**SMALL, **given})
    assert said in str(caught.value)


def test_a_plan_takes_numbers_and_sizes_as_python_has_them() -> None:
    asked = zsim.plan_layouts(12, **SMALL)
    assert zsim.plan_layouts(np.int64(12), **SMALL) == asked  # type: ignore[arg-type]
    sized = zsim.plan_layouts(usable="1T", **SMALL)
    assert sized == zsim.plan_layouts(usable=1 << 40, **SMALL)
    assert "usable 1T" in sized.stated


def test_a_validation_is_asked_for_what_there_is_and_shows_itself() -> None:
    with pytest.raises(InputError, match="population 'x' cannot be used: it is one of given, recipe"):
        zsim.validate(["raidz_map_vectors"], population="x")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="seed '1' cannot be used"):
        zsim.validate(["raidz_map_vectors"], seed="1")  # type: ignore[arg-type]
    found = zsim.validate(["raidz_map_vectors"])
    assert repr(found).startswith("<Validation: ")
    assert "raidz_map_vectors" in str(found)
    assert "raidz_map_vectors" in found._repr_html_()
    assert found.to_dict()["schema_version"] == 1


def test_a_drive_and_a_release_of_a_file_may_be_paths(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('base = "openzfs-2.3"\n')
    assert zsim.load_release(own).openzfs_version == zsim.load_release("openzfs-2.3").openzfs_version
    assert zsim.load_release(own).name.startswith("own (openzfs-2.3")
    with pytest.raises(InputError, match="drive is missing: it is a name or the path of a file"):
        zsim.load_drive(None)  # type: ignore[arg-type]


def test_every_answer_with_rows_is_a_frame() -> None:
    pytest.importorskip("pandas")
    risk = zsim.risk("mirror2", RiskInputs(hours="3h"))
    fleet = zsim.fleet({"trials": 10, "pool": [{"layout": "mirror2", "hours": 3}]})
    for answer in (risk, fleet, zsim.plan_layouts(12, **SMALL)):
        assert answer.to_frame().equals(answer.to_pandas())
    prediction = zsim.predict("mirror2", fill=0.5, portion="row")
    assert prediction.to_frame("leaves").equals(prediction.to_pandas("leaves"))


def test_what_all_rows_of_a_sweep_have_in_common_is_kept(tmp_path: Path) -> None:
    """A table that is stored tells what was asked, the base too."""
    base = zsim.Scenario(layout="mirror2", drive_size="200GB", history="home-nas")
    table = zsim.sweep(base, fill=[0.2, 0.3], jobs=1)
    assert table.common == base.stated()
    assert table.heading()[0] == "All: layout mirror2; drive size 200GB; history home-nas."
    table.save(tmp_path / "table.json")
    assert json.loads((tmp_path / "table.json").read_text())["common"] == base.stated()
    assert zsim.sweep(base, store=tmp_path / "s.sqlite", fill=[0.2, 0.3], jobs=1) == table
    open_layout = {"drive_size": "200GB", "history": "home-nas"}
    assert zsim.sweep(open_layout, layout=["mirror2"], fill=[0.2], jobs=1).common == {
        "drive_size": 200_000_000_000, "history": "home-nas",
    }  # fmt: skip


def test_a_layout_may_stand_for_a_scenario() -> None:
    layout = zsim.Layout.parse("mirror2")
    fixed: dict[str, Any] = {"fill": 0.3, "drive_size": "200GB"}
    assert zsim.compare(layout, jobs=1, **fixed) == zsim.compare("mirror2", jobs=1, **fixed)
    assert zsim.resolve(layout) == zsim.resolve("mirror2")


@pytest.mark.parametrize(
    ("part", "said"), [("load", "load.0.kind is missing"), ("ports", "ports.0.enclosure")]
)
def test_what_is_wrong_in_every_row_of_a_sweep_is_said_once(part: str, said: str) -> None:
    """Its table of refusals could not be printed: it names what all rows have."""
    with pytest.raises(InputError, match=said):
        zsim.sweep({part: [{}]}, width=[3, 4], parity=1, fill=0.3)


def test_what_depends_on_an_axis_is_left_to_the_rows() -> None:
    table = zsim.sweep({"slow": ["3:x2"]}, layout=["mirror2", "raidz1x4"], drive_size="1TB", fill=0.3, jobs=1)
    assert ["slow" in str(row["refused"]) for row in table.rows] == [True, False]


MIRROR: dict[str, Any] = {"drive_size": "200GB", "fill": 0.3}
MIRROR_NOW: dict[str, Any] = {"drive_size": "200GB", "recordsize": "128K"}
STATUS = """
  pool: tank
 state: DEGRADED
  scan: resilver in progress since Sun Nov 22 08:11:03 2026
\t120G / 120G scanned, 31.0G / 120G issued at 141M/s
\t15.5G resilvered, 25.83% done, 00:10:40 to go
config:

\tNAME               STATE     READ WRITE CKSUM
\ttank               DEGRADED     0     0     0
\t  mirror-0         DEGRADED     0     0     0
\t    sda            ONLINE       0     0     0
\t    sdb            ONLINE       0     0     0  (resilvering)

errors: No known data errors
"""
ANSWERS: dict[str, Callable[[], Any]] = {
    "Prediction": lambda: zsim.predict("mirror2", **MIRROR, portion="row"),
    "Eta": lambda: zsim.eta(STATUS, drive_size="200GB"),
    "Table": lambda: zsim.compare("mirror2", "mirror3", **MIRROR, jobs=1),
    "RiskAnswer": lambda: zsim.risk("mirror2", RiskInputs(hours="3h")),
    "FleetAnswer": lambda: zsim.fleet({"trials": 10, "pool": [{"layout": "mirror2", "hours": 3}]}),
    "Design": lambda: zsim.plan_layouts(12, **SMALL),
    "Timeline": lambda: zsim.timeline("mirror2", **MIRROR, events=[{"do": "replace", "drive": 0}]),
    "Decision": lambda: zsim.decide("mirror2", **MIRROR, running={"done": 0.3}, reboot=True),
    "Tuning": lambda: Tuning("a mirror", 9.0, None, "linux", (), (), 16),
    "Validation": lambda: zsim.validate(["raidz_map_vectors"]),
}
READ_AGAIN = ("Prediction", "RiskAnswer", "FleetAnswer", "Table", "Validation")


@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_is_public_and_is_kept_and_shown_in_the_same_ways(name: str, tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    answer, path = ANSWERS[name](), tmp_path / "answer.json"
    assert type(answer) is getattr(zsim, name)
    told = json.loads(answer.to_json())
    assert told == json.loads(json.dumps(answer.to_dict()))
    answer.save(path)
    assert json.loads(path.read_text(encoding="utf-8")) == told
    assert answer.to_frame().equals(answer.to_pandas())
    assert answer._repr_html_().startswith("<")
    assert str(answer)
    assert repr(answer).startswith(f"<{name}: ")


@pytest.mark.parametrize("name", READ_AGAIN)
def test_what_was_stored_is_the_same_answer_again(name: str, tmp_path: Path) -> None:
    answer, path = ANSWERS[name](), tmp_path / "answer.json"
    answer.save(path)
    assert type(answer).load(path) == type(answer).from_json(answer.to_json()) == answer
    path.write_text(answer.to_json().replace('"schema_version": 1', '"schema_version": 7'))
    with pytest.raises(InputError, match="schema_version 7 cannot be used: 1; compute it again"):
        type(answer).load(path)


FUNCTIONS = sorted(each for each in vars(zsim)["_EXPORTS"] if each.islower())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_has_an_example(name: str) -> None:
    """`tests/scenario/test_examples.py` runs them."""
    (found,) = doctest.DocTestFinder(recurse=False).find(getattr(zsim, name), name)
    assert found.examples


def test_what_functions_return_has_a_public_name() -> None:
    returned = {inspect.signature(getattr(zsim, each)).return_annotation for each in FUNCTIONS}
    assert "Prediction" in returned
    assert returned - {"Case", "DriveModel", "ReleaseProfile"} <= {*dir(zsim)}


def test_a_timeline_and_a_decision_are_asked_as_a_prediction_is() -> None:
    """A layout, a scenario or fields, with what happens as a keyword; the plan written out is the same."""
    events = [{"do": "fail", "drive": 0}, {"do": "replace", "drive": 0, "after": "2h"}]
    asked = {"scenario": {"layout": "mirror2", **MIRROR}, "events": events}
    plan = zsim.Plan.from_dict(asked)
    for pool in ("mirror2", zsim.Layout.parse("mirror2"), zsim.Scenario(layout="mirror2")):
        assert read_plan(pool, {**MIRROR, "events": events}).pool == plan.pool
        assert read_plan(pool, {**MIRROR, "events": events}).events == plan.events
    assert read_plan(None, {"layout": "mirror2", **MIRROR, "events": events}).pool == plan.pool
    assert zsim.timeline("mirror2", **MIRROR, events=events).whole_s["p10"] > 2 * HOUR
    with pytest.raises(InputError, match="procedure 'mirror' cannot be used"):
        zsim.timeline("mirror")


def test_fields_of_a_running_scan_are_keywords() -> None:
    stated = {"drive_size": "200GB", "recordsize": "1M"}
    assert zsim.eta(STATUS, **stated).total_s == zsim.eta(STATUS, stated=stated).total_s


def test_a_status_is_the_state_that_a_timeline_and_a_decision_begin_with(tmp_path: Path) -> None:
    """As text or as a file, with what `zsim.eta` says is left; what it does not show is told."""
    path = tmp_path / "status.txt"
    path.write_text(STATUS)
    left = zsim.eta(STATUS, **MIRROR_NOW).remaining_s
    found = zsim.timeline(path, **MIRROR_NOW)
    assert found.whole_s["p50"] == pytest.approx(left.p50, rel=1e-6)
    assert found.title == "tank"
    with pytest.warns(UserWarning, match="NOT KNOWN: the record size"):
        decision = zsim.decide(STATUS, drive_size="200GB", reboot=True)
    assert {each.name for each in decision.alternatives} == {"reboot now", "reboot when the pass has ended"}
    gone = re.sub("  scan:.*to go\n", "", STATUS, flags=re.DOTALL).replace("  (resilvering)", "")
    gone = gone.replace("sdb            ONLINE ", "sdb            REMOVED")
    with pytest.warns(UserWarning, match="NO REDUNDANCY: sdb of mirror-0 is REMOVED"):
        repaired = zsim.timeline(gone, **MIRROR_NOW, alloc="100G")
    assert [each.kind for each in repaired.passes] == ["resilver"]


def test_a_status_is_the_subject_of_a_risk(tmp_path: Path) -> None:
    """Its window is what `zsim.eta` says is left, unless hours are stated; `zsim.risk` took no status."""
    path = tmp_path / "status.txt"
    path.write_text(STATUS)
    fields: dict[str, Any] = {**MIRROR_NOW, "alloc": "100G"}
    left = zsim.eta(STATUS, **fields).remaining_s
    inputs = RiskInputs(afr=0.02)
    for source in (STATUS, path, str(path)):
        found = zsim.risk(source, inputs, **fields)
        assert found.window_of == "rest"
        assert format_duration(left.p50) in found.subject
    stated = zsim.risk(STATUS, RiskInputs(afr=0.02, hours="5h"), **fields)
    assert stated.window_of == "repair"
    assert stated.repair_s.p50 == 5 * HOUR
    idle = re.sub("  scan:.*to go\n", "", STATUS, flags=re.DOTALL).replace("  (resilvering)", "")
    assert zsim.risk(idle, inputs, **fields).window_of == "repair"


def answers() -> dict[str, Any]:
    """Return one answer of each kind."""
    pool: dict[str, Any] = {"drive_size": "200GB", "fill": 0.3, "recordsize": "1M"}
    failed = {"do": "fail", "drive": 0}
    replaced = {"do": "replace", "drive": 0, "after": "12h"}
    return {
        "eta": zsim.eta(STATUS, **MIRROR_NOW),
        "timeline": zsim.timeline("mirror2", **pool, events=[failed, replaced]),
        "never whole": zsim.timeline("mirror2", **pool, events=[failed]),
        "decide": zsim.decide("mirror2", **pool, running={"done": 0.35}, reboot=True),
        "plan": zsim.plan_layouts(drives=4, drive_size="4TB", inputs=RiskInputs(hours="9h")),
        "worth": zsim.plan_worth("mirror2", RiskInputs(hours="9h")),
        "compare": zsim.compare("mirror2", "4*disk", **pool),
        "tune": zsim.tune("mirror2", **pool),
        "risk": zsim.risk("mirror2", RiskInputs(hours="9h")),
        "fleet": zsim.fleet(FLEET),
    }


def test_every_answer_is_loaded_again_from_its_json(tmp_path: Path) -> None:
    """Those of eta, timeline, decide, plan and tune could not be."""
    for name, answer in answers().items():
        path = tmp_path / f"{name}.json"
        answer.save(path)
        loaded = type(answer).load(path)
        assert type(loaded) is type(answer)
        assert str(loaded) == str(answer), name
        assert repr(loaded) == repr(answer), name
        assert loaded.to_json() == answer.to_json(), name
        if importlib.util.find_spec("pandas") is not None:
            assert loaded.to_frame().equals(answer.to_frame()), name
        if hasattr(answer, "plot"):
            assert loaded.plot() is not None
        data = json.loads(path.read_text())
        wrong = {**data, "schema_version": 99}
        with pytest.raises(InputError, match="schema_version"):
            type(answer).from_dict(wrong)
        lacking = {key: value for key, value in data.items() if key in ("schema_version", "provenance")}
        if name not in ("risk", "fleet", "compare"):
            with pytest.raises(InputError) as refused:
                type(answer).from_dict(lacking)
            assert len(str(refused.value).splitlines()) == 1
