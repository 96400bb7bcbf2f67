"""fio's output and tables of dd runs as samples of a drive."""

import json

import pytest

from zsim.base.errors import InputError
from zsim.observe.drives.samples import dd_samples, fio_samples

TB = 10**12


def write(tmp_path, text, name="x"):
    path = tmp_path / name
    path.write_text(text)
    return path


def fio(*jobs, **common):
    return json.dumps({"fio version": "fio-3.33", "global options": common, "jobs": list(jobs)})


def job(options, **read):
    return {"jobname": "j", "job options": options, "read": read, "write": {"iops": 0}}


def test_fio_json_gives_sequential_and_random_samples(tmp_path):
    text = fio(
        job({"rw": "read", "offset": "50%", "size": "1g"}, iops=900.0, bw=120000, bw_bytes=122880000),
        job({"rw": "randread", "bs": "4k", "iodepth": "8", "size": "100g"}, iops=110.5, bw=442),
        job({"rw": "randwrite"}, iops=0),
        filename="/dev/sdx",
    )
    one, two = fio_samples(write(tmp_path, text), TB)
    assert (one.kind, one.value, one.start) == ("sequential", 122880000, 0.5)
    assert one.span == pytest.approx(2**30 / TB)
    assert (two.kind, two.value, two.depth, two.size, two.start) == ("random", 110.5, 8, 4096, 0.0)
    assert two.span == pytest.approx(100 * 2**30 / TB)


@pytest.mark.parametrize(("options", "depth"), [({}, 1), ({"iodepth": "4"}, 4), ({"numjobs": "3"}, 3)])
def test_a_job_keeps_one_read_outstanding_where_it_says_nothing_else(tmp_path, options, depth):
    text = fio(job({"rw": "randread", **options}, iops=110.5, bw=442))
    (one,) = fio_samples(write(tmp_path, text), TB)
    assert (one.depth, one.size) == (depth, 4096)


def test_a_bandwidth_log_is_placed_by_offset_or_by_what_was_read_so_far(tmp_path):
    with_offset = fio_samples(
        write(tmp_path, "1000, 100000, 0, 131072, 0\n2000, 90000, 0, 131072, 500000000000\n"), TB
    )
    assert [s.start for s in with_offset] == [0.0, 0.5]
    plain = fio_samples(
        write(tmp_path, "1000, 100000, 0, 131072\n2000, 90000, 0, 131072\n3000, 1, 1, 4096\n"), TB
    )
    assert [s.start for s in plain] == pytest.approx([0.0, 102400000 / TB])
    assert plain[1].value == 90000 * 1024


def test_a_long_table_tells_how_much_of_it_is_read(tmp_path):
    told = []
    path = write(tmp_path, "offset,rate\n" + "1GB,100MB/s\n" * 2500)
    assert len(dd_samples(path, TB, lambda share, words: told.append((round(share, 1), words)))) == 2500
    assert told == [(0.4, f"reading {path.name}"), (0.8, f"reading {path.name}")]


def test_a_table_of_dd_runs(tmp_path):
    text = "offset,rate,length\n0,118MB/s,1GB\n500GB, 95e6, 1000000000\n"
    one, two = dd_samples(write(tmp_path, text), TB)
    assert (one.value, one.span) == (118e6, 0.001)
    assert (two.value, two.start) == (95e6, 0.5)


@pytest.mark.parametrize(
    ("reader", "text", "names"),
    [
        (fio_samples, "{", "--fio"),
        (fio_samples, '{"jobs": 3}', "--fio"),
        (fio_samples, fio(job({"rw": "write"}, iops=0)), "no sequential or random read"),
        (fio_samples, fio(job({"rw": "read", "offset": "2t"}, iops=1.0, bw=1)), "1000000000000"),
        (fio_samples, fio(job({"rw": "read", "offset": "x%"}, iops=1.0, bw=1)), "percentage"),
        (fio_samples, "1000, fast, 0, 4096\n", "line 1"),
        (fio_samples, "1000\n", "line 1"),
        (dd_samples, "place,speed\n1,2\n", "offset and rate"),
        (dd_samples, "offset,rate\n0,fast\n", "line 2: rate"),
        (dd_samples, "offset,rate\n2TB,100MB/s\n", "1000000000000"),
        (dd_samples, "offset,rate\n", "no sequential or random read"),
        (dd_samples, "", "offset and rate"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(reader, text, names, tmp_path):
    with pytest.raises(InputError, match=names):
        reader(write(tmp_path, text), TB)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        dd_samples(tmp_path / "none", TB)


@pytest.mark.parametrize("depth", ["0", "-1", "2147483648", "9223372036854775808"])
def test_a_queue_deeper_than_any_drive_has_is_refused(tmp_path, depth):
    text = fio(job({"rw": "randread", "bs": "4k", "iodepth": depth}, iops=195.3, bw=781))
    with pytest.raises(InputError, match="iodepth x numjobs"):
        fio_samples(write(tmp_path, text), TB)
