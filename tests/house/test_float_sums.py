"""Sums of fractions are those of `math.fsum`: the built-in one rounds otherwise since Python 3.12."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import zsim
from zsim.cli.main import main

PACKAGE = str(Path(zsim.__file__).parent)
SMALL = ("--fill", "0.3", "--drive-size", "8GB")
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("eta", "docs/examples/zpool-status.txt"),
    ("drives", "show", "hd103uj"),
    ("drives", "show", "generic-nvme-ssd"),
    ("risk", "--layout", "raidz1x4", "--hours", "9", "--afr", "ST16000NM001G"),
    ("predict", "--layout", "2*raidz1x4", *SMALL, "--load", "random-read,rate=10,size=64K"),
    ("predict", "--layout", "raidz1x3", "--fill", "0.05", "--drive-size", "8GB", "--release", "zol-0.7.13"),
    ("timeline", "--layout", "raidz1x4", *SMALL, "--fail", "0"),
)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_command_sums_fractions_by_the_built_in(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plain, found = builtins.sum, []

    def watched(values: Iterable[Any], /, start: Any = 0) -> Any:
        held = list(values)
        frame = sys._getframe(1)
        # Two numbers are rounded once either way.
        if (
            len(held) > 2
            and any(isinstance(each, float) for each in held)
            and frame.f_code.co_filename.startswith(PACKAGE)
        ):
            found.append(f"{frame.f_code.co_filename}:{frame.f_lineno}")
        return plain(held, start)

    monkeypatch.chdir(Path(__file__).resolve().parents[2])
    monkeypatch.setattr(builtins, "sum", watched)
    assert main(list(words)) == 0
    assert found == []
    capsys.readouterr()
