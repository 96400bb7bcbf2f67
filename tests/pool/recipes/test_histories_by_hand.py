"""Histories by hand: their steps, what a file of one's own may say, and what is refused of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from zsim.base import model_data
from zsim.base.errors import InputError
from zsim.pool.recipes.histories import EmptyPool, History, history_recipe, load_history
from zsim.pool.recipes.recipe import (
    FileSizes,
    Fill,
    KeepSnapshots,
    Overwrite,
    RecordClass,
    Refill,
    Remove,
    Snapshot,
    pool_of,
)
from zsim.scenario.releases.profile import load_release

PLAIN = History(
    name="made", title="made up", records=(RecordClass(16384),), files=FileSizes("uniform", 4096, 512, 8192),
    rounds=2, overwritten=0.25, removed=0.0, shortest=1, longest=4, datasets=3, snapshots=0,
    txg_bytes=1 << 20,
)  # fmt: skip


def test_a_round_overwrites_removes_and_fills_up_again() -> None:
    turn = (Overwrite(0.25, 1, 4), Fill(0.5))
    assert PLAIN.steps(0.5) == (Fill(0.5), *turn, *turn, Fill(0.5))
    assert PLAIN.steps(0.5, 0) == (Fill(0.5), Fill(0.5))
    both = replace(PLAIN, removed=0.1)
    assert both.round_steps(0.5) == (Overwrite(0.25, 1, 4), Remove(0.1), Fill(0.5))
    assert replace(PLAIN, overwritten=0.0).round_steps(0.5) == (Fill(0.5),)


def test_snapshots_hold_what_each_round_changes() -> None:
    """Four of them hold four times 35 % beside what is in use: the first fill is 0.6 over 2.4."""
    held = replace(PLAIN, removed=0.1, snapshots=4)
    assert held.first_steps(0.6) == (Fill(pytest.approx(0.25)),)
    assert held.round_steps(0.6) == (
        Snapshot(), KeepSnapshots(4), Overwrite(0.25, 1, 4), Remove(0.1), Refill(),
    )  # fmt: skip


def test_a_pool_to_which_nothing_was_added_has_the_plain_history() -> None:
    release = load_release("2.3.9")
    made = history_recipe(PLAIN, EmptyPool(*pool_of("mirror2", 10**12, release), release), 0.5, 1)
    assert (made.steps, made.datasets, made.txg_bytes) == (PLAIN.steps(0.5, 1), 3, 1 << 20)


TEXT = model_data.find("histories", "vm-host").read_text(encoding="utf-8")
PARTS = {
    "recordsize": "recordsize = { value = 16384,", "shares": "value = [1.0, 0.75, 0.5, 0.25]",
    "chances": "value = [0.45, 0.2, 0.2, 0.15]", "low": "low = { value = 1073741824,",
    "mean": "mean = { value = 53687091200,", "high": "high = { value = 1099511627776,",
    "rounds": "rounds = { value = 6,", "run": "run = { value = [1, 4],",
}  # fmt: skip


def stated(tmp_path: Path, **values: object) -> History:
    """Return the history of the hosts with other values."""
    text = TEXT
    for name, value in values.items():
        old = PARTS[name]
        head, tail = old[: old.index("value = ")], "," if old.endswith(",") else ""
        text = text.replace(old, f"{head}value = {value}{tail}")
        assert text != TEXT or str(value) in old
    path = tmp_path / "own.toml"
    path.write_text(text, encoding="utf-8")
    return load_history(str(path))


def test_the_ends_of_what_a_history_may_say_are_read(tmp_path: Path) -> None:
    for size in (512, 16 << 20):
        assert stated(tmp_path, recordsize=size).records[0].recordsize == size
    assert stated(tmp_path, low=53687091200, high=53687091200).files.low == 53687091200
    assert stated(tmp_path, low=1).files.low == 1
    assert stated(tmp_path, rounds=0).rounds == 0
    assert stated(tmp_path, rounds=1000).rounds == 1000
    found = stated(tmp_path, shares="[1.0, 0.001]", chances="[0, 1]").records[0]
    assert found.ratios == ((1.0, 0.0), (0.001, 1.0))
    assert (found.share, found.size_factor) == (1.0, 1.0)
    assert (stated(tmp_path).shortest, stated(tmp_path).longest) == (1, 4)
    assert (stated(tmp_path).datasets, stated(tmp_path).txg_bytes) == (4, 134217728)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"recordsize": 256}, "power of two from 512"), ({"recordsize": 32 << 20}, "power of two from 512"),
        ({"recordsize": 24576}, "power of two from 512"), ({"recordsize": -512}, "single number from 0"),
        ({"rounds": -1}, "ageing.rounds.*single number from 0"), ({"rounds": 2**62}, "single number from 0"),
        ({"rounds": 1001}, "ageing.rounds '1001' cannot be used: it is at most 1,000"),
        ({"shares": "[1.0, 0.0]", "chances": "[1, 1]"}, "shares lie above 0"),
        ({"shares": "[1.0, 1.01]", "chances": "[1, 1]"}, "shares lie above 0"),
        ({"chances": "[0, 0, 0, 0]"}, "shares lie above 0"), ({"chances": "[1, 1, 1]"}, "list of 4 numbers"),
        ({"chances": "[1, 1, 1, -1]"}, "list of 4 numbers"), ({"run": "[4]"}, "list of 2 numbers"),
        ({"shares": "[]", "chances": "[]"}, "own.toml"), ({"shares": 1.0}, "list of numbers from 0"),
        ({"low": 0}, "between low and high"), ({"low": 53687091201}, "between low and high"),
        ({"high": 53687091199}, "between low and high"),
    ],
)  # fmt: skip
def test_what_no_history_has_is_refused_by_its_field(
    tmp_path: Path, values: dict[str, object], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        stated(tmp_path, **values)
