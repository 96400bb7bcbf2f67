"""What is said of the simulated pools beside the answer."""

from __future__ import annotations

import pytest

from zsim.prediction.api import case_of
from zsim.prediction.inputs.hardware import plane_model
from zsim.prediction.notes import of_slices
from zsim.scenario.model import Scenario


def slices(layout: str, **stated: object) -> str:
    case = case_of(Scenario.from_dict({"layout": layout, "fill": 0.5, **stated}))
    return of_slices(case, plane_model(case))


@pytest.mark.parametrize(
    ("layout", "rows"),
    [("draid2:8d:24c:1s", 10), ("draid2:8d:24c:2s", 5), ("draid2:8d:32c:1s", 10), ("draid1:4d:11c:1s", None)],
)
def test_a_rebuild_onto_one_spare_drive_at_a_time_says_for_how_many_rows(
    layout: str, rows: int | None
) -> None:
    said = f"every {16 * rows}M of what is repaired goes to one drive" if rows else ""
    assert slices(layout)[: len(said) or None] == said


def test_what_is_in_flight_decides() -> None:
    wider = {"tunables": {"zfs_rebuild_vdev_limit": 1 << 30}}
    assert "multiple of 10" in slices("draid2:8d:24c:1s")
    assert slices("draid2:8d:24c:1s", **wider) == ""


@pytest.mark.parametrize(
    "stated",
    [
        {"layout": "draid2:8d:24c:1s", "operation": "resilver"},
        {"layout": "draid2:8d:24c:1s", "target": "new-drive"},
        {"layout": "draid2:8d:24c"},
        {"layout": "mirror2", "operation": "rebuild"},
        {"layout": "raidz2x6"},
    ],
)
def test_nothing_else_has_slices_with_a_spare(stated: dict[str, object]) -> None:
    assert slices(**stated) == ""  # type: ignore[arg-type]
