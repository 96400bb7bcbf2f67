"""Whole and right files of every kind that zsim reads: what hostile input is made from."""

from __future__ import annotations

import functools
import io
import json
import tomllib
from pathlib import Path
from typing import Any

import zstandard

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "observe" / "fixtures"
LISTS = ROOT / "tests" / "pool" / "lists"
CASES = ROOT / "validation"

SCENARIO: dict[str, Any] = {
    "layout": "raidz1x4", "fill": 0.4, "drive": "generic-7200rpm-cmr", "drive_size": "20GB", "recordsize": "128K",
    "history": "home-nas", "release": "openzfs-2.3", "operation": "resilver", "memory": "16G", "cpus": 8, "ashift": 12,
    "frag": 0.1, "seed": 3, "old_drive": "missing", "tunables": {"zfs_vdev_scrub_max_active": 3},
    "ports": [{"enclosure": "port-multiplier-cbs", "drives": [1, 2]}], "slow": [{"drive": 1, "factor": 2.0}],
    "load": [{"kind": "random-read", "rate": 10, "size": "64K"}],
    "evidence": [{"what": "finished", "kind": "scrub", "duration": "2h"}],
}  # fmt: skip
FLEET: dict[str, Any] = {
    "years": 2, "spares": 1, "lead_time": "14d", "crews": 1, "visit": "2h", "detect": "1h", "trials": 20,
    "pool": [
        {"name": "a", "count": 2, "layout": "raidz2x6", "fill": 0.7, "hours": 38, "scrub": "30d", "afr": "1.2%"},
        {"name": "b", "count": 3, "layout": "2*mirror2", "hours": 9, "age": 3},
    ],
}  # fmt: skip
PLAN: dict[str, Any] = {
    "title": "two failures", "spares": 1, "zed": True, "detection": "10m", "churn": "10G", "at_once": 1,
    "scenario": {"layout": "raidz2x5", "fill": 0.3, "drive_size": "20GB"},
    "running": {"vdev": 0, "drives": [0], "kind": "resilver", "done": "35%", "old_drive": "missing"},
    "events": [
        {"do": "fail", "at": "1h", "vdev": 0, "drive": 1},
        {"do": "replace", "after": "2h", "drive": 1, "to": "new-drive"},
        {"do": "reboot", "at": "40%", "takes": "10m", "clean": False},
        {"do": "scrub", "when": "whole"},
    ],
}  # fmt: skip


@functools.cache
def toml_at(name: str) -> dict[str, Any]:
    """Return the data of a TOML file of the project."""
    return tomllib.loads((ROOT / name).read_text())


@functools.cache
def bytes_at(name: str, most: int = 60_000) -> bytes:
    """Return the beginning of a file of the project, unpacked."""
    content = (ROOT / name).read_bytes()
    if name.endswith(".zst"):
        return zstandard.ZstdDecompressor().stream_reader(io.BytesIO(content)).read(most)
    return content[:most]


@functools.cache
def models(kind: str) -> tuple[str, ...]:
    """Return the paths of the model files of one kind."""
    return tuple(str(path.relative_to(ROOT)) for path in sorted((ROOT / "models" / kind).glob("*.toml")))


@functools.cache
def observed() -> dict[str, bytes]:
    """Return outputs of zpool, zdb and of the tools that tell of drives, by name."""
    paths = [*FIXTURES.glob("*.*"), *FIXTURES.glob("*/*"), ROOT / "docs" / "examples" / "zpool-status.txt"]
    found = {
        str(path.name): path.read_bytes()[:40_000]
        for path in sorted(paths)
        if path.suffix in {".txt", ".json"}
    }
    found["raidz2.txt"] = b"".join(
        (FIXTURES / "raidz2-2.2" / name).read_bytes() for name in ("status.txt", "list.txt")
    )
    return found


@functools.cache
def stored_result() -> dict[str, Any]:
    """Return a stored prediction."""
    from tests.conftest import sample_prediction

    data = json.loads(json.dumps(sample_prediction().to_dict()))
    data["provenance"]["scenario"] = {"layout": "mirror2", "fill": 0.3, "drive_size": 8_000_000_000}
    return dict(data)


STORE = (
    b'{"key": "106cdf2e70ac7d65a6108a3ce54a72f7", "scenario": {"layout": "raidz1x3", "fill": 0.5, "drive_size": '
    b'8000000000}, "answer": {"p10_s": 306.9, "p50_s": 417.1, "p90_s": 717.3, "bottleneck": "the source drives", '
    b'"utilisation": 0.97, "resilvered_bytes": 3955556352, "read_bytes": 7933820928}}\n'
)
BLOCK_SIZES = (
    b"type,level,quantity,size,blocks\nobject directory,,psize,4096,2\nZFS plain file,0,psize,4096,200000\n"
    b"ZFS plain file,0,psize,131072,150000\nZFS plain file,0,lsize,131072,350000\n"
)
SIZES = b"psize,blocks,lsize\n4096,1000,131072\n131072,90000,131072\n"
METASLABS = (
    b"vdev,metaslab,offset,free,fragmentation,segments\n0,0,0,6560562545,9,14:78 15:75 16:72 31:1\n"
    b"0,1,17179869184,8589934592,0,14:78 15:75 33:1\n0,2,34359738368,6431713526,14,14:78 15:75\n"
)
DD = b"offset,rate\n0,180MB/s\n100000000000,170MB/s\n500000000000,140MB/s\n900000000000,100MB/s\n"
BANDWIDTH_LOG = (
    b"1000, 180000, 0, 131072, 0\n2000, 179000, 0, 131072, 1048576\n3000, 150000, 0, 131072, 90485760000\n"
)


@functools.cache
def sqlite_store() -> bytes:
    """Return a store of answers in SQLite."""
    import tempfile

    from zsim.planning.store.sqlite import Store

    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "a.sqlite"
        with Store(path) as store:
            for seed in range(3):
                stated = {"layout": "raidz2x6", "fill": 0.5, "seed": seed}
                store.add(f"{seed:032x}", "a", stated, {"p10_s": 1.0, "p50_s": 2.0 + seed, "p90_s": 9.5})
        return path.read_bytes()


@functools.cache
def traces() -> dict[str, bytes]:
    """Return a trace in each form."""
    from zsim.observe.traces import blkparse, disksim_ascii, fio_iolog, msr_cambridge
    from zsim.observe.traces.trace import Request, trace_of

    forms = {
        "disksim": ("0", disksim_ascii.text_of), "blkparse": ("8,0", blkparse.text_of),
        "fio2": ("/dev/sda", lambda trace: fio_iolog.text_of(trace, 2)),
        "fio3": ("/dev/sda", lambda trace: fio_iolog.text_of(trace, 3)), "msr": ("usr.0", msr_cambridge.text_of),
    }  # fmt: skip
    found = {}
    for name, (device, text_of) in forms.items():
        rows = [Request(0.01 * i, device, i % 3 == 0, 4096 * (i * 7919 % 100_000), 4096) for i in range(30)]
        found[name] = text_of(trace_of(rows, "x")).encode()
    return found


@functools.cache
def block_list_rows(count: int = 400) -> bytes:
    """Return the first rows of a real block list as CSV."""
    lines = bytes_at("tests/pool/lists/mirror2-aged-2.3.9.csv.zst").split(b"\n")
    return b"\n".join(lines[: count + 1]) + b"\n"


@functools.cache
def parquet(kind: str) -> bytes:
    """Return Parquet files: of blocks as the project writes them, or of another schema."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    if kind == "blocks":
        return _imported_list()
    whole = np.arange(1, 201)
    columns: dict[str, Any] = {
        "strings": {"vdev": [str(i) for i in whole], "offset": ["x"] * 200},
        "nulls": {"vdev": [None] * 200, "offset": [None] * 200, "asize": [None] * 200},
        "nested": {"vdev": [[1, 2]] * 200, "offset": [{"a": 1}] * 200},
        "floats": {"vdev": [float("nan")] * 200, "offset": [1e300] * 200, "asize": [float("inf")] * 200},
        "empty": {"vdev": [], "offset": [], "asize": []},
    }[kind]  # fmt: skip
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


def _imported_list() -> bytes:
    """Return a list of blocks as zsim import writes it."""
    import tempfile

    from zsim.observe.pool_import.importing import import_pool

    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "b.parquet"
        import_pool([FIXTURES / "status-2.1.txt", FIXTURES / "pointers.txt"], blocks=path)
        return path.read_bytes()
