"""Timelines and decisions as people get them: quantiles, JSON, frames, pictures, plans in TOML, commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zsim
from tests.planning.timeline.telling import HOUR, KnownPasses, hours, tell
from zsim.base.errors import InputError
from zsim.base.model_data import models_directory
from zsim.cli.main import main
from zsim.planning.timeline.decisions import decide
from zsim.planning.timeline.passes import WORLDS, PassTimes, in_worlds, quantiles
from zsim.planning.timeline.plan import Plan
from zsim.planning.timeline.procedures import procedure, procedure_names
from zsim.planning.timeline.redundancy import Level, seconds_at
from zsim.planning.timeline.wording import bar, clock
from zsim.prediction.answer.drawing import DARK_GROUND
from zsim.prediction.answer.records import Quantiles

POOL = {"layout": "raidz2x6", "fill": 0.6, "drive_size": "8TB", "recordsize": "128K"}
TOML = """
title = "a drive fails, another one at 40 %"
spares = 1
churn = "50G"

[scenario]
layout = "raidz2x6"
release = "openzfs-2.2"

[[events]]
do = "fail"
drive = 0

[[events]]
do = "fail"
at = "40%"
drive = 1

[[events]]
do = "set"
at = "5h"
set = { load = "random-read,rate=50,size=64K" }
"""


class WidePasses(KnownPasses):
    """Passes that take 10 h in the middle world, 5 and 20 at its sides."""

    def _of(self, hours: float) -> PassTimes:
        three = Quantiles(p10=hours / 2 * HOUR, p50=hours * HOUR, p90=hours * 2 * HOUR)
        return PassTimes(in_worlds(three), read_bytes=1000, written_bytes=100, scrub=0.5)


def told(events: list[dict[str, Any]], **plan: Any) -> zsim.planning.timeline.result.Timeline:  # type: ignore[name-defined]
    scenario = {**POOL, "release": "openzfs-2.2"}
    return zsim.timeline({"scenario": scenario, "events": events, **plan}, passes=WidePasses())


# --- worlds


def test_worlds_have_the_quantiles_of_the_prediction() -> None:
    found = in_worlds(Quantiles(p10=3.0, p50=10.0, p90=90.0))
    assert quantiles(found) == pytest.approx((3.0, 10.0, 90.0))
    assert (np.diff(found) > 0).all()
    assert (in_worlds(Quantiles(p50=7.0)) == 7.0).all()


def test_share_and_time_are_each_others_inverse() -> None:
    curve = (np.array([0.0, 0.2, 0.6, 1.0]), np.array([0.0, 0.0, 0.3, 1.0]))
    times = PassTimes(np.full(WORLDS, 10.0), curve)
    for share in (0.01, 0.3, 0.7, 0.99, 1.0):
        assert times.done(times.gone(share)) == pytest.approx(share)
    assert times.done(0.1) == 0.0


def test_one_pass_takes_what_is_predicted() -> None:
    prediction = zsim.predict(zsim.Scenario(**POOL, old_drive="online"))
    found = zsim.timeline({"scenario": POOL, "events": [{"do": "replace", "drive": 0}]})
    answer = prediction.resilver_s
    expected = {"p10": answer.p10, "p50": answer.p50, "p90": answer.p90}
    assert found.whole_s == pytest.approx(expected)
    assert found.passes[0].ends_s == pytest.approx(expected)
    assert found.read_bytes == prediction.read_bytes


def test_passes_of_a_story_are_slow_in_the_same_worlds() -> None:
    found = told([{"do": "replace", "drive": 0}, {"do": "replace", "drive": 1, "when": "quiet"}])
    assert found.whole_s == pytest.approx({"p10": 10 * HOUR, "p50": 20 * HOUR, "p90": 40 * HOUR}, rel=1e-3)


# --- the answer


def test_the_json_is_as_documented() -> None:
    found = told([{"do": "fail", "drive": 0}, {"do": "replace", "after": "2h", "drive": 0}])
    data = json.loads(found.to_json())
    assert list(data) == [
        "schema_version", "title", "stated", "passes", "whole_s", "over_s", "redundancy", "redone_bytes",
        "story", "notes", "full", "worlds", "provenance",
    ]  # fmt: skip
    assert list(data["passes"][0]) == [
        "vdev", "kind", "begins_s", "ends_s", "cause", "completed", "read_bytes", "written_bytes",
    ]  # fmt: skip
    assert list(data["worlds"]) == ["whole_s", "over_s", "redone_bytes", "exposed_s"]
    assert data["passes"][0]["ends_s"] == pytest.approx({"p10": 7 * HOUR, "p50": 12 * HOUR, "p90": 22 * HOUR})
    end = pytest.approx(12 * HOUR)
    assert data["redundancy"] == [
        {"vdev": "raidz2-0", "from_s": 0.0, "to_s": end, "left": 1},
        {"vdev": "raidz2-0", "from_s": end, "to_s": end, "left": 2},
    ]
    assert data["provenance"]["plan"]["events"][1]["do"] == "replace"
    assert "timeline/rules" in data["provenance"]["models"]


def test_a_frame_of_the_passes() -> None:
    pytest.importorskip("pandas")
    frame = told([{"do": "replace", "drive": 0}]).to_frame()
    assert frame["ends_p90_s"][0] == pytest.approx(20 * HOUR)
    assert frame["read_bytes"][0] == 1000


def test_it_reads_as_people_say_it() -> None:
    second = {"do": "fail", "drive": 1, "at": "50%"}
    text = " ".join(str(told([{"do": "fail", "drive": 0}, {"do": "replace", "drive": 0}, second])).split())
    assert "raidz2-0: no redundancy from 05:00 to 10:00 (5 h)." in text
    assert "raidz2-0: one more drive may fail from 10:00 on." in text
    assert "A drive is missing at the end: say what replaces it (--replace-after 12h, or --spares 1)." in text
    lost = str(told([{"do": "fail", "drives": [0, 1, 2]}]))
    assert "raidz2-0: data lost at 00:00." in lost


def test_events_that_never_happen_are_told() -> None:
    found = told([{"do": "replace", "drive": 0, "when": "rebuild ends"}])
    assert found.notes == ("1 of 1 events never happen: what they wait for does not",)


def test_pictures_and_pages(tmp_path: Path) -> None:
    from zsim.planning.timeline.gantt import save_page

    found = told([{"do": "fail", "drive": 0}, {"do": "replace", "drive": 0}])
    found.save_plot(tmp_path / "a.svg")
    found.save_plot(tmp_path / "dark.svg", dark=True)
    assert DARK_GROUND in (tmp_path / "dark.svg").read_text()
    save_page(found, tmp_path / "a.html")
    assert "raidz2-0 resilver" in (tmp_path / "a.html").read_text()
    assert (tmp_path / "a.svg").read_text().startswith("<?xml")
    assert "<table" in found._repr_html_()


def test_bars_and_clocks() -> None:
    row = told([{"do": "replace", "drive": 0}]).passes[0]
    assert bar(row, 20 * HOUR, 20) == "█" * 10 + "░" * 10
    assert clock(86400 + 3660) == "1d 01:01"


def test_time_at_each_redundancy_is_that_of_the_worst_vdev() -> None:
    levels = [Level("a", 0, 10, 1), Level("a", 10, 20, 2), Level("b", 0, 5, 2), Level("b", 5, 20, 0)]
    assert seconds_at(levels, 2) == {1: 5, 0: 15}


# --- plans


def test_a_plan_in_toml(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(TOML)
    plan = Plan.read(tmp_path / "plan.toml")
    assert plan.events[1].at is not None
    assert plan.events[1].at.share == 0.4
    found = zsim.timeline(tmp_path / "plan.toml", passes=WidePasses())
    assert found.title == "a drive fails, another one at 40 %"
    assert any("load" in text for _, text in found.story)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"do": "explode"}, "do 'explode' cannot be used: it is one of fail, replace"),
        ({"do": "fail"}, r"events\[0\]\.drive is missing: fail is about a drive"),
        ({"do": "fail", "drive": 6}, "raidz2x6 has 6 drives"),
        ({"do": "fail", "drive": 0, "vdev": 1}, "the pool has 1 top-level vdevs"),
        ({"do": "fail", "drive": 0, "at": "1h", "after": "2h"}, "it excludes at"),
        ({"do": "set"}, "it says what changes"),
        (
            {"do": "fail", "drive": 0, "when": "later"},
            "when 'later' cannot be used: it is one of quiet, whole",
        ),
        ({"do": "fail", "drive": 0, "at": "140%"}, "at '140%'"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Plan.from_dict({"scenario": POOL, "events": [changes]})


def test_each_drive_of_a_vdev_a_few_at_a_time() -> None:
    events = [{"do": "replace", "each": True}]
    for at_once, count in ((1, 6), (2, 3), (4, 2)):
        pool = tell(events, at_once=at_once)
        assert hours(pool) == [(10 * number, 10 * number + 10) for number in range(count)]


# --- procedures


def test_the_procedures_ship_with_titles() -> None:
    known = sorted(path.stem for path in (models_directory() / "timeline" / "procedures").glob("*.toml"))
    assert list(procedure_names()) == known
    assert len(known) >= 10
    assert all(len(procedure(name).title) > 20 for name in known)
    with pytest.raises(InputError, match="try grow-vdev"):
        procedure("grow-vdevs")


@pytest.mark.parametrize("name", procedure_names())
def test_every_procedure_is_told(name: str) -> None:
    found = zsim.timeline(name)
    assert found.whole_s["p50"] is not None
    assert found.passes


# --- decisions


def running(**changes: Any) -> dict[str, Any]:
    scenario = {**POOL, "release": "openzfs-2.2"}
    return {"scenario": scenario, "running": {"done": "40%", "drives": [0], **changes}}


def test_wait_or_restart() -> None:
    found = decide(running(waiting=[1]))
    assert [each.name for each in found.alternatives] == ["wait", "restart now (zpool resilver)"]
    wait, restart = found.alternatives
    assert np.median(wait.found.exposed[0]) < np.median(restart.found.exposed[0])
    assert restart.found.redone_bytes > wait.found.redone_bytes == 0
    assert np.median(restart.found.whole) < np.median(wait.found.whole)
    assert "longer without redundancy" in restart.reason
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert list(data) == ["schema_version", "stated", "alternatives", "notes", "provenance"]
    assert repr(found).startswith("<Decision: wait: whole after ")


def test_questions_about_what_runs() -> None:
    names = {each.name for each in decide(running(old_drive="online"), reboot=True).alternatives}
    assert names == {"reboot now", "reboot when the pass has ended"}
    best = decide(running(done="2%", old_drive="online"), replace_too=1).best
    assert best.name == "replace it now and run zpool resilver"
    loaded = running()
    loaded["scenario"]["load"] = "random-read,rate=50,size=64K"
    assert decide(loaded).best.name == "stop the load now"


def test_rebuild_or_resilver() -> None:
    events = [{"do": "fail", "drive": 0}, {"do": "replace", "drive": 0}]
    found = decide({"scenario": {"layout": "mirror2", "drive_size": "8TB"}, "events": events, "zed": False})
    assert {each.name for each in found.alternatives} == {
        "healing resilver",
        "sequential rebuild, then a scrub",
    }


def test_a_slow_drive_is_taken_offline_or_kept() -> None:
    """The end is put to where predict puts it; a vdev without redundancy keeps the drive."""
    slow = {**POOL, "layout": "raidz3x8", "release": "openzfs-2.3", "slow": "3:x5"}
    found = decide({"scenario": slow, "running": {"done": 0.0}})
    offline, wait = found.alternatives
    assert (offline.name, wait.name) == ("take drive 3 offline until the pass has ended", "wait")
    answer = zsim.predict(zsim.Scenario(**slow))
    assert wait.found.whole_s["p50"] == pytest.approx(answer.resilver_s.p50, rel=0.01)
    assert offline.found.whole_s["p50"] == pytest.approx(answer.sick[0].offline_s, rel=0.01)
    assert 1 in offline.found.exposed
    assert 1 not in wait.found.exposed
    assert "take drive 3 offline" in str(found)
    with pytest.raises(InputError, match="nothing else is planned"):
        decide({"scenario": {**slow, "layout": "raidz1x4"}, "running": {"done": "40%"}})


def test_alternatives_do_the_same_in_the_end() -> None:
    sick = {**POOL, "release": "openzfs-2.2", "slow": "3:x5", "load": "random-read,rate=50,size=64K"}
    found = decide({"scenario": sick, "running": {"done": "40%"}}, reboot=True)
    assert {each.name for each in found.alternatives} == {"reboot now", "reboot when the pass has ended"}


def test_questions_without_an_answer() -> None:
    with pytest.raises(InputError, match="no repair is running or waiting"):
        decide({"scenario": POOL})
    with pytest.raises(InputError, match="shows no running pass whose progress is known"):
        decide({"scenario": POOL}, reboot=True)
    with pytest.raises(InputError, match="one question at a time"):
        decide(running(), reboot=True, replace_too=1)


# --- commands


def test_the_command_tells_a_story(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    flags = (
        "--layout raidz2x6 --drive-size 8TB --fail 0 --replace-after 2h --second-fails-at 40% --reboot-at 5h"
    )
    report = tmp_path / "a.html"
    assert main(["timeline", *flags.split(), "--json", "--report", str(report)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [each["kind"] for each in data["passes"]] == ["resilver", "resilver"]
    assert data["redone_bytes"] > 0
    assert min(each["left"] for each in data["redundancy"]) == 0
    assert report.read_text().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("timeline", "a timeline needs at least one"),
        ("timeline --fail 0", "the pool is not described"),
        ("timeline --layout raidz2x6 --fail 0 --replace 2", "use --fail or --replace-drives"),
        ("timeline --layout raidz2x6 --second-fails-at 3h", "no first drive fails"),
        ("timeline --layout raidz2x6 --fail x", "write --fail 0 or --fail 1:3"),
        ("timeline --procedure replace-one plan.toml", "give one of the two"),
        ("decide --layout raidz2x6", "no repair is running or waiting"),
    ],
)
def test_bad_command_lines(line: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 2
    assert words in capsys.readouterr().err


def test_schema_and_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["timeline", "schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "Plan"
    assert main(["timeline", "--procedure", "list"]) == 0
    assert "grow-vdev" in capsys.readouterr().out
    assert main(["timeline", "--procedure", "list", "--json"]) == 0
    procedures = json.loads(capsys.readouterr().out)["procedures"]
    assert {"name": "replace-one", "title": procedure("replace-one").title} in procedures
    assert [each["name"] for each in procedures] == list(procedure_names())


def test_a_procedure_is_taken_where_a_plan_is_expected(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["timeline", "grow"]) == 2
    assert "try grow-vdev" in capsys.readouterr().err
    assert main(["timeline", "no-such.toml"]) == 2
    assert "there is no such file" in capsys.readouterr().err


def test_the_state_of_a_pasted_status(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    status = Path(__file__).parents[2] / "observe" / "fixtures" / "status-2.3.json"
    assert main(["decide", str(status), "--reboot"]) == 0
    assert "reboot when the pass has ended" in capsys.readouterr().out


AWAITING = """  pool: tank
 state: DEGRADED
  scan: resilver in progress since Sat Nov 21 10:12:33 2026
\t21.9T / 33.1T scanned at 1.02G/s, 9.93T / 33.1T issued at 471M/s
\t1.62T resilvered, 30.00% done, 14:19:33 to go
config:

\tNAME                 STATE     READ WRITE CKSUM
\ttank                 DEGRADED     0     0     0
\t  raidz2-0           DEGRADED     0     0     0
\t    replacing-0      DEGRADED     0     0     0
\t      1234567890     UNAVAIL      0     0     0  was /dev/sda1
\t      sdg            ONLINE       0     0     0  (resilvering)
\t    replacing-1      DEGRADED     0     0     0
\t      1234567891     UNAVAIL      0     0     0  was /dev/sdb1
\t      sdh            ONLINE       0     0     0  (awaiting resilver)
\t    sdc              ONLINE       0     0     0
\t    sdd              ONLINE       0     0     0
\t    sde              ONLINE       0     0     0
\t    sdf              ONLINE       0     0     0

errors: No known data errors
"""


def test_a_status_tells_that_a_drive_awaits_its_resilver(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = tmp_path / "status.txt"
    status.write_text(AWAITING)
    assert main(["decide", str(status), "--drive-size", "12TB", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["alternatives"]
    assert {each["alternative"] for each in found} == {"wait", "restart now (zpool resilver)"}
    # Two drives are missing until the first pass has ended: nothing else may fail.
    assert all(each["exposed_s"]["0"]["p50"] > 3600 for each in found)


def test_what_is_left_is_what_eta_says_of_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = tmp_path / "status.txt"
    status.write_text(AWAITING)
    assert main(["decide", str(status), "--drive-size", "12TB", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["alternatives"]
    assert main(["eta", str(status), "--drive-size", "12TB", "--json"]) == 0
    left = json.loads(capsys.readouterr().out)["remaining_s"]
    # Nothing else may fail until the pass that runs is over.
    waits = next(each for each in found if each["alternative"] == "wait")["exposed_s"]["0"]
    for name in ("p10", "p50", "p90"):
        assert waits[name] == pytest.approx(left[name], rel=0.01)


def test_a_status_that_leaves_nothing_to_choose_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = tmp_path / "status.txt"
    status.write_text(AWAITING.replace("awaiting resilver", "resilvering"))
    assert main(["decide", str(status), "--drive-size", "12TB"]) == 2
    said = capsys.readouterr().err
    assert "zsim: a choice cannot be made here: the resilver is running and nothing else is planned" in said
    assert "all you can do is wait; " in said
    assert "--reboot" in said
    healed = AWAITING.replace("9.93T / 33.1T issued", "20G / 60.1G issued").replace("21.9T", "33.1T")
    # A drive that was away, not one that is replaced.
    before, _, pair = healed.partition("\t    replacing-0")
    healed = before + "\t    sdg" + pair.partition("\t      sdg")[2]
    status.write_text(healed.replace("1.62T", "3.3G"))
    assert main(["decide", str(status), "--drive-size", "12TB", "--reboot"]) == 2
    assert "does not repair a whole drive" in capsys.readouterr().err
