"""Answers that cannot be absurd: what physics and arithmetic demand of any scenario, through the public API.

A reduced number here; ``pytest -m slow tests/fuzz/test_physics.py`` has about 500 scenarios.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import zsim
from tests.fuzz.scenarios import scenario
from zsim.base.errors import InputError
from zsim.drives.catalogue import load_drive

FEW, MANY = (2, 25), range(300, 425)
"""Numbers of scenarios; each is asked in four variants."""
WORST_SERVICE_S = {"flash": 0.1, "cmr": 0.5, "smr": 20.0}
"""Longer takes no request of a healthy drive: its queue full, and what a shingled one cleans meanwhile."""
NOISE = 1.08
"""Two sampled answers with the same random numbers differ by chance by less."""
numbers = pytest.mark.parametrize(
    "number", [*FEW, *(pytest.param(each, marks=pytest.mark.slow) for each in MANY)]
)


def asked(fields: dict[str, Any]) -> zsim.Prediction | None:
    """Return an answer; None where it is refused in a sentence that gives a reason."""
    try:
        return zsim.predict(zsim.Scenario.from_dict(fields))
    except InputError as error:
        assert error.allowed
        assert str(error).endswith((".", "?"))
        return None


def single(number: int) -> dict[str, Any]:
    """Return a generated scenario without load, for properties that a load may hide."""
    fields = {key: value for key, value in scenario(number).items() if key != "load"}
    return {**fields, "fill": min(max(fields["fill"], 0.05), 0.6)}


def believe(found: zsim.Prediction, fields: dict[str, Any]) -> None:
    """Check what holds of one answer alone."""
    known = found.resilver_s
    assert known.p10 is not None
    assert known.p90 is not None
    assert 0.0 < known.p10 <= known.p50 <= known.p90 < math.inf
    assert all(0.0 <= leaf.utilisation <= 1.0 + 1e-9 for leaf in found.leaves)
    assert sum(found.breakdown.values()) == pytest.approx(known.p50, rel=1e-6)
    ends = [phase.start_s + phase.duration_s for phase in found.phases]
    assert max(ends) == pytest.approx(known.p50, rel=0.02)
    drive = load_drive(fields.get("drive", "generic-7200rpm-cmr"))
    parameters = drive.parameters()
    best = max(parameters.rates.max() if hasattr(parameters, "rates") else 0.0, 15e9)
    assert known.p50 >= (found.read_bytes + found.written_bytes) / (best * max(1, len(found.leaves)) * 256)
    kind = drive.recording if drive.recording in WORST_SERVICE_S else "cmr"
    assert known.p50 <= 3600.0 + found.io_count * WORST_SERVICE_S[kind]


@numbers
def test_an_answer_agrees_with_itself(number: int) -> None:
    fields = scenario(number)
    found = asked(fields)
    if found is not None:
        believe(found, fields)


@numbers
def test_more_data_takes_longer(number: int) -> None:
    fields = single(number)
    less, more = asked(fields), asked({**fields, "fill": 1.5 * fields["fill"]})
    if less is not None and more is not None:
        assert more.resilver_s.p50 * NOISE > less.resilver_s.p50
        assert more.read_bytes >= less.read_bytes


@numbers
def test_a_faster_drive_is_no_slower(number: int, tmp_path: Path) -> None:
    fields = {**single(number), "drive": "generic-7200rpm-cmr"}
    text = (Path(zsim.__file__).parents[1] / "models" / "drives" / "generic-7200rpm-cmr.toml").read_text()
    faster = tmp_path / "faster.toml"
    faster.write_text("\n".join(_quicker(line) for line in text.splitlines()))
    slow, quick = asked(fields), asked({**fields, "drive": str(faster)})
    if slow is not None and quick is not None:
        assert quick.resilver_s.p50 < slow.resilver_s.p50 * NOISE


def _quicker(line: str) -> str:
    """Return a line of a drive with its rates doubled and its seeks and rotation halved."""
    name = line.partition(" ")[0]
    factor = {
        "outer_rate": 2.0,
        "inner_rate": 2.0,
        "seek_track": 0.5,
        "seek_average": 0.5,
        "seek_full": 0.5,
    }.get(name)
    if factor is None:
        return line
    head, _, rest = line.partition("value = ")
    value, comma, tail = rest.partition(",")
    return f"{head}value = {factor * float(value):g}{comma}{tail}"


@pytest.mark.parametrize("layout", ["mirror2", pytest.param("raidz2x6", marks=pytest.mark.slow)])
def test_a_scrub_writes_nothing_and_reads_as_much(layout: str) -> None:
    fields = {"layout": layout, "fill": 0.4, "drive_size": "500GB"}
    scrub, resilver = asked({**fields, "operation": "scrub"}), asked(fields)
    assert scrub is not None
    assert resilver is not None
    # What each txg writes of the pool's own.
    assert scrub.written_bytes < 0.02 * scrub.read_bytes
    assert scrub.read_bytes >= resilver.read_bytes


def test_evidence_that_agrees_does_not_widen_the_interval() -> None:
    fields = {"layout": "mirror2", "fill": 0.5, "drive_size": "2TB"}
    plain = asked(fields)
    assert plain is not None
    told = asked({**fields, "evidence": f"resilver={plain.resilver_s.p50:.0f}s"})
    assert told is not None
    assert told.resilver_s.p10 is not None
    width = math.log(told.resilver_s.p90 / told.resilver_s.p10)
    assert width <= math.log(plain.resilver_s.p90 / plain.resilver_s.p10)


@pytest.mark.parametrize(
    "fields",
    [
        {"layout": "raidz2x6", "fill": 0.3, "recordsize": "1K", "drive_size": "100GB"},
        pytest.param(
            {"layout": "raidz2x6", "fill": 0.3, "recordsize": "16M", "drive_size": "1TB"}, marks=pytest.mark.slow
        ),
        {"layout": "mirror2", "alloc": "8K", "drive_size": "1TB"},
        pytest.param({"layout": "10*raidz2x12", "fill": 0.6, "drive_size": "24TB"}, marks=pytest.mark.slow),
        pytest.param({"layout": "draid2:8d:255c:4s", "fill": 0.5, "drive_size": "8TB"}, marks=pytest.mark.slow),
        pytest.param({"layout": "60*raidz2x11", "fill": 0.8, "drive_size": "24TB"}, marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_extremes_are_answered_or_refused(fields: dict[str, Any]) -> None:
    found = asked(fields)
    if found is not None:
        believe(found, fields)
