"""What zpool printed, where a command expects a scenario file."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from zsim.base.errors import InputError
from zsim.cli.given_files import fields_in

STATUS = """\
  pool: tank
 state: DEGRADED
  scan: scrub repaired 0B in 19:44:02 with 0 errors on Sun Nov  8 20:08:05 2026
config:

\tNAME          STATE     READ WRITE CKSUM
\ttank          DEGRADED     0     0     0
\t  raidz1-0    DEGRADED     0     0     0
\t    sda       ONLINE       0     0     0
\t    sdb       ONLINE       0     0     0
\t    1234567   UNAVAIL      0     0     0  was /dev/sdc1
\t    sdd       ONLINE       0     0     0

errors: No known data errors
"""
LIST = """\
NAME     SIZE  ALLOC   FREE  FRAG    CAP  DEDUP  HEALTH  ALTROOT
tank    29.1T  22.4T  6.7T    9%    77%  1.00x  DEGRADED  -
"""


def test_a_pasted_status_is_a_scenario(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pasted = tmp_path / "status.txt"
    pasted.write_text(STATUS + "\n" + LIST, encoding="utf-8")
    found = fields_in((str(pasted),))
    assert found["layout"] == "raidz1x4"
    assert found["alloc"] == 24629060462182
    assert found["old_drive"] == "missing"
    assert "NOT KNOWN: the record size" in capsys.readouterr().err


def test_of_what_is_stated_beside_a_status_nothing_is_called_unknown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pasted = tmp_path / "status.txt"
    pasted.write_text(STATUS, encoding="utf-8")
    fields_in((str(pasted),), ("drive_size",))
    told = capsys.readouterr().err
    assert "NOT KNOWN: how full the pool is and the record size" in told
    fields_in((str(pasted),), ("drive", "alloc", "recordsize"))
    assert "NOT KNOWN" not in capsys.readouterr().err


def test_outputs_in_several_files_are_one_pool(tmp_path: Path) -> None:
    (tmp_path / "status.txt").write_text(STATUS, encoding="utf-8")
    (tmp_path / "list.txt").write_text(LIST, encoding="utf-8")
    together = fields_in([str(tmp_path / "status.txt"), str(tmp_path / "list.txt")])
    (tmp_path / "both.txt").write_text(STATUS + "\n" + LIST, encoding="utf-8")
    assert together == fields_in([str(tmp_path / "both.txt")])


def test_standard_input_may_be_a_status_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(STATUS.encode())))
    assert fields_in(("-",))["layout"] == "raidz1x4"


def test_a_running_scan_is_pointed_to_eta(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    running = STATUS.replace(
        "scrub repaired 0B in 19:44:02 with 0 errors on Sun Nov  8 20:08:05 2026",
        "resilver in progress since Sun Nov 22 21:14:03 2026\n"
        "\t14.2T / 22.4T scanned at 2.31G/s, 3.81T / 22.4T issued at 634M/s\n"
        "\t471G resilvered, 17.0% done, 08:24:10 to go",
    )
    (tmp_path / "status.txt").write_text(running, encoding="utf-8")
    assert fields_in([str(tmp_path / "status.txt")])["evidence"]
    assert "a resilver runs on this pool: zsim eta" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["layout = raidz2x6", "NAME SIZE\nsda 4T\n", "#!/bin/sh\necho pool:\n"])
def test_what_is_neither_is_refused_as_toml(tmp_path: Path, text: str) -> None:
    (tmp_path / "case.txt").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="it is not TOML"):
        fields_in([str(tmp_path / "case.txt")])


def test_a_scenario_file_is_read_as_before(tmp_path: Path) -> None:
    (tmp_path / "case.toml").write_text('layout = "raidz2x6"\nmetaslabs = "free.csv"\n', encoding="utf-8")
    assert fields_in([str(tmp_path / "case.toml")]) == {
        "layout": "raidz2x6",
        "metaslabs": str(tmp_path / "free.csv"),
    }
