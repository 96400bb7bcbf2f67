"""Histories: how a pool was filled and has aged, from ``models/histories``."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from zsim.base import model_data
from zsim.base.errors import InputError
from zsim.base.reading import understood
from zsim.pool.recipes.recipe import (
    FileShape,
    FileSizes,
    Fill,
    Growth,
    KeepSnapshots,
    MetadataSizes,
    Overwrite,
    PoolRecipe,
    RecordClass,
    Refill,
    Remove,
    SmallBlocks,
    Snapshot,
    Step,
    TopLevel,
)
from zsim.pool.recipes.styles import AllocatorStyle
from zsim.scenario.releases.profile import ReleaseProfile
from zsim.scenario.releases.record_sizes import is_record_size

DEFAULT_HISTORY = "home-nas"
"""The history assumed when none is named."""

SHAPES: tuple[FileShape, ...] = ("fixed", "uniform", "lognormal")
POINTER_BYTES_SHIFT = 7


@dataclass(frozen=True, slots=True)
class History:
    """How a pool is used.

    Attributes
    ----------
    name, title : str
        Name in the catalogue, and one line about it.
    records : tuple of RecordClass
        Mix of record sizes.
    files : FileSizes
        Sizes of the files.
    rounds : int
        Rounds of ageing when no FRAG is asked for.
    overwritten, removed : float
        Shares of the data overwritten and of the files removed, and written anew, per round.
    shortest, longest : int
        Runs that are overwritten [records].
    datasets : int
        Filesystems.
    snapshots : int
        Snapshots kept; one more is taken per round.
    txg_bytes : int
        Data written per txg [bytes].
    """

    name: str
    title: str
    records: tuple[RecordClass, ...]
    files: FileSizes
    rounds: int
    overwritten: float
    removed: float
    shortest: int
    longest: int
    datasets: int
    snapshots: int
    txg_bytes: int

    def mean_record(self) -> float:
        """Return the size of a record, as a geometric mean over the data [log2(bytes)]."""
        whole = math.fsum(kind.share for kind in self.records)
        return math.fsum(kind.share * math.log2(kind.recordsize) for kind in self.records) / whole

    def with_recordsize(self, recordsize: int) -> History:
        """Return the history with all its files in records of one size [bytes]."""
        return replace(self, records=tuple(replace(kind, recordsize=recordsize) for kind in self.records))

    def with_records(self, records: tuple[RecordClass, ...]) -> History:
        """Return the history with another mix of records."""
        return replace(self, records=records)

    def first_steps(self, fill: float) -> tuple[Step, ...]:
        """Return how the pool is filled before it ages; snapshots will take their share of `fill` later."""
        held = self.snapshots * (self.overwritten + self.removed)
        return (Fill(fill / (1.0 + held)),)

    def round_steps(self, fill: float) -> tuple[Step, ...]:
        """Return one round of ageing."""
        steps: list[Step] = []
        if self.snapshots:
            steps += [Snapshot(), KeepSnapshots(self.snapshots)]
        if self.overwritten:
            steps.append(Overwrite(self.overwritten, self.shortest, self.longest))
        if self.removed:
            steps.append(Remove(self.removed))
        return (*steps, Refill() if self.snapshots else Fill(fill))

    def steps(self, fill: float, rounds: int | None = None) -> tuple[Step, ...]:
        """Return the whole history up to so many rounds (the usual number if not given)."""
        count = self.rounds if rounds is None else rounds
        return (*self.first_steps(fill), *self.round_steps(fill) * count, Fill(fill))


def load_history(name: str = DEFAULT_HISTORY) -> History:
    """Return a history of the catalogue.

    Parameters
    ----------
    name : str
        A name of ``models/histories``, or the path of a TOML file of that form.

    Raises
    ------
    InputError
        When there is none, or naming what in its file is wrong.
    """
    return _load(name, model_data.state_of(name, "history"))


@functools.lru_cache(maxsize=32)
def _load(name: str, _state: str) -> History:
    """Return a history; `_state` is the hash of its file, if the name is that of a file."""
    path = model_data.find("histories", name)
    with understood(path, "history"):
        return _history(model_data.load_toml(path), path)


def _history(data: Mapping[str, object], path: Path) -> History:
    ageing = {key: _number(data, f"ageing.{key}", path, "1") for key in _MOST_OF_AGEING}
    for key, most in _MOST_OF_AGEING.items():
        if ageing[key] > most:
            allowed, share = f"it is at most {most:,.0f}", " (a share of 1: all of it in every round)"
            allowed += share if most == 1 else ""
            raise InputError(f"{path.name}: ageing.{key}", f"{ageing[key]:.12g}", allowed, "put it right")
    shortest, longest = _numbers(data, "ageing.run", path, "records", 2)
    return History(
        name=model_data.text_of(data, "name", path),
        title=model_data.text_of(data, "title", path),
        records=_records(data, path),
        files=_files(data, path),
        rounds=int(ageing["rounds"]),
        overwritten=ageing["overwritten"],
        removed=ageing["removed"],
        shortest=int(shortest),
        longest=int(longest),
        datasets=int(ageing["datasets"]),
        snapshots=int(ageing["snapshots"]),
        txg_bytes=int(_number(data, "writing.txg", path, "bytes")),
    )


MOST_SIGMA = 10.0
"""At this, sizes one standard deviation apart differ 22,000 times: all files are as `low` or `high`."""
_MOST_OF_AGEING = {"rounds": 1000, "overwritten": 1, "removed": 1, "datasets": 1000, "snapshots": 1000}
"""What is larger is a slip: every round is simulated, and each dataset and snapshot takes memory."""


def history_names() -> tuple[str, ...]:
    """Return the names of all histories of the catalogue."""
    return model_data.names("histories")


def _number(data: Mapping[str, object], dotted: str, path: Path, unit: str) -> float:
    value: object = model_data.quantity_of(data, dotted, path, unit).value
    if not isinstance(value, int | float) or not 0 <= value < 2**62:
        raise InputError(f"{path.name}: {dotted}", value, "a single number from 0 is needed here", "")
    return float(value)


def _numbers(
    data: Mapping[str, object], dotted: str, path: Path, unit: str, count: int | None = None
) -> list[float]:
    values: object = model_data.quantity_of(data, dotted, path, unit).value
    if not isinstance(values, list) or (count is not None and len(values) != count) or min(values) < 0:
        wanted = f"a list of {count} numbers" if count else "a list of numbers"
        raise InputError(f"{path.name}: {dotted}", values, f"{wanted} from 0 is needed here", "")
    return [float(value) for value in values]


def _records(data: Mapping[str, object], path: Path) -> tuple[RecordClass, ...]:
    kinds = data.get("records")
    if not isinstance(kinds, list) or not kinds:
        raise InputError(f"{path.name}: records", kinds, "a history has one or more [[records]]", "add one")
    return tuple(_record(kind, path) for kind in kinds)


def _record(kind: Mapping[str, object], path: Path) -> RecordClass:
    recordsize = int(_number(kind, "recordsize", path, "bytes"))
    if not is_record_size(recordsize):
        allowed = "a record size is a power of two from 512 to 16M"
        raise InputError(f"{path.name}: records.recordsize", recordsize, allowed, "")
    shares = _numbers(kind, "psize_share", path, "1")
    chances = _numbers(kind, "chance", path, "1", len(shares))
    if not all(0 < share <= 1 for share in shares) or max(chances) <= 0:
        raise InputError(f"{path.name}: records.psize_share", shares, "shares lie above 0 and up to 1", "")
    return RecordClass(
        recordsize,
        _number(kind, "share", path, "1"),
        _number(kind, "size_factor", path, "1"),
        tuple(zip(shares, chances, strict=True)),
    )


def _files(data: Mapping[str, object], path: Path) -> FileSizes:
    shape = cast("FileShape", model_data.text_of(data, "files.shape", path, SHAPES))
    size = {key: int(_number(data, f"files.{key}", path, "bytes")) for key in ("mean", "low", "high")}
    sigma = _number(data, "files.sigma", path, "1")
    if not 0 < size["low"] <= size["mean"] <= size["high"]:
        raise InputError(f"{path.name}: files.mean", size["mean"], "it lies between low and high", "")
    if sigma > MOST_SIGMA:
        allowed = f"the standard deviation of the logarithms of file sizes is at most {MOST_SIGMA:.0f}"
        raise InputError(f"{path.name}: files.sigma", sigma, allowed, "file systems have 1 to 3")
    return FileSizes(shape, size["mean"], size["low"], size["high"], sigma)


@dataclass(frozen=True, slots=True)
class EmptyPool:
    """A pool before its first block is written.

    Attributes
    ----------
    vdevs, style
        See `zsim.pool.recipes.recipe.pool_of`.
    release : ReleaseProfile
        Decides the size of indirect blocks, and how FRAG is computed.
    small : SmallBlocks
        What goes to the special class beside metadata.
    growth : Growth
        Vdevs that are added later, to a pool that has aged.
    """

    vdevs: tuple[TopLevel, ...]
    style: AllocatorStyle
    release: ReleaseProfile
    small: SmallBlocks = field(default_factory=SmallBlocks)
    growth: Growth = field(default_factory=Growth)


def history_recipe(history: History, pool: EmptyPool, fill: float, rounds: int | None = None) -> PoolRecipe:
    """Return the recipe of a pool with a history.

    Parameters
    ----------
    history : History
    pool : EmptyPool
    fill : float
        Allocated / space to end at.
    rounds : int, optional
        Rounds of ageing; the history's own number if not given.
    """
    steps = history.steps(fill, rounds)
    if pool.growth.stages:
        steps = (*history.steps(pool.growth.stages[0][0], rounds), *pool.growth.steps, Fill(fill))
    return PoolRecipe(
        vdevs=pool.vdevs,
        style=pool.style,
        records=history.records,
        files=history.files,
        steps=steps,
        small_blocks=pool.small,
        datasets=history.datasets,
        txg_bytes=history.txg_bytes,
        metadata=MetadataSizes(pointers=1 << (pool.release.indirect_shift - POINTER_BYTES_SHIFT)),
    )
