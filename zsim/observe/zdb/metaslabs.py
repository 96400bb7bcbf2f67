"""``zdb -mm``: free space, its histogram and its fragmentation by metaslab."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from zsim.base.errors import InputError
from zsim.observe.texts import bad_line, nice_bytes, whole

_REMEDY = "run zdb -mm POOL again"
FORM = "'metaslab N offset HEX spacemap N free SIZE' as zdb -mm prints it"
_VDEV = re.compile(r"[ \t]{0,40}vdev[ \t]{1,40}(\d{1,5})\b(?!.{0,80}fragmentation)", re.ASCII)
_METASLAB = re.compile(
    r"[ \t]{0,40}metaslab[ \t]{1,40}(\d{1,7})[ \t]{1,40}offset[ \t]{1,40}([0-9a-fA-F]{1,16})"
    r"[ \t]{1,40}spacemap[ \t]{1,40}\d{1,20}[ \t]{1,40}free[ \t]{1,40}([\d.,]{1,24}[KMGTPE]?i?B?)[ \t]{0,40}",
    re.ASCII,
)
_ANY = re.compile(r"^[ \t]{0,40}metaslab[ \t]{1,40}\d{1,7}[ \t]{1,40}offset", re.MULTILINE | re.ASCII)
_HISTOGRAM = re.compile(
    r"[ \t]{0,40}On-disk histogram:[ \t]{0,40}(?:fragmentation[ \t]{1,40}(\d{1,20}))?[ \t]{0,40}", re.ASCII
)
_BUCKET = re.compile(r"[ \t]{0,80}(\d{1,2}):[ \t]{1,40}(\d{1,19})[ \t]{0,40}\**[ \t]{0,40}", re.ASCII)
BUCKETS = 64
MAX_METASLABS = 1 << 20
UNUSED = -1


@dataclass(frozen=True, slots=True)
class Metaslabs:
    """The metaslabs of a pool, in the order printed.

    Attributes
    ----------
    vdev, number : ndarray of int64, shape (n,)
    offset, free : ndarray of int64, shape (n,)
        [bytes]
    fragmentation : ndarray of int64, shape (n,)
        [%]; -1 where there is none.
    histogram : ndarray of int64, shape (n, 64)
        Free segments by the power of two of their size.
    """

    vdev: NDArray[np.int64]
    number: NDArray[np.int64]
    offset: NDArray[np.int64]
    free: NDArray[np.int64]
    fragmentation: NDArray[np.int64]
    histogram: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.vdev)

    @property
    def size(self) -> int | None:
        """Size of all metaslabs [bytes] by the distance of their offsets; None where a vdev has only one."""
        total = 0
        for vdev in np.unique(self.vdev):
            offsets = np.unique(self.offset[self.vdev == vdev])
            if len(offsets) < 2:
                return None
            total += int(np.diff(offsets).min()) * len(offsets)
        return total

    @property
    def alloc(self) -> int | None:
        """What is allocated [bytes], as far as the sizes are known."""
        return None if self.size is None else max(self.size - int(self.free.sum()), 0)

    @property
    def mean_fragmentation(self) -> float | None:
        """Mean over all, those without a histogram as 0, from 0 to 1 (metaslab_group_fragmentation)."""
        if not (self.fragmentation >= 0).any():
            return None
        return float(np.where(self.fragmentation < 0, 0, self.fragmentation).mean() / 100)


@dataclass(slots=True)
class _Slab:
    """A metaslab while its lines are read."""

    vdev: int
    number: int
    offset: int
    free: int
    fragmentation: int = UNUSED
    counts: dict[int, int] = field(default_factory=dict)


def recognises(text: str) -> bool:
    """Tell whether a text holds the output of ``zdb -m``."""
    return _ANY.search(text) is not None


def read(text: str, name: str) -> tuple[Metaslabs]:
    """Read it as one of many outputs; see `zsim.observe.outputs.Reader`."""
    return (read_metaslabs(text, name),)


def read_metaslabs(text: str, name: str = "zdb -mm") -> Metaslabs:
    """Read ``zdb -m``, ``-mm`` or more.

    Raises
    ------
    InputError
        When no metaslab is in it or the row of one cannot be read.
    """
    slabs: list[_Slab] = []
    vdev, in_histogram = 0, False
    for number, line in enumerate(text.split("\n"), start=1):
        if _ANY.match(line):
            slabs.append(_slab(vdev, line, number, name))
            in_histogram = False
        elif match := _VDEV.match(line):
            vdev, in_histogram = int(match[1]), False
        elif slabs and (match := _HISTOGRAM.fullmatch(line[:200])):
            in_histogram = True
            percent = whole(match[1])
            slabs[-1].fragmentation = percent if percent is not None and percent <= 100 else UNUSED
        elif in_histogram:
            in_histogram = _bucket(slabs[-1], line)
    if not slabs:
        raise InputError(name, None, f"a line {FORM} is expected", _REMEDY)
    return _gathered(slabs)


def _slab(vdev: int, line: str, number: int, name: str) -> _Slab:
    match = _METASLAB.fullmatch(line[:400])
    free = nice_bytes(match[3]) if match else None
    if match is None or free is None or int(match[2], 16) >= 1 << 62:
        raise bad_line(name, number, line, FORM, _REMEDY)
    return _Slab(vdev, int(match[1]), int(match[2], 16), free)


def _bucket(slab: _Slab, line: str) -> bool:
    """Note a bucket of the histogram; False when the line is none."""
    match = _BUCKET.fullmatch(line[:200])
    if match is None or int(match[1]) >= BUCKETS:
        return False
    slab.counts[int(match[1])] = min(int(match[2]), 2**62)
    return True


def _gathered(slabs: Sequence[_Slab]) -> Metaslabs:
    slabs = list({(slab.vdev, slab.number): slab for slab in slabs[:MAX_METASLABS]}.values())
    histogram = np.zeros((len(slabs), BUCKETS), dtype=np.int64)
    for row, slab in enumerate(slabs):
        for bucket, count in slab.counts.items():
            histogram[row, bucket] = count

    def column(attribute: str) -> NDArray[np.int64]:
        return np.array([getattr(slab, attribute) for slab in slabs], dtype=np.int64)

    return Metaslabs(
        column("vdev"), column("number"), column("offset"), column("free"), column("fragmentation"), histogram
    )
