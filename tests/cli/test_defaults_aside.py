"""A user's own defaults: what stands on the command line, or in what is pasted, says it better."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_common_options import STATUS
from zsim.base.errors import InputError
from zsim.cli.main import main
from zsim.scenario.files import put_aside
from zsim.scenario.model import Scenario

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def product(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[scenario]\nproduct = "truenas-25.10"\n')
    monkeypatch.setenv("ZSIM_CONFIG", str(path))


@pytest.mark.usefixtures("product")
@pytest.mark.parametrize("flags", [["--release", "openzfs-2.2"], ["--set", "release=openzfs-2.2"]])
def test_a_release_on_the_command_line_puts_a_default_product_aside(
    flags: list[str], capsys: Capture
) -> None:
    assert main(["-q", "scenario", "show", "--layout", "raidz2x6", *flags]) == 0
    shown = capsys.readouterr().out
    assert 'release = "openzfs-2.2"' in shown
    assert "product = " not in shown


@pytest.mark.usefixtures("product")
def test_both_on_the_command_line_still_contradict_each_other(capsys: Capture) -> None:
    flags = ["--product", "truenas-25.10", "--release", "openzfs-2.2"]
    assert main(["-q", "scenario", "show", "--layout", "raidz2x6", *flags]) == 2
    assert "ships openzfs-2.3.4; leave one of the two out" in capsys.readouterr().err


@pytest.mark.usefixtures("product")
def test_a_status_of_another_release_puts_a_default_product_aside(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "status.txt"
    path.write_text(STATUS)
    assert main(["-q", "eta", str(path)]) == 0
    assert "openzfs-0.8.6" in capsys.readouterr().out


def test_a_product_of_the_hours_begins_when_its_status_says(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "status.txt"
    path.write_text(
        STATUS.replace(
            "scanned at 205M/s, 2.1T issued at 88M/s, 5.0T total",
            "/ 5.0T scanned, 2.1T / 5.0T issued at 88M/s",
        )
    )
    assert main(["-q", "eta", str(path), "--product", "truenas-25.10"]) == 0
    assert "TrueNAS 25.10" in capsys.readouterr().out


def test_a_release_of_what_the_product_ships_leaves_it() -> None:
    told: dict[str, object] = {"layout": "mirror2", "product": "freebsd-14.3"}
    assert put_aside(told, {"release": "2.2.7"}) == told
    assert put_aside(told, {"release": "openzfs-2.3"}) == {"layout": "mirror2"}
    assert put_aside(told, {"release": ["2.2.7", "openzfs-2.3"]}) == {"layout": "mirror2"}
    assert put_aside(told, {"fill": 0.5}) == told
    base = Scenario.from_dict(told)
    assert base.replace(release="openzfs-2.3").product is None
    assert base.with_overrides(["release=openzfs-2.3"]).product is None
    with pytest.raises(InputError, match="ships"):
        Scenario.from_dict(told | {"release": "openzfs-2.3"})
