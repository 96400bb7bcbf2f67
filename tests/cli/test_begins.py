"""When something starts whose loads, tunables or product go by the hour: as stated, else now."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest

from zsim.cli import begins
from zsim.cli.begins import with_begin
from zsim.cli.main import main
from zsim.prediction.answer import brief

NIGHT = "random-read,rate=20,hours=22:00-06:00"


@pytest.fixture(autouse=True)
def friday(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(begins, "now", lambda: datetime(2026, 11, 27, 17, 5, 31))


@pytest.mark.parametrize(
    ("fields", "needed"),
    [
        ({"load": [NIGHT]}, True),
        ({"load": "none;" + NIGHT}, True),
        ({"load": ["random-read,rate=20"]}, False),
        ({"load": [NIGHT], "begins": "mon 03:00"}, False),
        ({"product": "truenas-25.10"}, True),
        ({"product": "debian-12"}, False),
        ({"tunables": {"zfs_vdev_scrub_max_active": "8 22:00-06:00"}}, True),
        ({"load": ["no such load"]}, False),
        ({"layout": "raidz2x4,raidz2x6", "load": [NIGHT]}, True),
        ({"layout": "raidz2x6"}, False),
    ],
)
def test_it_starts_now_where_something_goes_by_the_hour(
    fields: dict[str, Any], needed: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    found = with_begin(fields)
    told = capsys.readouterr().err
    if needed:
        assert found == {**fields, "begins": "fri 17:05"}
        assert told == "zsim: it starts fri 17:05, now; --begins says another time.\n"
    else:
        assert found == fields
        assert told == ""


def test_a_command_answers_and_has_the_moment_among_what_is_stated(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`--begins` was asked for."""
    flags = ["--fill", "30%", "--drive-size", "200GB", "--load", NIGHT, "--json"]
    assert main(["predict", "mirror2", *flags]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["provenance"]["scenario"]["begins"] == "fri 17:05"


def test_a_moment_just_gone_is_none_of_next_week() -> None:
    friday = 4 * 86_400 + 17 * 3600 + 5 * 60
    assert brief._next(datetime(2026, 11, 27, 17, 5, 40), friday) == datetime(2026, 11, 27, 17, 5)
    assert brief._next(datetime(2026, 11, 27, 17, 16), friday) == datetime(2026, 12, 4, 17, 5)
    assert brief._next(datetime(2026, 11, 27, 16, 0), friday) == datetime(2026, 11, 27, 17, 5)
