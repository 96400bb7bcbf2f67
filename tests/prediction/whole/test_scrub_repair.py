"""A scrub that finds a drive overwritten: everything is read, that drive is written in place."""

from __future__ import annotations

from typing import Any

import pytest

from zsim.base.errors import InputError
from zsim.case.resolve import resolve
from zsim.prediction.api import predict
from zsim.scenario.model import Scenario

FIELDS: dict[str, Any] = {
    "layout": "raidz1x4",
    "fill": 0.3,
    "drive_size": "1TB",
    "drive": "generic-7200rpm-cmr",
    "release": "zol-0.6.5",
    "history": "write-once-archive",
    "operation": "scrub",
    "write_cache": True,
    "load": [],
}


def test_the_overwritten_drive_is_read_and_written_and_sets_the_pace() -> None:
    plain = predict(Scenario.from_dict(FIELDS))
    repaired = predict(Scenario.from_dict(FIELDS | {"old_drive": "overwritten"}))
    rows = {leaf.role: leaf for leaf in repaired.leaves}
    assert rows["source"].count == 3
    assert rows["target"].count == 1
    assert rows["target"].write_rate == pytest.approx(rows["target"].read_rate, rel=0.02)
    assert rows["target"].read_rate == pytest.approx(rows["source"].read_rate, rel=0.02)
    assert rows["source"].write_rate < 0.01 * rows["target"].write_rate
    assert repaired.resilver_s.p50 > 1.5 * plain.resilver_s.p50
    assert "overwritten" in repaired.bottleneck.resource


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"operation": "resilver"}, "only a scrub"),
        ({"layout": "mirror2"}, "not simulated"),
        ({"old_drive": "online"}, "replaces nothing"),
        ({"replace": 1}, "replaces nothing"),
    ],
)
def test_what_does_not_go_together_is_refused(changes: dict[str, Any], match: str) -> None:
    with pytest.raises(InputError, match=match):
        resolve(Scenario.from_dict(FIELDS | {"old_drive": "overwritten"} | changes))
