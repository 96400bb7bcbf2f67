"""Full track geometry against DiskSim's answers, and what follows from it."""

import json
from pathlib import Path

import numpy as np
import pytest

from zsim.base.errors import InputError
from zsim.base.model_data import validation_directory
from zsim.drives.catalogue import load_drive
from zsim.drives.disksim.parametric import fit_parametric
from zsim.drives.disksim.track_files import load_track_drive, track_drive
from zsim.drives.disksim.track_queue import POLICIES, run_queue
from zsim.drives.disksim.tracks import locate, seek_seconds, serve, serve_each
from zsim.engine.single_drive import run_alone
from zsim.validation.formats import disksim
from zsim.validation.frame import Options

FOLDER = validation_directory() / "disksim-vectors"
DRIVES = ("atlas10k", "barracuda", "cheetah4LP", "ibm18es")
SETS = tuple(case.key for case in disksim.discover(FOLDER))


def drive(name):
    return load_track_drive(FOLDER / "drives" / f"{name}.json")


def data(name="barracuda"):
    return json.loads((FOLDER / "drives" / f"{name}.json").read_text())


@pytest.mark.parametrize("name", SETS)
def test_a_set_agrees_with_disksim_within_the_stated_tolerances(name):
    case = next(case for case in disksim.discover(FOLDER) if case.key == name)
    claims = {claim.claim: claim for claim in disksim.run(case, Options())}
    assert {"mean", "demerit", "p99_difference"} <= set(claims)
    assert ("elapsed" in claims) == ("sptf" in name)
    assert {claim.verdict for claim in claims.values()} == {"pass", "info"}


@pytest.mark.parametrize("name", SETS)
def test_a_model_that_is_wrong_by_one_percent_fails(name, monkeypatch):
    right = disksim.predicted_services
    monkeypatch.setattr(disksim, "predicted_services", lambda *given: 1.01 * right(*given))
    case = next(case for case in disksim.discover(FOLDER) if case.key == name)
    verdicts = {claim.claim: claim.verdict for claim in disksim.run(case, Options())}
    assert verdicts["mean"] == verdicts["demerit"] == "fail"


@pytest.mark.parametrize("name", DRIVES)
def test_every_lbn_has_a_place_of_its_own_and_neighbours_are_adjacent(name):
    made = drive(name)
    random = np.random.default_rng(3)
    starts = random.integers(0, made.sectors - 3000, 20)
    places = set()
    for start in starts:
        for lbn in range(start, start + 3000):
            cylinder, head, sector, _, sectors, left = locate(made.geometry, lbn)
            assert 0 <= sector < sectors
            assert 0 <= head < made.geometry.surfaces
            assert left <= sectors - sector
            places.add((lbn, cylinder, head, sector))
    assert len({place[1:] for place in places}) == len({place[0] for place in places})


@pytest.mark.parametrize("name", DRIVES)
def test_the_last_lbn_lies_on_the_last_cylinders(name):
    made = drive(name)
    assert locate(made.geometry, made.sectors - 1)[0] < made.cylinders
    reserved = int(made.geometry.zones[0, 4])
    assert locate(made.geometry, 0)[0] == reserved // (
        made.geometry.surfaces * int(made.geometry.zones[0, 1])
    )


def test_seek_times_are_linear_between_points_and_beyond_the_last():
    geometry = drive("barracuda").geometry
    known, times = geometry.seek_cylinders, geometry.seek_seconds
    assert seek_seconds(geometry, 0) == 0.0
    assert seek_seconds(geometry, int(known[5])) == pytest.approx(times[5])
    slope = (times[-1] - times[-2]) / (known[-1] - known[-2])
    assert seek_seconds(geometry, int(known[-1]) + 10) == pytest.approx(times[-1] + 10 * slope)


def test_zero_latency_access_reads_a_track_in_one_revolution():
    plain = drive("ibm18es").geometry
    fast = plain._replace(zero_latency=1)
    lands_in_the_middle = 100.25 / 390
    cylinder, head, _, angle, _, _ = locate(plain, 0)
    slow = serve(plain, cylinder, head, angle + lands_in_the_middle, 0, 380, False)
    quick = serve(fast, cylinder, head, angle + lands_in_the_middle, 0, 380, False)
    assert quick[4] == pytest.approx(0.75 / 390 * plain.revolution)
    assert quick[5] == pytest.approx(plain.revolution)
    assert slow[4] + slow[5] > 1.6 * plain.revolution
    outside = serve(fast, cylinder, head, angle - 0.1, 0, 300, False)
    assert outside == serve(plain, cylinder, head, angle - 0.1, 0, 300, False)


@pytest.mark.parametrize("name", DRIVES)
@pytest.mark.parametrize("work", ["random", "sorted"])
@pytest.mark.parametrize("size", [8, 256])
def test_the_fitted_parametric_form_predicts_the_mean_service(name, work, size):
    made = drive(name)
    random = np.random.default_rng(11)
    requests = 2000
    if work == "random":
        lbns = random.integers(0, made.sectors - size, requests)
    else:
        lbns = int(0.3 * made.sectors) + np.cumsum(size + random.geometric(1 / 700, requests) - 1)
    exact = closed_loop(made, lbns, size)
    parameters = fit_parametric(made)
    lengths = np.full(requests, size * made.sector_bytes, dtype=np.int64)
    run = run_alone(parameters, lbns * made.sector_bytes, lengths, np.zeros(requests, dtype=bool))
    assert run.service.mean() - parameters.read_overhead_s == pytest.approx(exact, rel=0.05)


def queued(lbns, arrivals):
    """Order of service and completions [s] of reads of 8 sectors by shortest seek first."""
    made, count = drive("barracuda"), len(lbns)
    order, starts, completions = np.empty(count, dtype=np.int64), np.empty(count), np.empty(count)
    run_queue(
        made.geometry, POLICIES["sstf"], 0, False,
        np.array(lbns), np.full(count, 8), np.zeros(count, dtype=bool), np.array(arrivals),
        np.array([made.read_overhead_s, made.write_overhead_s]), order, starts, completions,
    )  # fmt: skip
    return order.tolist(), completions


@pytest.mark.parametrize("name", ["barracuda", "atlas10k"])
def test_within_half_a_cylinder_the_parametric_form_does_not_seek(name):
    """Tracks of all surfaces lie under one arm: half of what a cylinder holds is reached without a seek."""
    made = drive(name)
    sectors = sorted(made.geometry.zones[:, 1].tolist())
    cylinder = made.geometry.surfaces * made.sector_bytes
    found = 2 * fit_parametric(made).seekless_bytes
    assert sectors[0] * cylinder - 2 <= found <= sectors[-1] * cylinder


def test_a_request_that_comes_as_another_ends_is_chosen_from():
    _, alone = queued([100], [0.0])
    end = float(alone[0])
    far, near = 4_000_000, 120
    assert queued([100, far, near], [0.0, end / 2, end])[0] == [0, 2, 1]
    assert queued([100, far, near], [0.0, end / 2, np.nextafter(end, 1.0)])[0] == [0, 1, 2]


def closed_loop(made, lbns, size):
    """Mean service of reads, one outstanding, each after the drive's command overhead."""
    cylinder = head = 0
    now, total = 0.0, 0.0
    for lbn in lbns:
        now += made.read_overhead_s
        angle = now / made.geometry.revolution
        _, _, _, seek, wait, transfer, cylinder, head = serve(
            made.geometry, cylinder, head, angle, lbn, size, False
        )
        now, total = now + seek + wait + transfer, total + seek + wait + transfer
    return total / len(lbns)


def test_a_track_file_is_a_drive_model_like_any_other():
    made = load_drive(str(FOLDER / "drives" / "barracuda.json"))
    parameters = made.parameters()
    assert parameters == fit_parametric(drive("barracuda"))
    assert made.capacity_bytes == 4217670 * 512
    scaled = made.parameters(outer_rate=1.1, inner_ratio=0.9, seek=1.2)
    assert scaled.zone_rates[0] == pytest.approx(1.1 * parameters.zone_rates[0])
    assert scaled.zone_rates[-1] == pytest.approx(1.1 * 0.9 * parameters.zone_rates[-1])
    assert scaled.seek_long_e_s == pytest.approx(1.2 * parameters.seek_long_e_s)
    assert made.spread().outer_rate == 0.0


def test_compiled_and_plain_python_give_the_same():
    made = drive("atlas10k")
    out = np.empty((1, 6))
    one = np.array([5])
    serve_each(made.geometry, one, one * 0, one * 0.1, one * 1_000_003, one * 51, one > 0, out)
    plain = getattr(serve, "py_func", serve)(made.geometry, 5, 0, 0.5, 5_000_015, 255, True)
    assert out[0].tolist() == list(plain[:6])


@pytest.mark.parametrize(
    ("key", "value", "name"),
    [("rpm", 0, "rpm"), ("mapping", "sideways", "mapping"), ("zones", [], "zones"), ("surfaces", "x", "surf"),
     ("lbn_total", 12, "zones"), ("spares", None, "spares"), ("seek", {"form": "table"}, "form"),
     ("seek", {"form": "piecewise_linear", "points_cyl_ms": [[5, 1.0], [2, 2.0]]}, "points_cyl_ms"),
     ("head_switch_ms", float("nan"), "head_switch_ms")],
)  # fmt: skip
def test_a_drive_that_cannot_be_is_refused_with_the_field(key, value, name):
    wrong = data()
    wrong[key] = value
    with pytest.raises(InputError, match=name):
        track_drive(wrong, "x.json")


def test_a_file_that_is_no_drive_is_refused(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        load_track_drive(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(InputError, match="not JSON"):
        load_track_drive(tmp_path / "bad.json")


def copy_of_a_set(tmp_path: Path, name: str, keep: int | None = None) -> Path:
    (tmp_path / "drives").mkdir()
    (tmp_path / "vectors").mkdir()
    source = FOLDER / "vectors" / f"{name}.csv.zst"
    (tmp_path / "vectors" / source.name).write_bytes(source.read_bytes()[:keep])
    json_file = disksim.drive_file(FOLDER, name)
    (tmp_path / "drives" / json_file.name).write_text(json_file.read_text())
    return tmp_path


def test_a_truncated_set_is_refused_by_name(tmp_path):
    folder = copy_of_a_set(tmp_path, "barracuda.qd1.mix", keep=4000)
    with pytest.raises(InputError, match=r"barracuda\.qd1\.mix"):
        disksim.run(disksim.discover(folder)[0], Options())


def test_a_set_without_its_drive_is_a_case_with_a_problem(tmp_path):
    folder = copy_of_a_set(tmp_path, "barracuda.qd1.mix")
    (folder / "drives" / "barracuda.json").unlink()
    assert "barracuda.json is missing" in disksim.discover(folder)[0].problem


@pytest.mark.parametrize(
    ("name", "expected"),
    [("x.qd1.rand4k_read", None), ("x.open.fcfs_host.r20", None), ("x.open.sptf.r60", (0, "sptf", False)),
     ("x.qd8.clook.rand", (8, "clook", False)), ("x.qd32.sptf.mix", (32, "sptf", False)), ("x.odd", None)],
)  # fmt: skip
def test_the_name_of_a_set_says_how_it_is_run(name, expected):
    assert disksim.discipline_of(name) == expected
