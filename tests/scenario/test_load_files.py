"""Loads that a file names: job files of fio, output of zpool iostat; what has no meaning is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from zsim import Scenario
from zsim.base.errors import InputError
from zsim.case.resolve import resolve
from zsim.prediction.inputs.ensemble import unknowns
from zsim.scenario.files import read_scenario
from zsim.scenario.loads.named import is_file
from zsim.scenario.parts import Load

NIGHT = """\
; a database all day, a backup at night
[global]
ioengine=libaio
direct=1
size=10g
group_reporting

[database]
rw=randread
bs=16k
iodepth=8
numjobs=2
thinktime=500

[backup]
readwrite=read
bs=1m
rate=50m
startdelay=1h
runtime=4h

[ingest]
rw=randrw
bs=4k,128k
rate_iops=200,50
"""
RATES = """\
$ zpool iostat -v tank 10 3
              capacity     operations     bandwidth
pool        alloc   free   read  write   read  write
----------  -----  -----  -----  -----  -----  -----
tank        10.2T  4.30T     12     40  1.20M  5.00M
  raidz2-0  10.2T  4.30T     12     40  1.20M  5.00M
    sda         -      -      4     20   300K  1.20M
----------  -----  -----  -----  -----  -----  -----
tank        10.2T  4.30T    100     50  1.56M  6.25M
  raidz2-0  10.2T  4.30T    100     50  1.56M  6.25M
    sda         -      -     70     30   400K  1.50M
----------  -----  -----  -----  -----  -----  -----
tank        10.2T  4.30T   1.1K     70  1.88M  8.75M
"""
SIZES = """\
tank          sync_read    sync_write    async_read    async_write      scrub         trim
req_size      ind    agg    ind    agg    ind    agg    ind    agg    ind    agg    ind    agg
----------  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----
4K            {}      0      30      0      0      0     30      0      0      0      0      0
32K           100      0      0      0      0      0      0      0     50      0      0      0
128K            0      4      0      0      0     20      0     12      0      9      0      0
---------------------------------------------------------------------------------------------
"""


def loads(tmp_path: Path, text: str, name: str = "load.txt", **stated: object) -> tuple[Load, ...]:
    path = tmp_path / name
    path.write_text(text)
    scenario = Scenario.from_dict({"layout": "raidz2x6", "fill": 0.5, "load": str(path), **stated})
    # What comes of it stands in the scenario, which no longer needs the file.
    path.unlink()
    assert Scenario.from_dict(scenario.stated()) == scenario
    return scenario.load or ()


def test_jobs_of_fio_become_loads(tmp_path: Path) -> None:
    database, backup, reads, writes = loads(tmp_path, NIGHT, "night.fio", begins="fri 22:30")
    assert (database.kind, database.threads, database.size) == ("random-read", 16, 16 << 10)
    assert (database.think, database.hours) == (pytest.approx(500e-6), None)
    assert (backup.kind, backup.bandwidth, backup.size) == ("sequential-read", 50 * 2**20, 1 << 20)
    assert str(backup.hours) == "fri 23:30-03:30"
    assert (reads.kind, reads.rate, reads.size) == ("random-read", 200.0, 4096)
    assert (writes.kind, writes.rate, writes.size) == ("async-write", 50.0, 128 << 10)


@pytest.mark.parametrize(
    ("job", "fields"),
    [
        ("rw=randread\niodepth=32", {"threads": 1, "size": 4096}),
        ("rw=randread\niodepth=32\nioengine=io_uring", {"threads": 32}),
        ("rw=randwrite\nfsync=1\nnumjobs=4", {"kind": "sync-write", "threads": 4}),
        ("rw=write:8k\nsync=dsync\nbs=4ki", {"kind": "sync-write", "size": 4000}),
        ("rw=read\nrate=10m\nnumjobs=3", {"bandwidth": 30.0 * 2**20}),
        ("rw=randread\nrate_iops=20\nnumjobs=3", {"rate": 60.0}),
        ("rw=randread\nruntime=60d", {"hours": None}),
    ],
)
def test_options_mean_what_fio_means(tmp_path: Path, job: str, fields: dict[str, object]) -> None:
    (found,) = loads(tmp_path, f"[job]\n{job}\n")
    assert {name: getattr(found, name) for name in fields} == fields


@pytest.mark.parametrize(
    ("job", "said"),
    [
        ("rw=randtrim", "job one: rw=randtrim"),
        ("rw=fast", "rw=fast"),
        ("rw=write", "need a rate"),
        ("rw=randread\nbssplit=4k/50:64k/50", "requests of one size"),
        ("rw=randread\nstonewall", "jobs that run together"),
        ("rw=randread\nruntime=1h", "begins"),
        ("rw=randread\nbs=(4k*2)", "no whole number"),
        ("rw=randread\nbs=${SIZE}", "no whole number"),
        ("rw=randread\nrate=1m\nrate_iops=5", "one of rate and rate_iops"),
        ("rw=randread\nbs=999999999999t", "2**63"),
        ("rw=randread\nnumjobs=99999999", "threads"),
        ("rw=randread\nrw=randread", "each section once"),
        ("rw=randread\n[one]", "each section once"),
        ("rw=randread\n[global", "is no option"),
    ],
)
def test_jobs_without_a_meaning_are_refused_in_one_sentence(tmp_path: Path, job: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        loads(tmp_path, f"[one]\n{job}\n")
    assert said in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


def test_a_runtime_of_more_than_a_day_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="less than a day"):
        loads(tmp_path, "[one]\nrw=randread\nruntime=30h\n", begins="fri 12:00")


def test_rates_of_zpool_iostat_are_those_after_the_first_sample(tmp_path: Path) -> None:
    reads, writes = loads(tmp_path, RATES)
    assert (reads.kind, reads.size) == ("random-read", None)
    assert reads.rate == pytest.approx((100 + 1126) / 2, abs=1)
    assert writes.rate == 60.0
    assert writes.size == pytest.approx(7.5 * 2**20 / 60, rel=0.01)
    first, *_ = loads(tmp_path, RATES.replace("iostat -v", "iostat -vy"))
    assert first.rate == pytest.approx((12 + 100 + 1126) / 3, abs=1)


def test_sizes_of_zpool_iostat_are_data_by_class_without_parity(tmp_path: Path) -> None:
    random, *others = loads(tmp_path, SIZES.format(7) + SIZES.format(200))
    kib = 1024.0
    # A record is read from four drives, and each of its reads is a seek.
    assert (random.kind, random.rate) == ("random-read", 304 / 4)
    assert random.size == pytest.approx((200 * 4 + 100 * 32 + 4 * 128) * kib / 76, abs=1)
    assert {each.kind: each.bandwidth for each in others} == {
        "sequential-read": pytest.approx(20 * 128 * kib),
        # Four of six drives hold data.
        "sync-write": pytest.approx(30 * 4 * kib * 4 / 6),
        "async-write": pytest.approx((30 * 4 + 12 * 128) * kib * 4 / 6),
    }


def test_each_side_of_a_mirror_writes_what_one_of_them_reads(tmp_path: Path) -> None:
    _, random, _, synchronous = sorted(
        loads(tmp_path, SIZES.format(200), layout="2*mirror3"), key=lambda each: each.kind
    )
    assert (random.kind, random.rate, random.size) == ("random-read", 304.0, round(4512 * 1024 / 304))
    assert synchronous.bandwidth == pytest.approx(30 * 4 * 1024 / 3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "neither"),
        ("\x00\xff\x01" * 99, "neither"),
        ("[", "neither"),
        ("hello\n" * 1000, "neither"),
        ("[global]\nrw=read\n", "0 jobs"),
        ("\n".join(f"[job{n}]\nrw=randread" for n in range(500)), "500 jobs"),
        (RATES.split("tank  ", maxsplit=1)[0], "does nothing"),
        (RATES + "dozer  1T 1T 5 5 5K 5K\n", "tank and dozer"),
        ("tank  total_wait  disk_wait\nlatency read write\n", "histograms of waits"),
        (SIZES.split("4K", maxsplit=1)[0], "does nothing"),
    ],
)
def test_a_file_without_a_load_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        loads(tmp_path, text)
    assert said in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("name", ["./nothing.fio", "/", "/dev/zero", "../x\x00y", "/tmp/" + "a" * 5000])
def test_what_is_no_file_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="load"):
        Scenario.from_dict({"layout": "raidz2x6", "load": name})


def test_words_and_settings_are_no_files() -> None:
    assert not any(map(is_file, ["backup 1.5MB/s", "reads 20/s", "random-read,rate=1.5", "none", 5, None]))


def test_a_scenario_file_names_loads_beside_it(tmp_path: Path) -> None:
    (tmp_path / "a.fio").write_text("[job]\nrw=randread\n")
    scenario = tmp_path / "pool.toml"
    scenario.write_text('layout = "raidz2x6"\nload = ["a.fio", "reads 20/s"]\n')
    found = Scenario.from_dict(read_scenario(scenario)).load or ()
    assert [each.kind for each in found] == ["random-read", "random-read"]


@pytest.mark.parametrize(
    ("line", "reads", "writes"), [("", 50, 50), ("rwmixread=70\n", 70, 30), ("rwmixread=101\n", 100, 1)]
)
def test_threads_that_read_and_write_are_divided_as_fio_divides_them(
    tmp_path: Path, line: str, reads: int, writes: int
) -> None:
    """Half and half unless rwmixread says otherwise; nobody is left without a thread."""
    text = f"[job]\nrw=randrw\nbs=16k\nioengine=libaio\nsync=1\niodepth=100\nthinktime=500\n{line}"
    found = {load.kind: load.threads for load in loads(tmp_path, text, "job.fio")}
    assert found == {"random-read": reads, "sync-write": writes}


@pytest.mark.parametrize("load", ["none", " None ", ["none"]])
def test_that_nothing_else_uses_the_pool_is_stated_by_a_word(load: object) -> None:
    scenario = Scenario.from_dict({"layout": "mirror2", "load": load})
    assert scenario.load == ()
    assert "load" in scenario.stated()
    assert "load" not in {each.name for each in unknowns(resolve(scenario))}
    assert "load" in {each.name for each in unknowns(resolve(Scenario(layout="mirror2")))}


def test_no_load_beside_a_load_is_refused() -> None:
    with pytest.raises(InputError, match="leave one of the two out"):
        Scenario.from_dict({"layout": "mirror2", "load": ["none", "random-read,rate=5"]})
