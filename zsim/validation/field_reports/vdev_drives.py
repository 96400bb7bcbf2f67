"""The drives of each top-level vdev, and the vdev of an event, as far as a report states them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from zsim.drives.names import bytes_in_name, written_bytes
from zsim.scenario.layout import Layout, VdevSpec
from zsim.scenario.releases.capacity import vdev_capacity
from zsim.scenario.releases.profile import load_release
from zsim.vdevs.kind import kind_of

CLEARLY_LARGER = 1.5
_NAMED = re.compile(r"\b(?:mirror|raidz\d?)-(\d+): ([^;]*)")
_BETWEEN = re.compile(r"[,;|+&]|\band\b")
_COUNT = re.compile(r"^\s*(\d+)\s*[x*]\s*")
_VDEV = r"(?:mirror|raid-?z\d?|vdev|pair)"
_BY_NUMBER = re.compile(rf"\b{_VDEV}(?:-|\s*#\s*|\s+)(\d+)\b", re.IGNORECASE)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_BY_PLACE = re.compile(rf"\b({'|'.join(_ORDINALS)}|last)\s+(?:\w+\s+)?{_VDEV}\b", re.IGNORECASE)
_BY_SIZE = re.compile(
    rf"\b(?:(emptier|emptiest|smaller|smallest)|(fuller|fullest|larger|largest))\s+(?:one\b|{_VDEV})",
    re.IGNORECASE,
)


def vdev_drives(text: str, layout: Layout) -> tuple[int, ...] | None:
    """Return the capacity of the smallest drive of each top-level vdev [bytes]; None where it is not told.

    ``mirror-0: 2x A; mirror-1: B`` names them; ``2x A, 2x B (+C)`` and ``A + B | C + D`` list the drives in
    the order of the vdevs, if there are as many as the layout has.  Drives in brackets are left out: they
    came later.
    """
    named = {int(number): _capacity(words) for number, words in _NAMED.findall(text)}
    if named:
        sizes = [named.get(number) for number in range(len(layout.vdevs))]
        known = tuple(size for size in sizes if size is not None)
        return known if len(known) == len(sizes) == len(named) else None
    drives: list[int] = []
    for words in _BETWEEN.split(re.sub(r"\([^)]*\)", "", text)):
        count, size = _COUNT.match(words), _capacity(words)
        if size is None:
            return None
        drives += [size] * (int(count[1]) if count else 1)
    if len(drives) != layout.leaves:
        return None
    places = [0]
    for vdev in layout.vdevs:
        places.append(places[-1] + vdev.children)
    return tuple(min(drives[begin:end]) for begin, end in pairwise(places))


def _capacity(words: str) -> int | None:
    """Return the capacity that words about a drive tell [bytes]: written out, else by its name."""
    plain = _COUNT.sub("", words)
    return written_bytes(plain) or bytes_in_name(plain)


def event_vdev(text: str, layout: Layout, drives: Sequence[int] | None = None) -> int | None:
    """Return the number of the top-level vdev that words are about; None where they do not tell.

    Parameters
    ----------
    text : str
        ``mirror-1 only``, ``the second mirror``, ``vdev 2``, ``the emptier one``.
    layout : Layout
    drives : sequence of int, optional
        Of `vdev_drives` [bytes]: the emptier one is the one with the smaller drives.
    """
    last = len(layout.vdevs) - 1
    number, place, size = (pattern.search(text) for pattern in (_BY_NUMBER, _BY_PLACE, _BY_SIZE))
    if number is not None:
        return int(number[1]) if int(number[1]) <= last else None
    if place is not None:
        word = place[1].lower()
        found = last if word == "last" else _ORDINALS.index(word)
        return found if found <= last else None
    if size is None or drives is None or len(set(drives)) == 1:
        return None
    spaces = _spaces(layout.vdevs, drives)
    return spaces.index(min(spaces) if size[1] else max(spaces))


def _spaces(vdevs: Sequence[VdevSpec], drives: Sequence[int]) -> list[float]:
    """Return the space of vdevs, parity included [bytes]."""
    rows = zip(vdevs, drives, strict=True)
    return [float(size * kind_of(vdev.kind).spanned_children(vdev)) for vdev, size in rows]


def shares_of_data(layout: Layout, drives: Sequence[int] | None) -> list[float] | None:
    """Return the share of the data on each vdev, where their drives clearly differ; None where not.

    ZFS fills vdevs in proportion to their space, because the emptier one is preferred (OpenZFS
    metaslab_bias_enabled).
    """
    if drives is None or len(drives) < 2 or max(drives) < CLEARLY_LARGER * min(drives):
        return None
    spaces = _spaces(layout.vdevs, drives)
    return [space / math.fsum(spaces) for space in spaces]


def unequal_vdevs(
    fields: Mapping[str, object], layout: Layout, drives: Sequence[int] | None, event: int | None
) -> dict[str, object] | None:
    """Return the fields of a scenario whose vdevs have drives of clearly different capacity; None otherwise.

    All vdevs are simulated with the largest drives, each with its share of the data, as an import does it.

    Parameters
    ----------
    fields : Mapping
        Of the scenario, with ``alloc`` and ``release``.
    layout : Layout
        Of the whole pool.
    drives : sequence of int or None
        Of `vdev_drives` [bytes].
    event : int or None
        Which vdev is repaired.
    """
    shares, alloc = shares_of_data(layout, drives), fields.get("alloc")
    if shares is None or drives is None or not isinstance(alloc, int | float):
        return None
    release, size = load_release(str(fields["release"])), max(drives)
    rows = zip(layout.vdevs, shares, strict=True)
    fills = [share * alloc / vdev_capacity(vdev, size, release).size for vdev, share in rows]
    if not all(0.0 < fill < 1.0 for fill in fills):
        return None
    kept: dict[str, object] = {name: value for name, value in fields.items() if name not in ("alloc", "fill")}
    told = {"layout": str(layout), "drive_size": size, "vdev_fills": [round(each, 4) for each in fills]}
    found = kept | told
    return found if event is None or fields.get("operation") == "scrub" else found | {"replace_in": event}
