from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.sourced import unsourced_numbers
from zsim.base import model_data
from zsim.base.errors import InputError
from zsim.pool.fragmentation import fragmentation, pool_fragmentation, slab_fragmentation
from zsim.pool.miniature.ageing import aged_pool
from zsim.pool.miniature.shape import MiniatureSize
from zsim.pool.recipes.histories import DEFAULT_HISTORY, EmptyPool, history_names, load_history
from zsim.pool.recipes.recipe import TopLevel, pool_of
from zsim.pool.statistics import describe
from zsim.scenario.layout import VdevSpec
from zsim.scenario.releases.profile import ReleaseProfile, load_release

TB = 10**12
MIB = 1 << 20


@pytest.fixture
def release() -> ReleaseProfile:
    return load_release("2.3.9")


@pytest.mark.parametrize("name", history_names())
def test_every_number_of_a_history_has_unit_and_source(name: str) -> None:
    assert unsourced_numbers(model_data.load("histories", name)) == []
    assert load_history(name).name == name


def test_the_catalogue_has_the_usual_uses_of_a_pool() -> None:
    wanted = {
        "write-once-archive",
        "media-server",
        "home-nas",
        "vm-host",
        "database",
        "backup-target",
        "maildir",
    }
    assert wanted <= set(history_names())
    assert DEFAULT_HISTORY in history_names()


@pytest.mark.parametrize("name", history_names())
@pytest.mark.parametrize("fill", [0.3, 0.8])
def test_a_history_ends_at_the_fill_asked_for(name: str, fill: float, release: ReleaseProfile) -> None:
    pool = EmptyPool(*pool_of("raidz2x6", 4 * TB, release), release)
    aged = aged_pool(load_history(name), pool, fill, size=MiniatureSize(9_375))
    small = aged.miniature
    assert aged.fill == pytest.approx(fill, abs=0.03)
    assert small.table.allocated_bytes / small.recipe.space == pytest.approx(fill, abs=0.03)
    assert aged.frag == pytest.approx(fragmentation(small.table, small.recipe.vdevs, release), abs=0.03)


@pytest.mark.parametrize(
    ("name", "frag"), [("home-nas", 0.1), ("home-nas", 0.3), ("vm-host", 0.55), ("maildir", 0.5)]
)
def test_a_frag_asked_for_is_reached(name: str, frag: float, release: ReleaseProfile) -> None:
    pool = EmptyPool(*pool_of("raidz2x6", 4 * TB, release), release)
    aged = aged_pool(load_history(name), pool, 0.62, frag, size=MiniatureSize(12_000))
    assert aged.frag == pytest.approx(frag, abs=0.06)
    assert aged.rounds > 0


def test_more_frag_means_more_and_longer_gaps(release: ReleaseProfile) -> None:
    pool = EmptyPool(*pool_of("raidz2x6", 4 * TB, release), release)
    history = load_history("home-nas")
    states = [
        aged_pool(history, pool, 0.6, frag, size=MiniatureSize(12_000)).miniature
        for frag in (0.1, 0.18, 0.26)
    ]
    runs = [describe(state.table, state.recipe.vdevs).exact for state in states]
    assert runs[0] > runs[1] > runs[2]


@pytest.mark.parametrize(
    ("name", "fill", "frag", "words"),
    [
        ("write-once-archive", 0.5, 0.6, "reaches a FRAG of .* at most"),
        ("media-server", 0.5, 0.5, "reaches a FRAG of .* at most"),
        ("home-nas", 0.5, 1.5, "fraction from 0 to 1"),
        ("home-nas", 0.0, 0.3, "above 0 and up to 1"),
    ],
)
def test_fill_and_frag_that_do_not_go_together_are_refused(
    name: str, fill: float, frag: float, words: str, release: ReleaseProfile
) -> None:
    pool = EmptyPool(*pool_of("raidz2x6", 4 * TB, release), release)
    with pytest.raises(InputError, match=words):
        aged_pool(load_history(name), pool, fill, frag, size=MiniatureSize(3000))


def test_v28_knows_no_frag() -> None:
    release = load_release("freebsd-9.1")
    pool = EmptyPool(*pool_of("raidz2x5", 2 * TB, release), release)
    assert np.isnan(aged_pool(load_history(), pool, 0.5, size=MiniatureSize(3000)).frag)
    with pytest.raises(InputError, match="knows no FRAG"):
        aged_pool(load_history(), pool, 0.5, 0.2, size=MiniatureSize(3000))


def one_size(exponent: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    histogram = np.zeros((1, 48), dtype=np.int64)
    histogram[0, exponent] = 3
    return histogram


@pytest.mark.parametrize(
    ("exponent", "old", "new"),
    [(9, 1.00, 1.00), (12, 0.95, 0.93), (17, 0.50, 0.64), (20, 0.20, 0.43), (24, 0.0, 0.17)],
)
def test_frag_of_one_size_of_holes_is_the_table_s(exponent: int, old: float, new: float) -> None:
    histogram = one_size(exponent)
    assert slab_fragmentation(histogram, load_release("2.2.9"))[0] == pytest.approx(old)
    assert slab_fragmentation(histogram, load_release("2.3.1"))[0] == pytest.approx(new)


def test_untouched_metaslabs_count_as_zero_and_newer_releases_weigh_by_free_space() -> None:
    vdev = TopLevel(VdevSpec.mirror(2), 12, 16 * MIB, 4)
    histogram = np.zeros((4, 48), dtype=np.int64)
    histogram[:2, 17] = 10
    histogram[2:, 24] = 1
    untouched = np.array([False, False, True, True])
    assert pool_fragmentation(histogram, untouched, (vdev,), load_release("2.3.0")) == pytest.approx(0.25)
    small, large = 2 * 10 * 2**17, 2 * 2**24
    expected = 0.64 * small / (small + large)
    assert pool_fragmentation(histogram, untouched, (vdev,), load_release("2.4")) == pytest.approx(expected)


def test_a_file_of_one_s_own_is_read_and_its_mistakes_are_named(tmp_path: Path) -> None:
    text = model_data.find("histories", "home-nas").read_text(encoding="utf-8")
    path = tmp_path / "mine.toml"
    path.write_text(text.replace('name = "home-nas"', 'name = "mine"'), encoding="utf-8")
    assert load_history(str(path)).name == "mine"
    for old, new, words in [
        ("value = [1, 4]", "value = [1, 4, 5]", "list of 2 numbers"),
        ("value = 131072", "value = 100000", "power of two"),
        ("[[records]]", "[[kinds]]", "records"),
        ("mean = { value = 8388608", "mean = { value = 88", "between low and high"),
        ('shape = "lognormal"', 'shape = "normal"', "one of"),
        ("sigma = { value = 2.0", "sigma = { value = 1e13", "at most 10"),
        ("removed = { value = 0.08", "removed = { value = 8", "at most 1 .a share of 1: all of it"),
        ("rounds = { value = 4", "rounds = { value = 1000000000", "at most 1,000"),
    ]:
        bad = tmp_path / f"bad{len(words)}.toml"
        bad.write_text(text.replace(old, new), encoding="utf-8")
        with pytest.raises(InputError, match=words):
            load_history(str(bad))
