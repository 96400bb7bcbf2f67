"""RAID-Z that has grown: blocks of several widths on one vdev, against the arithmetic of the reflow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zsim.base.errors import InputError
from zsim.scenario.layout import Layout
from zsim.scenario.releases.capacity import vdev_capacity
from zsim.scenario.releases.profile import load_release
from zsim.vdevs.arrays import data_columns, fits_on
from zsim.vdevs.kind import Printed, VdevSpec, asize_of, kind_of, pieces_of, shape_of

Old = tuple[VdevSpec, int, int, int, int]


@st.composite
def old_blocks(draw: st.DrawFn) -> Old:
    """Draw an expanded vdev, ashift, offset, physical size and data columns of a block on it."""
    parity, data, grown = draw(st.integers(1, 3)), draw(st.integers(1, 6)), draw(st.integers(1, 3))
    vdev = Layout.parse(f"raidz{parity}x{parity + data}+{grown}").vdevs[0]
    ashift = draw(st.sampled_from([9, 12]))
    offset = draw(st.integers(0, 1 << 20)) * (parity + 1) << ashift
    return vdev, ashift, offset, draw(st.integers(1, 400)) * 512, draw(st.integers(data, data + grown))


@given(old_blocks())
def test_every_sector_lies_where_the_reflow_puts_it(block: Old) -> None:
    vdev, ashift, offset, psize, data = block
    sectors, first = -(-psize // (1 << ashift)), offset >> ashift
    total = sectors + vdev.parity * -(-sectors // data)
    moved = {(b % vdev.children, b // vdev.children) for b in range(first, first + total)}
    held = [
        (child, (place >> ashift) + row)
        for child, place, size in pieces_of(vdev, offset, psize, ashift, data)
        for row in range(size >> ashift)
    ]
    assert len(held) == len(set(held)) == total
    assert set(held) == moved


@given(old_blocks())
def test_space_is_that_of_the_width_it_was_written_at(block: Old) -> None:
    vdev, ashift, _, psize, data = block
    before = VdevSpec.raidz(vdev.parity, data + vdev.parity)
    asize = kind_of(vdev.kind).kernels.asize(psize, shape_of(vdev, ashift, data))
    assert asize == asize_of(before, psize, ashift)
    assert fits_on(vdev, np.array([psize]), np.array([asize]), ashift).all()


def test_the_asize_tells_the_width_and_the_age_where_it_does_not() -> None:
    vdev = Layout.parse("raidz1x4+1").vdevs[0]
    psize = np.array([128 << 10, 128 << 10, 16 << 10, 16 << 10])
    # 4 sectors take 6 either way: with one parity sector and a skipped one, or with two.
    asize = np.array([44, 40, 6, 6]) << 12
    birth = np.array([10, 700, 20, 701])
    assert data_columns(vdev, psize, asize, birth, 12).tolist() == [3, 0, 3, 0]


def test_words() -> None:
    layout = Layout.parse("2*raidz2x6+2 + mirror2+raidz1x4 + 1 +1+raidz1x3")
    assert str(layout) == "2*raidz2x6+2+mirror2+raidz1x4+2+raidz1x3"
    assert [vdev.children for vdev in layout.vdevs] == [8, 8, 2, 6, 3]
    assert Layout.parse(str(layout)) == layout
    assert kind_of("raidz").printed("raidz1-0") == Printed(parity=1)
    for text in ("raidz1x4+0", "mirror2+1", "raidz2x2+1", "raidz1x255+1"):
        with pytest.raises(InputError, match="layout"):
            Layout.parse(text)


def test_it_keeps_its_metaslabs_and_has_more_of_them() -> None:
    release = load_release("2.3.9")
    before, now = (vdev_capacity(Layout.parse(text).vdevs[0], 1 << 30, release) for text in
                   ("raidz1x4", "raidz1x4+1"))  # fmt: skip
    # As the real pool of validation/zfs-more: 15 metaslabs of 256 MiB, then 19.
    assert (before.metaslab_shift, before.metaslab_count) == (28, 15)
    assert (now.metaslab_shift, now.metaslab_count) == (28, 19)


@pytest.mark.parametrize(("psize", "sectors"), [(1, 1), (4096, 1), (4097, 2), (8192, 2), (12289, 4)])
def test_a_block_fills_whole_sectors(psize: int, sectors: int) -> None:
    from zsim.vdevs.raidz import reflowed_map

    columns, _, _, big_columns, rest, sector = reflowed_map(0, psize, 12, 20, 1, 5)
    assert columns == big_columns == sectors + 1
    assert (rest, sector) == (0, 4096)
