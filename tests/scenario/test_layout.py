"""The layout grammar: what is written reads back, and what no pool could be is refused with the reason."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zsim.base.errors import InputError
from zsim.scenario.layout import Layout, VdevSpec
from zsim.scenario.model import Scenario


@st.composite
def draids(draw: st.DrawFn) -> VdevSpec:
    parity, data = draw(st.integers(1, 3)), draw(st.integers(1, 20))
    spares = draw(st.integers(0, 5))
    children = draw(st.integers(max(2, parity + data + spares), 255))
    return VdevSpec.draid(parity, data, children, spares)


raidzs = st.integers(1, 3).flatmap(
    lambda parity: st.builds(VdevSpec.raidz, st.just(parity), st.integers(parity + 1, 255))
)
mirrors = st.builds(VdevSpec.mirror, st.integers(2, 255))
layouts = st.lists(st.one_of(raidzs, mirrors, draids()), min_size=1, max_size=8).map(
    lambda vdevs: Layout(tuple(vdevs))
)


@given(layouts)
def test_a_layout_reads_back(layout: Layout) -> None:
    assert Layout.parse(str(layout)) == layout
    assert layout.leaves == sum(vdev.children for vdev in layout.vdevs)


@given(layouts)
def test_case_and_blanks_do_not_matter(layout: Layout) -> None:
    text = str(layout).upper().replace("*", " * ").replace("+", " + ")
    assert Layout.parse(f" {text} ") == layout


@given(st.text(alphabet="raidzmore123456789x*+: dcs", max_size=24))
def test_any_text_is_a_layout_or_an_input_error(text: str) -> None:
    try:
        layout = Layout.parse(text)
    except InputError as error:
        assert error.field == "layout"
        assert len(str(error).splitlines()) == 1
    else:
        assert Layout.parse(str(layout)) == layout


@pytest.mark.parametrize(
    ("text", "vdev", "tolerance"),
    [
        ("raidz1x5", VdevSpec("raidz", 5, 1, 4), 1),
        ("raidzx5", VdevSpec("raidz", 5, 1, 4), 1),
        ("raidz2x6", VdevSpec("raidz", 6, 2, 4), 2),
        ("raidz3x9", VdevSpec("raidz", 9, 3, 6), 3),
        ("mirror3", VdevSpec("mirror", 3, 0, 1), 2),
        ("draid2:8d:41c:2s", VdevSpec("draid", 41, 2, 8, 2), 2),
        ("draid2:41c:2s:8d", VdevSpec("draid", 41, 2, 8, 2), 2),
        ("draid2:8d:41c", VdevSpec("draid", 41, 2, 8, 0), 2),
        ("draid:14c", VdevSpec("draid", 14, 1, 8, 0), 1),
        ("draid3:6c:1s", VdevSpec("draid", 6, 3, 2, 1), 3),
    ],
)
def test_vdevs(text: str, vdev: VdevSpec, tolerance: int) -> None:
    assert Layout.parse(text).vdevs == (vdev,)
    assert vdev.tolerance == tolerance


@pytest.mark.parametrize(
    ("text", "printed", "drives"),
    [("disk", "disk", 1), ("single", "disk", 1), ("stripe4", "4*disk", 4), ("stripe-4", "4*disk", 4),
     ("4*disk", "4*disk", 4), ("raid0x2+mirror2", "2*disk+mirror2", 4), ("stripe", "disk", 1)],
)  # fmt: skip
def test_single_drives(text: str, printed: str, drives: int) -> None:
    layout = Layout.parse(text)
    assert (str(layout), layout.leaves, Layout.parse(str(layout))) == (printed, drives, layout)
    assert layout.vdevs[0].is_disk
    assert layout.vdevs[0].tolerance == 0
    assert Scenario(layout=text, operation="scrub").pool_layout == layout
    with pytest.raises(InputError, match="can be scrubbed only"):
        Scenario(layout=text)


def test_counts_and_mixtures() -> None:
    layout = Layout.parse("2*raidz2x6+mirror2+mirror2+mirror3")
    assert str(layout) == "2*raidz2x6+2*mirror2+mirror3"
    assert len(layout.vdevs) == 5
    assert layout.leaves == 19
    assert Layout.parse("raidz2x6").repeated(4) == Layout.parse("4*raidz2x6")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("raidz2x2", "3 to 255 drives"),
        ("raidz1x1", "2 to 255 drives"),
        ("raidz4x9", "use raidz3x9"),
        ("raidz0x5", "1, 2 or 3 parity"),
        ("raidz2x256", "3 to 255 drives"),
        ("raidz2", "number of drives is missing; did you mean raidz2x6"),
        ("mirror1", "nothing to resilver from"),
        ("mirror0", "2 to 255"),
        ("mirror256", "2 to 255"),
        ("mirror", "did you mean mirror2"),
        ("0*mirror2", "from 1 to 10000"),
        ("9999*mirror2+2*mirror2", "asks for 10001"),
        ("99999999999999999999*mirror2", "too large"),
        ("mirror2+", "a vdev is missing"),
        ("*mirror2", "no vdev"),
        ("4*2*mirror2", "no vdev"),
        ("-1*mirror2", "no vdev"),
        ("raidz2x6,raidz2x6", "no vdev"),
        ("", "known forms"),
        ("draid2:8d", "number of drives is missing"),
        ("draid2:8d:9c", "does not fit"),
        ("draid2:8d:8d:41c", "twice"),
        ("draid2:0d:41c", "at least one data"),
        ("draid4:8d:41c", "1, 2 or 3 parity"),
        ("draid2:8d:300c", "2 to 255"),
        ("draid1:1d:250c:101s", "0 to 100"),
        ("٣*mirror2", "no vdev"),
    ],
)
def test_refusals_say_why(text: str, reason: str) -> None:
    with pytest.raises(InputError, match="^layout") as caught:
        Layout.parse(text)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    "wrong",
    [("raidz", 6, 2, 5, 0), ("mirror", 2, 1, 1, 0), ("mirror", 2, 0, 2, 0), ("raidz", 6, 2, 4, 1)],
)
def test_a_spec_that_contradicts_itself_cannot_be_built(wrong: tuple[str, int, int, int, int]) -> None:
    with pytest.raises(InputError):
        VdevSpec(*wrong)  # type: ignore[arg-type]


def test_vdevs_are_refused_where_the_layout_counts_itself() -> None:
    with pytest.raises(InputError, match="has its own count"):
        Layout.parse("2*mirror2").repeated(2)
    with pytest.raises(InputError, match="1 to 10000"):
        Layout.parse("mirror2").repeated(0)
    with pytest.raises(InputError, match="1 to 10000"):
        Layout(())


def test_what_scans_read_is_all_but_the_log():
    layout = Layout.parse("2*raidz2x6+special:mirror2+log:mirror2+cache:1")
    assert [str(vdev) for vdev in layout.stored] == ["raidz2x6", "raidz2x6", "special:mirror2"]
    assert layout.data == layout.stored[:2]


def test_cache_and_spare_without_a_number_are_one_drive() -> None:
    layout = Layout.parse("raidz2x8+special:mirror2+cache+spare")
    assert (layout.cache, layout.spares, str(layout)) == (1, 1, "raidz2x8+special:mirror2+cache:1+spare:1")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("raidz2x6->7", "raidz2x6 with --operation expand, and raidz2x6+1 when it is done"),
        ("raidz1x4->raidz1x5", "raidz1x4 with --operation expand, and raidz1x4+1 when it is done"),
        ("mirror2+log", "log needs a vdev, as in log:mirror2"),
        ("raidz2-6", "did you mean raidz2x6?"),
        ("RAIDZ2 6", "did you mean raidz2x6?"),
        ("raid6x6", "did you mean raidz2x6?"),
        ("raidz2", "the number of drives is missing; did you mean raidz2x6?"),
        ("mirror", "the number of drives is missing; did you mean mirror2?"),
        ("draid2", "the number of drives is missing; did you mean draid2:8d:24c:1s?"),
        ("2xmirror2", "did you mean 2*mirror2?"),
        ("4 x raidz2 x 6", "did you mean 4*raidz2x6?"),
        ("mirror2 mirrorx2", "did you mean 2*mirror2?"),
        ("mirror2x4", "did you mean 4*mirror2?"),
        ("raidz2x6*4", "did you mean 4*raidz2x6?"),
        ("raid10x8", "did you mean 4*mirror2?"),
        ("3-way mirror", "did you mean mirror3?"),
        ("raidz2(6)", "did you mean raidz2x6?"),
        ("z2x6", "did you mean raidz2x6?"),
        ("draid2:24", "did you mean draid2:8d:24c:1s?"),
        ("raidz6x2", "use raidz2x6"),
        ("raidz4x8", "use raidz3x8"),
        ("foo", "known forms are"),
    ],
)
def test_what_is_nearly_a_layout_is_told_how_it_is_written(text: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        Layout.parse(text)
