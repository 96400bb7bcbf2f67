"""Further seeds until a row is known well enough: the same ones however the work is stopped or shared."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zsim.base.errors import InputError
from zsim.cli.main import main
from zsim.planning.store.keys import Shard
from zsim.planning.store.refine import MOST_SEEDS, half_width, mean_row, seeds_needed, with_seed
from zsim.planning.store.sqlite import Store
from zsim.planning.store.study import study
from zsim.planning.table import TableInterrupted

AXES: dict[str, Sequence[Any]] = {"width": [4, 6, 8], "parity": [1], "drive_size": ["4TB"]}
SPREAD = 0.05  # of ln(p50) between seeds
MEDIAN = {"raidz1x4": 4000.0, "raidz1x6": 6000.0, "raidz1x8": 8000.0}


@pytest.fixture
def answer() -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Medians that scatter with the seed of a scenario."""

    def answer(stated: dict[str, Any]) -> dict[str, Any]:
        seed = [stated.get("seed", 1), int(MEDIAN[stated["layout"]])]
        median = MEDIAN[stated["layout"]] * math.exp(np.random.default_rng(seed).normal(0.0, SPREAD))
        return {"p10_s": median / 2, "p50_s": median, "p90_s": 2 * median, "bottleneck": "sources"}

    return answer


def test_each_row_reaches_its_precision_and_lies_about_its_median(asked: list[Any], tmp_path: Path) -> None:
    table = study(tmp_path / "a.sqlite", AXES, refine=0.01)
    assert len(asked) == sum(row["seeds"] for row in table)
    for row in table:
        assert row["p50_error"] <= 0.01
        # (1.96 * 5 % / 1 %)^2 = 96 seeds of a spread that is known.
        assert 40 < row["seeds"] < MOST_SEEDS
        assert row["p50_s"] == pytest.approx(MEDIAN[row["layout"]], rel=0.02)
        assert row["p90_s"] == pytest.approx(2 * row["p50_s"])


def test_shards_threads_and_a_finer_store_give_the_same_rows(asked: list[Any], tmp_path: Path) -> None:
    whole = study(tmp_path / "whole.sqlite", AXES, refine=0.02)
    with Store(tmp_path / "merged.sqlite") as merged:
        for number in (1, 2):
            study(tmp_path / f"{number}.sqlite", AXES, shard=Shard(number, 2), refine=0.02)
            with Store(tmp_path / f"{number}.sqlite") as other:
                merged.merge(other)
    before = len(asked)
    assert study(tmp_path / "merged.sqlite", AXES, refine=0.02) == whole
    assert len(asked) == before
    with ThreadPoolExecutor(3) as executor:
        assert study(tmp_path / "threads.sqlite", AXES, executor=executor, refine=0.02) == whole
    study(tmp_path / "whole.sqlite", AXES, refine=0.01)
    assert study(tmp_path / "whole.sqlite", AXES, refine=0.02) == whole
    assert "seeds" not in study(tmp_path / "whole.sqlite", AXES).columns


def test_a_finer_precision_only_adds(asked: list[Any], tmp_path: Path) -> None:
    study(tmp_path / "a.sqlite", AXES)
    assert len(asked) == 3
    study(tmp_path / "a.sqlite", AXES, refine=0.05)
    coarse = len(asked)
    study(tmp_path / "a.sqlite", AXES, refine=0.01)
    assert 12 <= coarse < len(asked)
    assert len({str(each) for each in asked}) == len(asked)


def test_a_stopped_refinement_shows_what_it_has_and_goes_on(
    asked: list[Any], tmp_path: Path, stop_after: Callable[[int | None], None]
) -> None:
    whole = study(tmp_path / "whole.sqlite", AXES, refine=0.02)
    stop_after(20)
    with pytest.raises(TableInterrupted) as caught:
        study(tmp_path / "a.sqlite", AXES, refine=0.02)
    stop_after(None)
    assert all(row["p50_s"] is not None and row["seeds"] >= 1 for row in caught.value.partial)
    asked.clear()
    assert study(tmp_path / "a.sqlite", AXES, refine=0.02) == whole
    assert len(asked) == sum(row["seeds"] for row in whole) - 20


def test_ninety_five_of_a_hundred_intervals_hold_the_median() -> None:
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(400):
        medians = list(np.exp(rng.normal(0.0, SPREAD, MOST_SEEDS)))
        row = mean_row([{"p50_s": each} for each in medians], 0.02)
        assert row["seeds"] == seeds_needed(medians, 0.02)
        held += abs(math.log(row["p50_s"])) <= row["p50_error"]
    # Stopping when the seeds agree by chance costs a little of the 95 %.
    assert 0.90 < held / 400 < 0.98


def test_seeds_in_their_order() -> None:
    assert with_seed({"fill": 0.5}, 0) == {"fill": 0.5}
    assert with_seed({"fill": 0.5}, 2) == {"fill": 0.5, "seed": 3}
    assert with_seed({"seed": 2**63 - 1}, 1) == {"seed": 0}
    assert half_width([1.0] * 5) == 0.0
    assert mean_row([{"refused": "no"}], 0.1) == {"refused": "no"}
    only = mean_row([{"p50_s": 7.0}], 0.1)
    assert (only["seeds"], only["p50_error"]) == (1, None)


@pytest.mark.parametrize(
    ("flags", "field"),
    [
        ("--refine 1%", "--refine"),
        ("--store s.sqlite --refine 0", "--refine"),
        ("--store s.sqlite --refine 2", "--refine"),
    ],
)
def test_bad_input_is_one_sentence(
    flags: str,
    field: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(f"sweep --layout raidz2x6 {flags}")) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"zsim: {field}")
    assert len(err.splitlines()) == 1
    with pytest.raises(InputError, match="refine"):
        study(tmp_path / "a.sqlite", AXES, refine=0.0)
