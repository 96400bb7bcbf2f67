"""What is said of sick drives: the pace, the errors, what taking one offline would bring."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import sample_prediction
from zsim.prediction.answer.records import SickDrive
from zsim.prediction.answer.sick_wording import sick_sentences
from zsim.prediction.runs.sick_drives import WORTH_SAYING, sick_advice

HOUR = 3600.0


def said(operation: str = "resilver", **changes: Any) -> tuple[str, ...]:
    known = {"drive": 3, "name": "generic-4tb, 3 times slower", "utilisation": 0.9, "sets_pace": True}
    sick = SickDrive.model_validate({**known, "sound_s": 10 * HOUR, **changes})
    return sick_sentences(sample_prediction().model_copy(update={"sick": (sick,), "operation": operation}))


def test_nothing_is_said_of_sound_drives() -> None:
    assert sick_sentences(sample_prediction()) == ()


def test_the_drive_that_sets_the_pace_is_named_with_the_time_without_it() -> None:
    first, second = said(operation="scrub", offline_s=8 * HOUR, left=1)
    assert first.startswith("Drive 3 (generic-4tb, 3 times slower) sets the pace")
    assert first.endswith("the scrub would take 10 h.")
    assert second == "With it taken offline: 8 h; then the vdev can lose 1 more."


def test_a_vdev_that_is_left_without_redundancy_is_said_so() -> None:
    assert said(offline_s=8 * HOUR, left=0)[-1] == (
        "With it taken offline: 8 h; then the vdev has no redundancy until it is replaced and resilvered too."
    )
    assert said()[-1] == "It cannot be taken offline: its vdev has no redundancy to spare."


def test_a_drive_that_holds_nothing_up_need_not_go() -> None:
    assert said(sets_pace=False, offline_s=8 * HOUR) == (
        "Drive 3 (generic-4tb, 3 times slower) does not slow the scan down.",
    )


def test_a_drive_that_sits_out_is_not_told_to_be_taken_offline() -> None:
    assert said(sits_out=True, offline_s=8 * HOUR) == (
        "Drive 3 (generic-4tb, 3 times slower) sits out: it is written, but not read.",
    )
    assert len(said(sits_out=True)) == 1


@pytest.mark.parametrize("faulted_s", [None, 120.0, 0.0])
def test_errors_come_first_with_their_time_and_when_zed_faults_the_drive(faulted_s: float | None) -> None:
    """Ten errors in ten minutes, zed's default for I/O errors."""
    by = "ZED: 10 I/O errors in 10 min"
    lost = {"errors": 12, "error_s": 7.0, "lost_s": 84.0, "faulted_s": faulted_s, "faulted_by": by}
    first, *rest = said(**lost, left=2, sets_pace=False)
    assert first.startswith("12 reads of drive 3 fail, each after 7 s: ")
    assert ("It is faulted" in first) is (faulted_s is not None)
    if faulted_s is not None:
        assert first.endswith(f"({by}); from then on the vdev can lose 2 more.")
    assert rest == ["Drive 3 (generic-4tb, 3 times slower) does not slow the scan down."]
    assert not said(errors=0, lost_s=84.0)[0].startswith("0 reads")


def advised(middle_s: float = 10 * HOUR, **changes: Any) -> list[tuple[str, float | None, str]]:
    known = {"drive": 3, "name": "", "utilisation": 0.9, "sets_pace": True, "sound_s": 9 * HOUR}
    sick = SickDrive.model_validate({**known, **changes})
    return [(each.action, each.saves_s, each.why) for each in sick_advice((sick,), middle_s)]


@pytest.mark.parametrize(
    ("left", "words"),
    [(0, "no redundancy is left"), (1, "1 of redundancy is left"), (2, "2 of redundancy are left")],
)
def test_taking_a_drive_offline_is_advised_where_it_saves_enough(left: int, words: str) -> None:
    [(action, saves_s, why)] = advised(offline_s=7 * HOUR, left=left)
    assert action == "take drive 3 offline"
    assert saves_s == pytest.approx(3 * HOUR)
    assert words in why
    little = 10 * HOUR * (1 - 0.9 * WORTH_SAYING)
    assert advised(offline_s=little, left=left) == []
    assert advised(offline_s=11 * HOUR, left=left) == []


def test_a_drive_with_bad_sectors_that_cannot_go_is_copied_first() -> None:
    """With no redundancy left each bad sector is read again and again, and what it held is lost."""
    lost = {"errors": 40, "lost_s": HOUR, "sound_s": 9 * HOUR}
    [(action, saves_s, why)] = advised(**lost)
    assert action == "do not read drive 3 block by block"
    assert saves_s == pytest.approx(HOUR)
    assert "ddrescue" in why
    assert advised(**{**lost, "lost_s": 0.9 * WORTH_SAYING * 10 * HOUR}) == []
    assert advised(**{**lost, "errors": 0}) == []
    # Where it can be taken offline but that brings nothing, nothing is advised.
    assert advised(**lost, offline_s=10 * HOUR) == []
