"""The bottleneck is the resource without which most time is saved, and the breakdown is of its drives."""

from __future__ import annotations

from typing import Any

import pytest

import zsim


def _answer(**stated: Any) -> zsim.Prediction:
    known = {"fill": 0.3, "history": "write-once-archive", "write_cache": True, "load": []}
    return zsim.predict(zsim.Scenario.from_dict({**known, **stated}))


@pytest.mark.parametrize(
    ("stated", "resource"),
    [
        ({"layout": "raidz1x4", "enclosure": "port-multiplier-cbs"}, "the shared link"),
        ({"layout": "mirror2", "new_drive": "st8000as0002", "drive_size": "8TB"}, "the new drive"),
        ({"layout": "raidz1x4", "operation": "scrub"}, "the old drives"),
        (
            {"layout": "raidz1x3", "drive": "generic-5400rpm-cmr", "new_drive": "870-evo-4tb"},
            "the old drives",
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
    answer = _answer(layout="mirror2", release="zol-0.7.13")
    assert answer.bottleneck.resource.startswith("no single one")
    assert "infinitely fast, would leave" in answer.bottleneck.why
