"""Scenarios: read, written, overridden, refused in one sentence, resolved with every assumption listed."""

from __future__ import annotations

import json
import pydoc
import tomllib
from pathlib import Path
from typing import Any, get_type_hints

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zsim.base.errors import InputError
from zsim.case.resolve import resolve
from zsim.prediction.simulated import stated
from zsim.scenario import field_types, words
from zsim.scenario.fields import Fields
from zsim.scenario.files import apply_overrides
from zsim.scenario.model import Scenario
from zsim.scenario.parts import Hours, Load, Port, format_moment, parse_drives, parse_moment

N36L = {
    "layout": "raidz2x5",
    "alloc": "2.84T",
    "drive_size": "1TB",
    "new_drive_size": "2TB",
    "release": "freebsd-9.1",
    "ports": ["port-multiplier-cbs:3,4"],
    "memory": "8G",
    "cpus": 2,
    "operation": "resilver",
}
FULL = {
    "layout": "draid2:4d:11c:1s",
    "vdevs": 2,
    "fill": 0.3,
    "drive": "generic-7200rpm-cmr",
    "drive_size": "8TB",
    "write_cache": False,
    "recordsize": "1M",
    "frag": "15%",
    "ashift": 12,
    "memory": "64G",
    "cpus": 16,
    "release": "2.3.9",
    "hz": 1000,
    "tunables": {"zfs_vdev_scrub_max_active": 5, "zfs_scan_vdev_limit": "32M"},
    "order": "sorted",
    "operation": "rebuild",
    "replace": 1,
    "old_drive": "missing",
    "target": "distributed-spare",
    "enclosure": "sas-expander",
    "ports": [{"enclosure": "port-multiplier-fis", "drives": [0, 1, 2]}],
    "history": "aged",
    "begins": "fri 13:41",
    "load": [
        {"kind": "random-read", "rate": 50.0, "size": "64K", "hours": "mon-fri 08:00-18:00"},
        {"kind": "sync-write", "threads": 4, "think": "2ms"},
    ],
    "engine": "reference",
    "exact": True,
    "precision": "1%",
    "seed": 7,
}


@pytest.mark.parametrize("fields", [N36L, FULL, {"layout": "mirror2"}], ids=["n36l", "full", "bare"])
def test_a_scenario_reads_back_from_toml_json_and_plain_data(fields: dict[str, Any], tmp_path: Path) -> None:
    scenario = Scenario(**fields)
    path = tmp_path / "mine.toml"
    scenario.write(path)
    assert Scenario.read(path) == scenario
    assert Scenario.from_dict(tomllib.loads(scenario.to_toml())) == scenario
    assert Scenario.from_dict(json.loads(json.dumps(scenario.stated()))) == scenario
    assert list(tmp_path.iterdir()) == [path]


@given(
    layout=st.sampled_from(["raidz1x5", "4*raidz2x6", "mirror3", "mirror2+raidz3x9"]),
    fill=st.floats(0.001, 1),
    drive_size=st.integers(10**9, 10**14),
    recordsize=st.integers(9, 24).map(lambda shift: 1 << shift),
    memory=st.integers(64 << 20, 2**50),
    seed=st.integers(0, 2**63 - 1),
)
def test_generated_scenarios_read_back(**fields: Any) -> None:
    scenario = Scenario(**fields)
    assert Scenario.from_dict(tomllib.loads(scenario.to_toml())) == scenario
    assert json.loads(json.dumps(scenario.stated()))["seed"] == fields["seed"]


def test_what_is_not_stated_is_none_and_not_written() -> None:
    scenario = Scenario(layout="mirror2")
    assert scenario.stated() == {"layout": "mirror2"}
    assert scenario.fill is None
    assert scenario.to_toml() == 'layout = "mirror2"\n'


def test_a_scenario_cannot_be_changed() -> None:
    scenario = Scenario(layout="mirror2")
    with pytest.raises(InputError, match=r"does not change; write scenario.replace\(fill="):
        scenario.fill = 0.5  # type: ignore[misc]
    assert scenario.replace(fill=0.5).fill == 0.5
    assert scenario.fill is None


def test_sizes_are_written_with_units() -> None:
    text = Scenario(**FULL).to_toml()
    for line in (
        'recordsize = "1M"',
        'drive_size = "8TB"',
        'memory = "64G"',
        'size = "64K"',
        'begins = "fri 13:41"',
    ):
        assert line in text
    assert text.index("seed") < text.index("[tunables]") < text.index("[[ports]]")


def test_the_schema_accepts_what_the_model_accepts() -> None:
    schema = Scenario.json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    for fields in (FULL, Scenario(**FULL).stated(), Scenario(**N36L).stated(), {"layout": "mirror2"}):
        jsonschema.validate(fields, schema)
    for wrong in (
        {},
        {"layout": "mirror2", "fil": 1},
        {"layout": "mirror2", "order": "random"},
        {"layout": 5},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)


def test_every_field_is_described() -> None:
    for model in (Scenario, Load, Port):
        for name, info in model.model_fields.items():
            assert info.description, (model, name)
            assert len(info.description) <= 110


BARE: dict[str, Any] = {"layout": "raidz2x6"}


@pytest.mark.parametrize(
    ("fields", "beginning", "contains"),
    [
        ({}, "layout is missing", "raidz2x6"),
        ({**BARE, "fill": "62"}, "fill '62'", "62% or 0.62"),
        ({**BARE, "fill": 0}, "fill 0 ", "more than 0"),
        ({**BARE, "fill": float("nan")}, "fill nan", "percentage"),
        ({**BARE, "fil": 0.5}, "fil 0.5", "try fill"),
        ({**BARE, "fill": 0.5, "alloc": "1T"}, "alloc", "fill is given too"),
        ({**BARE, "order": "birth"}, "order 'birth'", "auto, legacy or sorted"),
        ({**BARE, "order": "sorted", "release": "0.7.13"}, "order 'sorted'", "legacy order"),
        (
            {**BARE, "order": "sorted", "tunables": {"zfs_scan_legacy": 1}},
            "order 'sorted'",
            "zfs_scan_legacy",
        ),
        ({"layout": "4*raidz2x6", "vdevs": 2}, "vdevs 2", "own count"),
        ({**BARE, "vdevs": 0}, "vdevs 0", "at least 1 and at most 10000"),
        ({**BARE, "vdevs": 1.5}, "vdevs 1.5", "whole number"),
        ({**BARE, "ashift": 8}, "ashift 8", "at least 9 and at most 16"),
        ({**BARE, "ashift": "x"}, "ashift 'x'", "whole number"),
        ({**BARE, "replace": 3}, "replace 3", "at most 2"),
        ({**BARE, "replace": 7, "old_drive": "online"}, "replace 7", "at most 6"),
        ({**BARE, "operation": "rebuild"}, "operation 'rebuild'", "RAID-Z has no sequential rebuild"),
        (
            {"layout": "mirror2", "operation": "rebuild", "release": "0.8"},
            "operation 'rebuild'",
            "openzfs-2.1",
        ),
        ({"layout": "draid1:4d:8c:1s", "release": "2.0"}, "layout", "no dRAID"),
        ({"layout": "draid1:4d:8c", "target": "distributed-spare"}, "target", "no distributed spare"),
        (
            {"layout": "draid2:4d:8c:1s", "target": "distributed-spare", "replace": 2},
            "replace 2",
            "1 distributed",
        ),
        (
            {"layout": "draid2:4d:8c:1s", "target": "distributed-spare", "new_drive": "x"},
            "new_drive 'x'",
            "no drive",
        ),
        ({**BARE, "operation": "scrub", "replace": 1}, "replace 1", "replaces nothing"),
        ({**BARE, "recordsize": "100K"}, "recordsize '100K'", "power of two"),
        ({**BARE, "recordsize": "1M", "release": "freebsd-9.1"}, "recordsize", "128K"),
        ({**BARE, "recordsize": "2M", "release": "solaris-11.1"}, "recordsize", "1M"),
        ({**BARE, "recordsize": "32M"}, "recordsize '32M'", "16M"),
        (
            {**BARE, "tunables": {"zfs_resilver_delay": 2}},
            "tunable 'zfs_resilver_delay'",
            "zfs_vdev_scrub_max_active",
        ),
        ({**BARE, "tunables": {"zfs_txg_timeout": [1]}}, "tunables.zfs_txg_timeout", "number or text"),
        ({**BARE, "tunables": 5}, "tunables 5", "table of names"),
        ({**BARE, "release": "openzfs-9"}, "release 'openzfs-9'", "openzfs-"),
        ({**BARE, "ports": "pm:1,9"}, "port 'pm:1,9'", "0 to 5 and new"),
        ({**BARE, "ports": ["pm:1", "pm:0-2"]}, "port 'pm:0,1,2'", "behind pm:1 already"),
        ({**BARE, "ports": "pm"}, "port 'pm'", "NAME:DRIVES"),
        ({**BARE, "ports": "pm:a"}, "port 'a'", "no drive"),
        ({**BARE, "ports": "pm:3-1"}, "port '3-1'", "backwards"),
        ({**BARE, "ports": [{"enclosure": "pm", "drives": []}]}, "ports.0.drives", "at least one"),
        ({**BARE, "ports": 5}, "ports 5", "list"),
        ({**BARE, "load": "random-read"}, "load 'random-read'", "rate, bandwidth"),
        ({**BARE, "load": "random-read,rate=1,threads=2"}, "load 'random-read'", "rate, bandwidth"),
        ({**BARE, "load": "random-read,rate=1,think=2s"}, "load 'random-read'", "threads"),
        ({**BARE, "load": "random-read,rate"}, "load 'random-read,rate'", "KEY=VALUE"),
        ({**BARE, "load": "read,rate=1"}, "load 'read,rate=1'", "300 reads/s"),
        ({**BARE, "load": "random-read,rate=-1"}, "load.0.rate '-1'", "greater than 0"),
        ({**BARE, "load": "random-read,rate=1,size=1"}, "load size 1", "512 bytes"),
        ({**BARE, "load": "random-read,rate=1,hours=always"}, "hours 'always'", "mon-fri"),
        ({**BARE, "load": "random-read,rate=1,hours=8-18"}, "begins is missing", "--begins 'fri 17:30'"),
        ({**BARE, "begins": "friday"}, "begins 'friday'", "fri 13:41"),
        ({**BARE, "drive_size": "big"}, "drive_size 'big'", "4TB"),
        ({**BARE, "memory": "0"}, "memory '0'", "more than 0"),
        ({**BARE, "drive": ""}, "drive ''", "name"),
        ({**BARE, "seed": -1}, "seed -1", "at least 0"),
        ({**BARE, "exact": "maybe"}, "exact 'maybe'", "true or false"),
        ({**BARE, "precision": 1}, "precision 1", "less than 1"),
        ({"layout": 5}, "layout 5", "not text"),
        ({"layout": None}, "layout ", ""),
        ({**BARE, "drive": 5}, "drive 5", "text"),
    ],
)
def test_what_cannot_be_is_said_in_one_sentence(
    fields: dict[str, Any], beginning: str, contains: str
) -> None:
    with pytest.raises(InputError) as caught:
        Scenario.from_dict(fields)
    text = str(caught.value)
    assert text.startswith(beginning)
    assert contains in text
    assert len(text.splitlines()) == 1
    assert len(text) < 400


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(sorted(Scenario.field_infos())), json_values, max_size=3))
def test_any_data_is_a_scenario_or_an_input_error(fields: dict[str, Any]) -> None:
    try:
        scenario = Scenario.from_dict({**BARE, **fields})
    except InputError as error:
        assert len(str(error).splitlines()) == 1
    else:
        assert Scenario.from_dict(tomllib.loads(scenario.to_toml())) == scenario


def test_overrides() -> None:
    data = {"layout": "raidz2x6", "alloc": "1T", "tunables": {"zfs_txg_timeout": 5}}
    scenario = Scenario.from_dict(data).with_overrides(
        [
            "fill=62%",
            "drive-size=8TB",
            "tunables.zfs_vdev_nia_credit=1",
            "exact=true",
            "ports=pm:1,2",
            "seed = 3",
        ]
    )
    assert (scenario.fill, scenario.alloc, scenario.drive_size) == (0.62, None, 8 * 10**12)
    assert scenario.tunables == {"zfs_txg_timeout": 5, "zfs_vdev_nia_credit": 1}
    assert (scenario.exact, scenario.seed) == (True, 3)
    assert [str(port) for port in scenario.ports or ()] == ["pm:1,2"]
    assert scenario.with_overrides(["fill=", "exact=none", "tunables.zfs_txg_timeout=none"]).stated() == {
        "layout": "raidz2x6", "drive_size": 8 * 10**12, "seed": 3, "tunables": {"zfs_vdev_nia_credit": 1},
        "ports": [{"enclosure": "pm", "drives": [1, 2]}],
    }  # fmt: skip


def test_overrides_leave_the_original_alone() -> None:
    data: dict[str, Any] = {"tunables": {"a": 1}}
    assert apply_overrides(data, ["tunables.b=2"]) == {"tunables": {"a": 1, "b": 2}}
    assert data == {"tunables": {"a": 1}}


@pytest.mark.parametrize("setting", ["fill", "=3", "", "layout.x=3"])
def test_what_is_no_override_is_refused(setting: str) -> None:
    with pytest.raises(InputError, match="^override"):
        apply_overrides({"layout": "mirror2"}, [setting])


def test_a_scenario_file_that_is_wrong_names_itself(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    with pytest.raises(InputError, match="mine.toml"):
        Scenario.read(path)
    path.write_text("layout = raidz2x6\n")
    with pytest.raises(InputError, match="line 1"):
        Scenario.read(path)
    path.write_text('layout = "raidz2x6"\n')
    assert Scenario.read(path, ["fill=0.5"]).fill == 0.5


def test_ports() -> None:
    port = Port.model_validate("usb:hub:0-2,new")
    assert (port.enclosure, port.drives) == ("usb:hub", (0, 1, 2, "new"))
    assert port.leaves(6, 2) == (0, 1, 2, 6, 7)
    assert str(port) == "usb:hub:0,1,2,new"
    assert parse_drives("3,1-2") == (3, 1, 2)


def test_hours() -> None:
    hours = Hours.parse("mon-fri 08:00-18:00")
    day = 86400
    assert hours.contains(8 * 3600)
    assert not hours.contains(18 * 3600)
    assert not hours.contains(5 * day + 9 * 3600)
    assert hours.contains(7 * day + 9 * 3600)
    assert str(Hours.parse("8-18")) == "08:00-18:00"
    assert str(Hours.parse("Sat 9:30-24")) == "sat 09:30-24:00"
    night, weekend = Hours.parse("mon-fri 22:00-06:00"), Hours.parse("sat-mon 8-18")
    assert night.contains(4 * day + 23 * 3600)
    assert night.contains(5 * day + 5 * 3600)
    assert not night.contains(6 * day + 5 * 3600)
    assert not night.contains(5 * 3600 - 3600 * 2)
    assert weekend.contains(9 * 3600)
    assert not weekend.contains(2 * day + 9 * 3600)
    for text in ("mon-fri", "8-8", "8-25", "xyz 8-18", "8:00-18:00 mon"):
        with pytest.raises(InputError):
            Hours.parse(text)


@given(st.integers(0, 6), st.integers(0, 6), st.integers(0, 1440), st.integers(0, 1440))
def test_hours_read_back(one: int, other: int, start: int, end: int) -> None:
    if one > other or start >= end:
        return
    hours = Hours(one, other, start * 60, end * 60)
    assert Hours.parse(str(hours)) == hours


@given(st.integers(0, 7 * 1440 - 1))
def test_moments_read_back(minute: int) -> None:
    assert parse_moment(format_moment(minute * 60)) == minute * 60


@pytest.mark.parametrize(
    ("text", "same"),
    [("friday 5:30pm", "fri 17:30"), ("Monday 12:05 AM", "mon 00:05"), ("sun 12:00pm", "sun 12:00")],
)
def test_a_moment_may_be_written_out(text: str, same: str) -> None:
    assert parse_moment(text) == parse_moment(same)


@pytest.mark.parametrize(
    "text", ["fri 24:00", "fri 17:30pm", "fri 0:30am", "fry 17:30", "fridays 17:30", "17:30"]
)
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="no moment of the week"):
        parse_moment(text)


def test_the_n36l_is_resolved_from_what_is_stated() -> None:
    known = resolve(Scenario(**N36L))
    assert known.fill == pytest.approx(0.62, abs=0.01)
    assert [(each.name, each.leaves) for each in known.ports] == [("port-multiplier-cbs", (3, 4))]
    assert (known.release.name, known.release.hz, known.ashift) == ("freebsd-9.1", 1000, 9)
    assert (known.drive_size, known.new_drive_size, known.replace) == (10**12, 2 * 10**12, 1)
    assumed = {each.field for each in known.assumptions}
    assert {"drive", "ashift", "recordsize", "write_cache", "frag", "history", "load"} <= assumed
    assert not assumed & set(Scenario(**N36L).stated())


def test_nothing_is_assumed_silently() -> None:
    known = resolve(Scenario(layout="raidz2x6"))
    assumed = {each.field for each in known.assumptions}
    needed = {
        "release", "hz", "drive", "drive_size", "fill", "operation", "replace", "old_drive", "new_drive",
        "recordsize", "frag", "ashift", "memory", "cpus", "write_cache", "ports", "history", "load",
    }  # fmt: skip
    assert assumed == needed
    assert all(each.text and each.why for each in known.assumptions)
    json.dumps([each.to_dict() for each in known.assumptions])
    assert known.assumed("fill")
    assert known.leaves == 6


@pytest.mark.parametrize(
    "name", ["fill", "drive_size", "memory", "frag", "ashift", "cpus", "recordsize", "write_cache", "hz"]
)
def test_what_is_stated_is_not_assumed_and_changes_nothing_else(name: str) -> None:
    base = resolve(Scenario(layout="raidz2x6"))
    value = {"hz": base.release.hz, "frag": 0.2}.get(name, getattr(base, name, None))
    stated = resolve(Scenario.from_dict({"layout": "raidz2x6", name: value}))
    assert {each.field for each in base.assumptions} - {each.field for each in stated.assumptions} == {name}
    assert stated.pool_size == base.pool_size


def test_fill_and_alloc_say_the_same() -> None:
    by_fill = resolve(Scenario(layout="2*mirror2", fill=0.4, drive_size="2TB"))
    by_alloc = resolve(Scenario(layout="2*mirror2", alloc=by_fill.alloc, drive_size="2TB"))
    assert by_alloc.fill == pytest.approx(0.4, rel=1e-9)
    with pytest.raises(InputError, match="alloc '10T' cannot be used: the pool mirror2 of 2 TB"):
        resolve(Scenario(layout="mirror2", alloc="10T", drive_size="2TB"))


def test_order_tunables_and_hz_reach_the_release() -> None:
    known = resolve(
        Scenario(layout="mirror2", order="legacy", release="2.3.9", hz=100, tunables={"zfs_txg_timeout": 9})
    )
    assert (known.release.order, known.release.hz, known.release.tunables["zfs_txg_timeout"]) == (
        "legacy",
        100,
        9,
    )
    assert resolve(Scenario(layout="mirror2", order="legacy", release="0.7")).release.order == "legacy"


def test_an_enclosure_takes_the_drives_that_ports_leave() -> None:
    known = resolve(Scenario(layout="raidz2x6", enclosure="jbod-60", ports="usb-dock:0,1", replace=2))
    ports = [(each.name, each.enclosure.name, each.leaves) for each in known.ports]
    assert ports == [("usb-dock", "usb-dock", (0, 1)), ("jbod-60", "jbod-60", (2, 3, 4, 5, 6, 7))]


def test_the_capacity_of_a_named_drive_is_taken() -> None:
    known = resolve(Scenario(layout="mirror2", drive="hd103uj", new_drive="wd40efrx"))
    sizes = known.drive.capacity_bytes, known.new_drive.capacity_bytes
    assert (known.drive_size, known.new_drive_size) == sizes
    assert sizes[0] < sizes[1]
    with pytest.raises(InputError, match="smaller than"):
        resolve(Scenario(layout="mirror2", drive_size="4TB", new_drive_size="3TB"))


def test_the_drives_of_the_catalogue_have_a_capacity() -> None:
    known = resolve(Scenario(layout="mirror2", drive="hd103uj"))
    assert known.drive_size == pytest.approx(1e12, rel=1e-3)
    with pytest.raises(InputError, match="^drive 'hd103ui'"):
        resolve(Scenario(layout="mirror2", drive="hd103ui"))


def test_a_scrub_replaces_nothing() -> None:
    known = resolve(Scenario(layout="mirror2", operation="scrub"))
    assert (known.replace, known.old_drive) == (0, "online")
    assert not known.assumed("replace")


@pytest.mark.parametrize("fields", [
    {"slow": ["3:" + "x2.5" * 900]}, {"load": ["random-read," + "x" * 3000]},
    {"load": ["backup " + "9z" * 900 + " 22:00-06:00"]}, {"ports": ["usb-dock:" + "x" * 3000]},
])  # fmt: skip
def test_a_refusal_shows_a_part_of_what_is_long(fields: dict[str, Any]) -> None:
    with pytest.raises(InputError) as found:
        Scenario(layout="raidz1x4", fill=0.3, **fields)
    given = next(iter(fields.values()))[0]
    assert not any(given[place : place + 301] in str(found.value) for place in range(len(given) - 300))


@pytest.mark.parametrize(
    ("stated", "told"),
    [
        ({"vdev_frags": "20%,5%,1%"}, "has 2 data vdevs, 3 shares are given"),
        ({"vdev_frags": "20%,5%", "frag": 0.2}, "vdev_frags says how fragmented"),
    ],
)
def test_frag_of_each_vdev_is_stated_once_and_of_all(stated: dict[str, object], told: str) -> None:
    with pytest.raises(InputError, match=told):
        Scenario.from_dict({"layout": "2*raidz2x6", **stated})
    assert Scenario.from_dict({"layout": "2*raidz2x6", "vdev_frags": "20%,5%"}).vdev_frags == (0.2, 0.05)


def test_help_shows_the_fields_and_what_they_mean() -> None:
    """It began with pages of how pydantic reads each, and said of none what it is."""
    Scenario(layout="mirror2")
    told = pydoc.plain(pydoc.render_doc(Scenario))
    # Python 3.13 puts each parameter on a line of its own.
    assert "Scenario(*,layout,vdevs=None,fill=None," in "".join(told.replace(" |", " ").split())
    assert "drive_size\n |      capacity of these drives, such as 4TB" in told
    assert "Annotated" not in told.partition("Method resolution order")[0]
    assert Scenario.json_schema()["description"] == (Scenario.__doc__ or "").splitlines()[0]


def test_every_size_and_share_is_written_with_its_unit() -> None:
    """Each field of such a type stands among those that are printed so; ``rewritten`` once did not."""
    hints = get_type_hints(Fields, include_extras=True)
    for kind, known in (
        (field_types.Bytes, {*words.DATA_SIZES} - {"size"}),
        (field_types.DriveBytes, {*words.CAPACITIES}),
        (field_types.Fraction, {*words.SHARES}),
    ):
        assert {name for name, hint in hints.items() if str(kind) in str(hint)} == known
    told = stated(Scenario(layout="raidz1x4+1", rewritten=0.3))
    assert told[-1].text == "30 %"
