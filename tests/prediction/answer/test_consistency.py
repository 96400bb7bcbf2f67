"""An answer agrees with itself: what is said in one place is not denied in another, whatever is asked."""

from __future__ import annotations

import html
import json
import re

import pytest

from zsim.base.units import format_duration
from zsim.prediction.answer import brief, wording
from zsim.prediction.answer.prediction import Prediction
from zsim.prediction.answer.records import VERIFYING_SCRUB
from zsim.prediction.api import case_of, predict
from zsim.report.page import prediction_page
from zsim.scenario.model import Scenario

SCENARIOS = (
    {"layout": "raidz2x6", "fill": 0.62},
    {"layout": "raidz2x6", "fill": 0.62, "drive_size": "18TB", "history": "vm-host", "recordsize": "128K"},
    {"layout": "3*mirror2", "fill": 0.4, "drive": "wd40efax"},
    {"layout": "2*raidz1x5", "fill": 0.5, "drive_size": "8TB", "load": ["random-read,rate=300"]},
    {"layout": "raidz3x11", "alloc": "40T", "release": "zol-0.7.13"},
    {"layout": "mirror2", "fill": 0.3, "operation": "scrub", "drive_size": "4TB"},
    {"layout": "draid2:8d:41c:2s", "fill": 0.5, "drive_size": "12TB"},
    {"layout": "raidz1x4", "fill": 0.7, "drive_size": "4TB", "slow": ["2:x3"]},
    {"layout": "raidz1x4", "fill": 0.5, "drive_size": "3TB", "enclosure": "port-multiplier-cbs"},
    {"layout": "mirror2", "fill": 0.5, "drive": "860-evo-1tb", "history": "database"},
)
ROLES = {
    "the remaining drives": "source",
    "the source drives": "source",
    "the source drive": "source",
    "the replacement drive": "target",
    "the replacement drives": "target",
    "the overwritten drive": "target",
    "the slow source drive": "slow source",
    "the drives of the other vdevs": "other vdev",
}


@pytest.fixture(scope="module", params=SCENARIOS, ids=lambda data: data["layout"])
def found(request: pytest.FixtureRequest) -> Prediction:
    return predict(Scenario.from_dict(request.param))


def role_of(resource: str) -> str:
    named = resource.removeprefix("no single one: ")
    named = re.sub(r" (is|are) the busiest$", "", named)
    kind, behind, link = named.partition(" behind ")
    return ROLES[kind] + behind + link


def test_one_limit_has_one_figure(found: Prediction) -> None:
    """The bottleneck is the row of its drives, the longest phase is bound by it, its causes are divided."""
    limit = found.bottleneck
    repairs = [phase for phase in found.phases if phase.name != VERIFYING_SCRUB]
    longest = max(repairs, key=lambda phase: phase.duration_s)
    assert longest.bound_by == limit.resource
    assert not any("%" in phase.bound_by for phase in found.phases)
    if limit.resource.removeprefix("no single one: ").startswith("the shared link"):
        return
    row = next(leaf for leaf in found.leaves if leaf.role == role_of(limit.resource))
    assert limit.utilisation == row.utilisation
    assert role_of(found.breakdown_of) == row.role
    target = next((leaf for leaf in found.leaves if leaf.role == "target"), None)
    if found.operation == "resilver" and target is not None and target.count == 1:
        assert found.leaves_of_s is not None
        mean = found.resilvered_bytes / found.leaves_of_s
        assert target.write_rate == pytest.approx(mean, rel=0.15), "the row's rate is that of its own world"
    share = re.match(r"(\d+) % of that is", limit.why)
    if share is not None:
        work = found.resilver_s.p50 - found.breakdown.get("idle, waiting on siblings", 0.0)
        causes = [part for name, part in found.breakdown.items() if not name.startswith("idle")]
        assert int(share[1]) == pytest.approx(100 * max(causes) / work, abs=0.51)


def test_assumptions_are_what_was_simulated(found: Prediction) -> None:
    """What the table says of the world shown is what the drives' rows show."""
    told = {each.field: each for each in found.assumptions}
    names = {leaf.name.split(" (")[0] for leaf in found.leaves if leaf.role in ("source", "target")}
    for field in ("drive", "new_drive"):
        if field in told:
            assert any(str(told[field].value) in name for name in names), (told[field], names)
    known = found.uncertainty
    assert known is not None
    for driver in known.drivers:
        if driver.field in told and driver.sampled:
            assert told[driver.field].sampled, f"{driver.field} is varied, and the table says it is not"
        if not driver.sampled:
            assert not told[driver.field].sampled
    for each in found.assumptions:
        if each.sampled == "":
            continue
        fields = {driver.field for driver in known.drivers}
        assert each.field in fields or each.field in ("new_drive", "recordsize"), each


def test_what_was_stated_is_echoed_everywhere(found: Prediction, request: pytest.FixtureRequest) -> None:
    asked = request.node.callspec.params["found"]
    assert {each.field for each in found.stated} == set(asked)
    assert {each["field"] for each in json.loads(found.to_json())["stated"]} == set(asked)
    told, page = str(found), html.unescape(prediction_page(found))
    flat = " ".join(told.split())
    for each in found.stated:
        assert each.text in flat
        assert each.text in page
    assert not {each.field for each in found.stated} & {each.field for each in found.assumptions}


def test_parts_sum_to_the_answer(found: Prediction) -> None:
    middle = found.resilver_s.p50
    assert sum(found.breakdown.values()) == pytest.approx(middle)
    repairs = [phase for phase in found.phases if phase.name != VERIFYING_SCRUB]
    assert sum(phase.duration_s for phase in repairs) == pytest.approx(middle, rel=1e-6)
    assert found.progress[-1].time_s == pytest.approx(middle)


@pytest.mark.parametrize("width", [80, 100, 200])
def test_the_first_screen_is_a_screen(found: Prediction, width: int) -> None:
    from datetime import datetime

    from zsim.prediction.answer.tables import plain

    text = plain(brief.as_brief(found, datetime(2026, 11, 22, 15, 0)), width)
    lines = text.splitlines()
    assert len(lines) <= brief.LINES, text
    assert format_duration(found.resilver_s.p50) in " ".join(lines[:2])
    assert "interval" in " ".join(lines[:4])
    assert "If started now: done about" in text
    assert "Bottleneck: " in text


def test_a_load_that_costs_much_is_in_the_first_line(found: Prediction) -> None:
    quiet = found.unloaded_s
    assert (quiet is not None) == any(each.field == "load" for each in found.stated)
    if quiet is not None and quiet < 0.5 * found.resilver_s.p50:
        assert format_duration(quiet) in wording.headline(found)


def test_record_size_stands_under_what_would_narrow_the_interval(found: Prediction) -> None:
    """Unless it is stated, or hardly moves the answer."""
    known = found.uncertainty
    assert known is not None
    asked = {each.field for each in found.stated}
    fields = {driver.field for driver in known.drivers}
    assert ("recordsize" in fields) == ("recordsize" not in asked)


def test_a_mirror_has_one_partner(found: Prediction) -> None:
    rows = {leaf.role: leaf.count for leaf in found.leaves}
    if "mirror2" in found.subject and found.operation == "resilver":
        assert (rows["source"], rows["target"]) == (1, 1)
        assert rows.get("other vdev", 0) == (4 if "3*" in found.subject else 0)


@pytest.mark.parametrize(("layout", "sides", "drives"), [("12*mirror2", 2, 24), ("6*raidz2x6", 1, 36)])
def test_a_scrub_reads_all_that_is_allocated_on_all_drives(layout: str, sides: int, drives: int) -> None:
    """Of many vdevs four are simulated, which stand for the others."""
    stated = {"layout": layout, "fill": 0.5, "drive_size": "4TB", "operation": "scrub"}
    scenario = Scenario.from_dict({**stated, "history": "media-server", "load": []})
    found = predict(scenario)
    assert found.read_bytes == pytest.approx(sides * case_of(scenario).alloc, rel=0.04)
    assert [leaf.count for leaf in found.leaves] == [drives]
    assert sum(phase.read_bytes for phase in found.phases) == pytest.approx(found.read_bytes, rel=0.01)
    assert found.io_count > 0.9 * found.read_bytes / (1 << 20)


def test_a_resilver_reads_metadata_on_all_vdevs() -> None:
    stated = {"fill": 0.5, "drive_size": "4TB", "history": "small-files", "load": []}
    read = {vdevs: predict(Scenario.from_dict({"layout": f"{vdevs}*mirror2", **stated})) for vdevs in (4, 16)}
    counts = {vdevs: {leaf.role: leaf.count for leaf in each.leaves} for vdevs, each in read.items()}
    assert [counts[vdevs]["other vdev"] for vdevs in (4, 16)] == [6, 30]
    extra = {vdevs: each.read_bytes - each.resilvered_bytes for vdevs, each in read.items()}
    assert extra[16] == pytest.approx(4.0 * extra[4], rel=0.35)


@pytest.mark.parametrize(("layout", "operation"), [("12*mirror2", "remove"), ("6*raidz1x4", "expand")])
def test_what_is_copied_by_address_is_read_once_however_many_vdevs_there_are(
    layout: str, operation: str
) -> None:
    stated = {"layout": layout, "fill": 0.3, "drive_size": "2TB", "operation": operation, "load": []}
    scenario = Scenario.from_dict({**stated, "history": "media-server"})
    found = predict(scenario)
    sides = 2 if operation == "remove" else 1  # each side of a mirror is copied to one of another
    of_one = sides * case_of(scenario).alloc / int(layout.partition("*")[0])
    assert found.read_bytes == pytest.approx(of_one, rel=0.1)
    assert found.written_bytes == pytest.approx(of_one, rel=0.1)
