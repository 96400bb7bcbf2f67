"""Tables of scan items: what is joined is what stands in the parts, and takes no more room than it needs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from zsim.scan import items as scan_items
from zsim.scan.items import NARROW, NO_ITEM, ScanItems, joined_items, plain_items


def some(first: int, count: int, *, unwind: bool) -> ScanItems:
    """Return items, each below the one before it, with one further copy each."""
    plain = plain_items(*(np.arange(first, first + count) for _ in range(3)))
    below = np.append(np.arange(1, count), NO_ITEM)
    return replace(
        plain,
        copies=np.arange(count),
        copy_count=np.ones(count, np.int64),
        copy_vdev=np.arange(count),
        copy_offset=np.arange(count),
        copy_columns=np.zeros(count, np.int16),
        prefetch_first=below,
        unwind=below if unwind else None,
    )


@pytest.mark.parametrize("most", [1 << 29, 4])
@pytest.mark.parametrize("unwind", [(True, True), (True, False), (False, True)])
def test_numbers_of_joined_items_point_to_their_own(
    unwind: tuple[bool, bool], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_items, "MOST_NARROW", most)
    both = joined_items(some(10, 3, unwind=unwind[0]), some(20, 2, unwind=unwind[1]))
    assert both.vdev.tolist() == both.offset.tolist() == [10, 11, 12, 20, 21]
    assert both.copies.tolist() == [0, 1, 2, 3, 4]
    assert both.prefetch_first.tolist() == [1, 2, NO_ITEM, 4, NO_ITEM]
    assert both.prefetch_next.tolist() == [NO_ITEM] * 5
    assert both.unwind is not None
    expected = [1, 2, NO_ITEM] if unwind[0] else [NO_ITEM] * 3
    assert both.unwind.tolist() == expected + ([4, NO_ITEM] if unwind[1] else [NO_ITEM] * 2)
    width = 4 if most > len(both) else 8
    assert {getattr(both, name).itemsize for name in NARROW} == {width}
    assert both.offset.itemsize == both.psize.itemsize == 8


def test_where_no_item_knows_a_way_up_none_of_both_does() -> None:
    assert joined_items(some(0, 2, unwind=False), some(0, 2, unwind=False)).unwind is None
