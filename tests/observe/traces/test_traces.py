"""Block traces: what is written is read back, and what is wrong is refused by file and line."""

import gzip

import hypothesis.strategies as st
import numpy as np
import pytest
import zstandard
from hypothesis import given

from zsim.base.errors import InputError
from zsim.observe.traces import blkparse, disksim_ascii, fio_iolog, msr_cambridge
from zsim.observe.traces.reading import READERS, read_trace
from zsim.observe.traces.trace import SECTOR, Request, trace_of

DEVICES = {
    "disksim": ("0", "3"),
    "blkparse": ("8,0", "8,16"),
    "fio": ("/dev/sda", "/dev/mapper/x"),
    "msr": ("usr.0", "src1.2"),
}
# Writers and the resolution of their times [s]; fio twice, for its two versions.
FORMATS = {
    "disksim": ("disksim", disksim_ascii.text_of, 1e-9),
    "blkparse": ("blkparse", blkparse.text_of, 1e-9),
    "fio-2": ("fio", lambda trace: fio_iolog.text_of(trace, 2), 1e-6),
    "fio-3": ("fio", lambda trace: fio_iolog.text_of(trace, 3), 1e-6),
    "msr": ("msr", msr_cambridge.text_of, 1e-7),
}


def traces(form):
    request = st.builds(
        lambda microseconds, device, is_write, sector, sectors: Request(
            microseconds * 1e-6, device, is_write, sector * SECTOR, sectors * SECTOR
        ),
        st.integers(0, 10**10),
        st.sampled_from(DEVICES[form]),
        st.booleans(),
        st.integers(0, 2**40),
        st.integers(1, 4096),
    )
    return st.lists(request, min_size=1, max_size=30).map(lambda rows: trace_of(rows, "generated"))


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data())
def test_a_trace_that_is_written_is_read_back(name, data, tmp_path_factory):
    form, text_of, resolution = FORMATS[name]
    trace = data.draw(traces(form))
    path = tmp_path_factory.mktemp("trace") / "trace.txt"
    path.write_text(text_of(trace))
    again = read_trace(path)
    assert [r[1:] for r in again.requests()] == [r[1:] for r in trace.requests()]
    if again.arrival is not None:
        np.testing.assert_allclose(again.arrival, trace.arrival, atol=2 * resolution)
    else:
        assert name == "fio-2"
        assert np.ptp(trace.arrival) < 1e-6


@pytest.mark.parametrize("name", FORMATS)
def test_a_packed_trace_reads_like_a_plain_one(name, tmp_path):
    form, text_of, _ = FORMATS[name]
    device = DEVICES[form][0]
    trace = trace_of([Request(0.0, device, False, 0, 4096), Request(0.5, device, True, 8192, 512)], "x")
    text = text_of(trace).encode()
    (tmp_path / "t.gz").write_bytes(gzip.compress(text))
    (tmp_path / "t.zst").write_bytes(zstandard.compress(text))
    for packed in ("t.gz", "t.zst"):
        assert read_trace(tmp_path / packed).offset.tolist() == [0, 8192]


def test_lines_as_the_real_tools_print_them(tmp_path):
    (tmp_path / "blk").write_text(
        "  8,0    3        1     0.000000000   697  G   W 223490 + 8 [kjournald]\n"
        "  8,0    3        2     0.000001829   697  P   R [kjournald]\n"
        "  8,0    3        3     0.000002197   697  Q   W 223490 + 8 [kjournald]\n"
        "  8,0    3        4     0.000005000   697  D  WS 223490 + 8 [kjournald]\n"
        "  8,0    3        5     0.000006000   697  D   R 1000 + 256 [dd]\n"
        "  8,0    3        6     0.000007000   697  D   D 5000 + 4096 [fstrim]\n"
        "  8,0    3        7     0.000008000   697  D  FN [sync]\n"
        "  8,0    3        8     0.000159000     0  C   W 223490 + 8 [0]\n"
        "CPU0 (8,0):\n Reads Queued:           1,      128KiB\n"
    )
    trace = read_trace(tmp_path / "blk")
    assert trace.is_write.tolist() == [True, False]
    assert trace.length.tolist() == [8 * 512, 256 * 512]
    (tmp_path / "msr").write_text(
        "128166385295514663,hm,0,Write,9056014336,2048,2833\n"
        "128166385295514878,hm,0,Write,11855351808,512,2617\n"
        "128166385301451520,hm,0,Read,3163095040,40960,3438\n"
    )
    trace = read_trace(tmp_path / "msr")
    assert trace.devices == ("hm.0",)
    assert trace.arrival == pytest.approx([0, 2.15e-5, 0.5936857])
    (tmp_path / "fio").write_text(
        "fio version 2 iolog\n/dev/x add\n/dev/x open\n"
        "/dev/x read 0 4096\n/dev/x write 8192 4096\n/dev/x close\n"
    )
    trace = read_trace(tmp_path / "fio")
    assert trace.arrival is None
    assert trace.is_write.tolist() == [False, True]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", "formats"),
        ("hello\n", "formats"),
        ("fio version 2 iolog\n/dev/x read zero 4096\n", "line 2"),
        ("fio version 3 iolog\n5 /dev/x wait 1 1\n", "line 2"),
        ("fio version 3 iolog\n", "no read or write"),
        ("1.0 0 100 8 1\n2.0 0 x 8 1\n", "line 2"),
        ("1.0 0 100 0 1\n", "positive length"),
        ("nan 0 100 8 1\n", "formats"),
        ("1281,hm,0,Read,1,1,1\n1281,hm,0,Trim,1,1,1\n", "line 2"),
        ("8,0 3 1 0.000000000 697 D W 223490 + 8 [k]\n8,0 garbage\n", "line 2"),
    ],
)
def test_a_wrong_trace_is_refused_with_its_line(text, names, tmp_path):
    (tmp_path / "trace").write_text(text)
    with pytest.raises(InputError, match=names):
        read_trace(tmp_path / "trace")


def test_a_truncated_archive_a_missing_file_and_an_unknown_format_are_refused(tmp_path):
    (tmp_path / "t.gz").write_bytes(gzip.compress(b"1.0 0 100 8 1\n" * 1000)[:30])
    with pytest.raises(InputError, match=r"t\.gz"):
        read_trace(tmp_path / "t.gz")
    with pytest.raises(InputError, match="no such file"):
        read_trace(tmp_path / "none")
    with pytest.raises(InputError, match="blkparse"):
        read_trace(tmp_path / "t.gz", "ftrace")
    assert set(READERS) == set(DEVICES)


def test_one_device_is_chosen_or_named():
    rows = [
        Request(1.0, "a", False, 0, 512),
        Request(3.0, "b", False, 512, 512),
        Request(4.0, "b", True, 0, 512),
    ]
    trace = trace_of(rows, "x")
    assert len(trace.of_device("b")) == 2
    assert trace.of_device("b").arrival.tolist() == [0.0, 1.0]
    with pytest.raises(InputError, match="a, b"):
        trace.of_device(None)
    with pytest.raises(InputError, match="a, b"):
        trace.of_device("c")
    assert len(trace.of_device("a").of_device(None)) == 1


def test_a_time_of_centuries_is_an_error_of_the_trace(tmp_path):
    """As of 2**63 nanoseconds in one line: what a drive does of its own meanwhile is no number then."""
    path = tmp_path / "t"
    before = "fio version 3 iolog\n0 sda read 0 4096\n1000 sda read 4096 4096\n"
    path.write_text(before + "9223372036854775808 sda read 8192 4096\n3000 sda read 12288 4096\n")
    with pytest.raises(InputError, match="span at most ten years"):
        read_trace(path)
    path.write_text(before + "86400000000000 sda read 8192 4096\n")
    assert len(read_trace(path)) == 3
