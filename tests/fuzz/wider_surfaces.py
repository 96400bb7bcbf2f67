"""More surfaces: options that are nearly right, files of loads, defaults and environment, pools that are asked, stories."""

from __future__ import annotations

import functools
import json
import random
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

import click

from tests.fuzz import documents as docs
from tests.fuzz import mutations as mut
from tests.fuzz.surfaces import OUTPUTS, WRITTEN, Trial, base_words, commands, files, json_bytes, toml_bytes

FIO = b"""\
[global]
ioengine=libaio
direct=1
[nightly]
rw=randrw
rwmixread=70
bs=64k,16k
iodepth=8
numjobs=2
startdelay=10m
runtime=8h
[stream]
rw=read
bs=1m
rate=40m,20m
[log]
rw=write
sync=1
rate_iops=20
thinktime=500
"""
IOSTAT = b"""\
$ zpool iostat -v tank 10 3
              capacity     operations     bandwidth
pool        alloc   free   read  write   read  write
----------  -----  -----  -----  -----  -----  -----
tank        30.1T   100T     50     10  5.00M  1.00M
  raidz1-0  30.1T   100T     50     10  5.00M  1.00M
    sda         -      -     12      2  1.25M   250K
----------  -----  -----  -----  -----  -----  -----
tank        30.1T   100T    800      3   800M  64.0K
  raidz1-0  30.1T   100T    800      3   800M  64.0K
    sda         -      -    200      1   200M  16.0K
----------  -----  -----  -----  -----  -----  -----
"""
SIZES = b"""\
$ zpool iostat -ry tank 60 1

tank          sync_read    sync_write    async_read    async_write      scrub         trim         rebuild
req_size      ind    agg    ind    agg    ind    agg    ind    agg    ind    agg    ind    agg    ind    agg
----------  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----
512             0      0      0      0      0      0      0      0      0      0      0      0      0      0
4K             20      0     12      0      3      0     90      4      0      0      0      0      0      0
16K             5      1      0      2      0      7      0     10      0      0      0      0      0      0
1M              0      0      0      0      0     13      0      5      0     77      0      0      0      0
----------  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----
"""
WAITS = b"""\
tank         total_wait     disk_wait    syncq_wait    asyncq_wait
latency      read  write   read  write   read  write   read  write  scrub   trim  rebuild
----------  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----
1us             0      0      0      0      0      0      0      0      0      0      0
8ms           120      4    120      4      0      0      0      0     12      0      0
1s              1      0      1      0      0      0      0      0      0      0      0
----------  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----  -----
"""
LOADS: dict[str, bytes] = {"l.fio": FIO, "l.txt": IOSTAT, "sizes.txt": SIZES, "waits.txt": WAITS}
RIGHT: dict[str, tuple[str, ...]] = {
    "--layout": ("mirror2", "raidz1x4", "2*raidz2x6", "draid1:4d:8c:1s", "raidz2x6 special mirror2", "3*mirror2", "raidz3x11"),
    "--vdevs": ("2", "1"), "--fill": ("0.3", "50%", "97%"), "--alloc": ("3G", "1.5T"), "--recordsize": ("128K", "1M", "4K", "16M"),
    "--history": ("vm-host", "home-nas", "database"), "--frag": ("12%", "0.5"), "--ashift": ("9", "12", "13", "16"),
    "--drive": ("hd103uj", "generic-5400rpm-smr", "generic-nvme-ssd", "wd40efax"), "--drive-size": ("20GB", "4TB", "8EB", "1GB"),
    "--new-drive": ("mg08aca16", "hd103uj"), "--new-drive-size": ("16TB", "30GB", "1GB"),
    "--exchanged": ("0:@8TB", "0:mg08aca16", "1:hd103uj"), "--slow": ("3:x2.5", "1:1%@200ms", "0:x5,on=2h,off=20h"),
    "--enclosure": ("usb-dock", "jbod-60", "direct"), "--ports": ("port-multiplier-cbs:1,2", "usb-dock:0"),
    "--release": ("openzfs-2.1.5", "zol-0.7.13", "freebsd-9.1", "solaris-11.2", "openzfs-2.4"),
    "--product": ("truenas-25.10", "debian-12", "proxmox-9.0", "freebsd-14.3"),
    "--tunable": ("zfs_vdev_scrub_max_active=8 22:00-06:00", "zfs_scan_legacy=1", "zfs_resilver_min_time_ms=5000", "zfs_scan_vdev_limit=4M"),
    "--memory": ("16G", "2G", "1T"), "--cpus": ("8", "1"), "--hz": ("100", "1000"),
    "--operation": ("scrub", "resilver", "rebuild", "expand", "remove"), "--order": ("auto", "legacy", "sorted"),
    "--replace": ("1", "2"), "--second-at": ("80%", "0"), "--old-drive": ("missing", "online", "overwritten"),
    "--target": ("new-drive", "distributed-spare"), "--begins": ("fri 13:41", "mon 00:00", "13:41"),
    "--load": ("random-read,rate=50,size=64K", "backup 100MB/s 22:00-06:00", "l.fio", "l.txt", "sizes.txt", "waits.txt",
               "sync-write,rate=20,size=16K", "random-read,threads=4,think=5ms", "sequential-read,bandwidth=20MB/s"),
    "--evidence": ("scrub=25h17m", "resilver=11h,alloc=12.1T,date=2026-05-03", "sequential-read=180MB/s", "scrub=2h,errors=1"),
    "--precision": ("1%", "0.5"), "--engine": ("compiled", "reference"), "--seed": ("3", "0"), "--vdev-fills": ("80%,30%", "50%"),
    "--special-small-blocks": ("32K", "0"), "--special-drive": ("860-evo-1tb", "generic-nvme-ssd"), "--special-drive-size": ("960GB",),
    "--special-added-at": ("40%", "0"), "--replace-in": ("1", "0", "special"), "--rewritten": ("50%", "0", "1"),
    "--erc": ("7s", "none"), "--platform": ("linux", "freebsd", "illumos"), "--bad-sectors": ("3:1000", "0:1"),
    "--attached": ("3:sata-1.5g", "0:no-ncq", "1:usb2"), "--set": ("fill=0.4", "tunables.zfs_scan_legacy=1", "load=[]", "slow=[{drive=1,factor=2}]"),
    "--width": ("3,4", "4..6", "4..12"), "--parity": ("1", "0,1,2"), "--hours": ("24", "24h"), "--drives": ("12", "0,1", "0"),
    "--require": ("p90 < 48h", "vdev < 1 in 1,000", "usable > 1T", "drives <= 8", "random > 100"), "--jobs": ("1", "2"),
    "--fail": ("0", "1:3"), "--replace-after": ("2h",), "--done": ("35%", "0", "100%"), "--years": ("2", "30"), "--trials": ("10",),
    "--find": ("layouts", "width", "fill", "worth"), "--procedure": ("replace-one", "migrate", "list"), "--data": ("40T", "1G"),
    "--usable": ("10T", "1G"), "--budget": ("5000",), "--price": ("300", "0"), "--spares": ("1", "0"), "--sort": ("p90", "usable", "vdev"),
    "--kinds": ("mirror", "raidz,draid"), "--confirm": ("1", "0"), "--afr": ("1.5%", "ST16000NM001G"), "--mttf": ("1e6",),
    "--mttr": ("24",), "--correlation": ("1", "10"), "--correlation-law": ("frailty", "same", "successive"),
    "--latent-incidence": ("0.27%", "0"), "--scrub": ("30d", "never"), "--detect": ("12h", "0"), "--spare": ("hot", "shelf", "order"),
    "--age": ("3", "0"), "--age-factor": ("0.7", "3"), "--shape": ("1.12", "1"), "--stress": ("2",), "--overlap": ("joint", "one"),
    "--method": ("chain", "simulation"), "--axis": ("fill=0.3,0.6", "load='none;random-read,rate=50'", "tunables.zfs_scan_legacy=0,1"),
    "--shard": ("1/2", "2/2"), "--running": ("resilver", "rebuild", "scrub"), "--waiting": ("1", "0,1"), "--replace-too": ("2", "0"),
    "--replace-drive": ("0", "1"), "--second-fails-at": ("40%", "6h"), "--second-replace-after": ("2h",), "--unreadable-at": ("40%", "6h"),
    "--reboot-at": ("5h", "60%"), "--zpool-resilver-at": ("5h", "60%"), "--outage": ("6h",), "--churn": ("10G", "0"), "--detection": ("10m", "0"),
    "--at-once": ("1", "2"), "--replace-drives": ("0,1",), "--pool": ("tank", "rpool"), "--depth": ("4", "1"), "--format": ("fio", "msr"),
    "--device": ("0",), "--cases": ("case",), "--population": ("given", "recipe"),
}  # fmt: skip
"""Right values of every option that has one; an option that is new draws from the hostile words until it is here."""
NOT_RUN = frozenset({"--dask", "--watch"})


def _word(chance: random.Random, name: str) -> str:
    """Return a value of an option: right, nearly right, or of another option."""
    values = RIGHT.get(name, mut.WORDS)
    kind = chance.random()
    if kind < 0.55:
        return chance.choice(values)
    if kind < 0.65:
        return chance.choice(RIGHT[chance.choice(sorted(RIGHT))])
    if kind < 0.75:
        return chance.choice(mut.WORDS)
    damaged = mut.damaged_bytes(chance, chance.choice(values).encode("utf-8", "surrogateescape"))
    return damaged[:50_000].decode("utf-8", "surrogateescape")


def near_flags(chance: random.Random) -> Trial:
    """Return a command with several options that are right or nearly: what comes together is what nobody tried."""
    name = chance.choice(list(commands()))
    options = [
        each for each in commands()[name] if isinstance(each, click.Option) and not NOT_RUN & set(each.opts)
    ]
    words = [*name.split(), *base_words(name)]
    for option in chance.choices(options, k=chance.choice((2, 3, 5, 8))) if options else ():
        flag = chance.choice([*option.opts, *option.secondary_opts])
        if option.is_flag or flag in option.secondary_opts:
            words.append(flag)
        elif flag in OUTPUTS:
            words += [flag, chance.choice(WRITTEN)]
        else:
            words += [flag, _word(chance, flag)]
    return Trial("", tuple(words), {**files(), **LOADS})


def load_files(chance: random.Random) -> Trial:
    """Return a damaged file of loads, named by a flag or by a scenario beside it."""
    name = chance.choice(sorted(LOADS))
    content = mut.damaged_bytes(chance, LOADS[name])
    if chance.random() < 0.1:
        content, name = mut.packed(content, ".gz"), name + ".gz"
    pool = [
        "--layout",
        chance.choice(("raidz1x4", "mirror2", "draid1:4d:8c:1s")),
        "--fill",
        "0.3",
        "--drive-size",
        "20GB",
    ]
    begins = ["--begins", "fri 13:41"] if chance.random() < 0.7 else []
    given: dict[str, bytes | str] = {name: content}
    if chance.random() < 0.2:
        given["in/s.toml"] = mut.toml_of(
            {"layout": "raidz1x4", "fill": 0.3, "drive_size": "20GB", "load": [f"../{name}"]}
        )
        return Trial("", ("scenario", "show", "--scenario", "in/s.toml", *begins), given)
    head = chance.choice((["predict"], ["scenario", "show"], ["scenario", "show", "--json"], ["decide", "--done", "3%"],
                          ["predict", "--why"], ["timeline", "--fail", "0"], ["plan", "--find", "fill"]))  # fmt: skip
    several = ["--load", f"./{name}"] if chance.random() < 0.2 else []
    return Trial("", (*head, *pool, *begins, "--load", name, *several), given)


DEFAULTS: dict[str, Any] = {
    "scenario": {"fill": 0.4, "drive": "generic-7200rpm-cmr", "release": "openzfs-2.3", "memory": "16G", "history": "home-nas",
                 "tunables": {"zfs_vdev_scrub_max_active": 3}, "load": ["random-read,rate=10,size=64K"]},
}  # fmt: skip
AROUND: dict[str, tuple[str, ...]] = {
    "COLUMNS": ("0", "-1", "1", "3", "99999999999", "x", "\udcff"), "LINES": ("0", "x"), "TERM": ("", "dumb", "x" * 5000),
    "TZ": ("Nowhere/None", ":/etc/passwd", "\udcff", "UTC-99", ""), "LANG": ("C", "xx_YY.UTF-16", "tr_TR.UTF-8"),
    "HOME": ("", "/nonexistent", "relative", "/dev/null", "\udcff"), "NO_COLOR": ("1",), "FORCE_COLOR": ("1",),
    "XDG_CONFIG_HOME": ("/dev/null", "relative", "x" * 5000, "."), "XDG_CACHE_HOME": ("/dev/null", "x" * 5000),
    "ZSIM_CONFIG": ("~nobody-of-this-name/x", "x" * 300, "/dev/zero", "/dev/null", ".", "/proc/self/mem", "nodir/x", "c.toml"),
    "TMPDIR": ("/nonexistent", "/dev/null"), "SOURCE_DATE_EPOCH": ("x", "-1", "9" * 40), "PATH": ("", "/dev/null", "bin"),
    "ZSIM_DEBUG": ("",), "PAGER": ("false",), "BROWSER": ("false",),
}  # fmt: skip


def surroundings(chance: random.Random) -> Trial:
    """Return a command with a damaged file of defaults, or with an odd environment."""
    name = chance.choice(list(commands()))
    words = [*name.split(), *base_words(name)]
    if chance.random() < 0.2:
        words = ["--version", "-v"]
    elif chance.random() < 0.5:
        words = ["scenario", "show", "--layout", "raidz1x4", *(["--json"] if chance.random() < 0.5 else [])]
    if chance.random() < 0.6:
        content = toml_bytes(chance, DEFAULTS)
        return Trial("", tuple(words), {**files(), "c.toml": content}, environ={"ZSIM_CONFIG": "c.toml"})
    chosen = chance.sample(sorted(AROUND), chance.choice((1, 1, 2, 4)))
    around = {each: chance.choice(AROUND[each]) for each in chosen}
    return Trial("", tuple(words), {**files(), "c.toml": mut.toml_of(DEFAULTS)}, environ=around)


def asked_pools(chance: random.Random) -> Trial:
    """Return a command that asks a pool, where zpool and zdb answer with damaged text, or fail."""
    whole = docs.observed()
    status = mut.damaged_bytes(
        chance, whole[chance.choice([each for each in whole if each.startswith("status")])]
    )
    kind = chance.choice(("says", "says", "says", "fails", "both", "signal", "nothing", "flood"))
    does = {
        "says": "cat said", "fails": "cat said >&2; exit 1", "both": "cat said; cat said >&2; exit 2", "signal": "kill -9 $$",
        "nothing": "exit 0", "flood": "head -c 1000000 /dev/zero",
    }[kind]  # fmt: skip
    script = f"#!/bin/sh\n{does}\n".encode()
    programs: dict[str, bytes | str] = {
        f"bin/{each}": script for each in chance.choice((("zpool",), ("zpool", "zdb", "lsblk", "smartctl")))
    }
    pool = chance.choice(("tank", "tank", "rpool", *mut.NAMES[:20]))
    words = chance.choice((["eta", "--pool", pool], ["import", "--pool", pool], ["eta", "--pool", pool, "--json"],
                           ["import", "--pool", pool, "-o", "out.toml"], ["import", "--pool", pool, "--json"]))  # fmt: skip
    return Trial(
        "", tuple(words), {"said": status, **programs}, environ={"PATH": "bin:/usr/bin:/bin"}, terminal=True
    )


def rows_of_stores(chance: random.Random) -> Trial:
    """Return a store of SQLite whose cells are of other kinds, or whose tables are others."""
    key = chance.choice(("106cdf2e70ac7d65a6108a3ce54a72f7", "", "x" * 5000, mut.CONTROL, "\x00"))
    row = json.loads(docs.STORE)
    cells: list[Any] = [key, "a", json_bytes(chance, row["scenario"]), json_bytes(chance, row["answer"])]
    cells = [
        cell.decode("utf-8", "replace") if isinstance(cell, bytes) and chance.random() < 0.8 else cell
        for cell in cells
    ]
    if chance.random() < 0.5:
        cells[chance.randrange(4)] = chance.choice(
            (None, 1, -1.5, b"\xff\x00", "", mut.BIDI, float("inf"), "{}", "[]", "null", 2**62)
        )
    schema = chance.choice(("", "", "", "view", "columns", "form", "many"))
    words = chance.choice(
        (["sweep", "status", "s.sqlite"], ["sweep", "status", "s.sqlite", "--json"], ["sweep", "export", "s.sqlite", "out.csv"],
         ["sweep", "export", "s.sqlite", "out.json"], ["sweep", "export", "s.sqlite", "out.parquet"], ["sweep", "merge", "t.sqlite", "s.sqlite"],
         ["sweep", "--width", "3", "--parity", "1", "--fill", "0.5", "--drive-size", "8GB", "--store", "s.sqlite", "--jobs", "1"])
    )  # fmt: skip
    return Trial("", tuple(words), {"s.sqlite": _store(cells, schema), "t.sqlite": docs.sqlite_store()})


LARGEST_STORE = 40 << 20
"""Of rows that are given many times over, so many bytes: a cell may hold a million letters."""


def _store(cells: list[Any], schema: str) -> bytes:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "s.sqlite"
        base = sqlite3.connect(path, isolation_level=None)
        # In one transaction and not waited for: each row by itself took minutes of the disk.
        base.execute("PRAGMA synchronous = OFF")
        base.execute("BEGIN")
        names = ("key", "sources", "scenario", "answer") if schema != "columns" else ("key", "a", "b", "c")
        base.execute("CREATE TABLE form (version)")
        if schema != "form":
            base.execute("INSERT INTO form VALUES (1)")
        else:
            base.executemany("INSERT INTO form VALUES (?)", [("x",), (None,)])
        base.execute(f"CREATE TABLE {'rows' if schema == 'view' else 'answers'} ({', '.join(names)})")
        size = sum(len(cell) for cell in cells if isinstance(cell, str | bytes))
        rows = min(5000, LARGEST_STORE // max(1, size)) if schema == "many" else 2
        base.executemany(
            f"INSERT INTO {'rows' if schema == 'view' else 'answers'} VALUES (?, ?, ?, ?)", [cells] * rows
        )
        if schema == "view":
            base.execute(
                "CREATE VIEW answers AS SELECT * FROM rows UNION SELECT key, key, key, key FROM answers"
            )
        base.execute("COMMIT")
        base.close()
        return path.read_bytes()


def stories(chance: random.Random) -> Trial:
    """Return events in an order, with moments and with targets that cannot be; or a procedure over another pool."""
    if chance.random() < 0.25:
        procedure = Path(chance.choice(docs.models("timeline/procedures"))).stem
        words = ["timeline", "--procedure", procedure, "--layout", _word(chance, "--layout")]
        for flag in chance.sample(
            (
                "--fill",
                "--spares",
                "--at-once",
                "--churn",
                "--new-drive-size",
                "--release",
                "--vdevs",
                "--load",
            ),
            2,
        ):
            words += [flag, _word(chance, flag)]
        return Trial("", tuple(words), dict(LOADS))
    events: list[dict[str, Any]] = []
    for _ in range(chance.choice((1, 2, 3, 5, 40))):
        event: dict[str, Any] = {"do": chance.choice(_DOES)}
        for key, values in _EVENT.items():
            if chance.random() < 0.25:
                event[key] = chance.choice(values)
        events.append(event)
    scenario = {
        "layout": _word(chance, "--layout") if chance.random() < 0.3 else chance.choice(RIGHT["--layout"]),
        "fill": 0.3,
        "drive_size": "20GB",
    }
    plan = {"scenario": scenario, "events": events} | (
        {"spares": chance.choice((0, 1, 3))} if chance.random() < 0.5 else {}
    )
    return Trial(
        "",
        ("timeline", "p.toml", *chance.choice(([], ["--json"], ["--plot", "out.svg"]))),
        {"p.toml": mut.toml_of(plan)},
    )


_DOES = ("fail", "replace", "reboot", "scrub", "offline", "online", "attach", "detach", "expand", "remove", "split", "resilver", "spare",
         "unreadable", "add", "x")  # fmt: skip
_EVENT: dict[str, tuple[Any, ...]] = {
    "at": ("1h", "40%", "200%", "-1h", "0s", "9999y", 3, "1e300h"), "after": ("2h", "0s", "1e300y", -1), "when": ("whole", "quiet", "x"),
    "vdev": (0, 1, 99, -1), "drive": (0, 1, 99, -1, "x"), "drives": ([0, 1], [], [0, 0], [99], list(range(300))), "each": (True, False),
    "to": ("new-drive", "spare", "distributed-spare", "x"), "takes": ("10m", "0s", "1e300h"), "clean": (True, False),
    "new_drive": ("mg08aca16", "x"), "new_drive_size": ("16TB", "1GB", "8EB"),
}  # fmt: skip


def sets_of_outputs(chance: random.Random) -> Trial:
    """Return whole directories of outputs, where one belies the other: two pools, two times, packed, in other places."""
    whole = docs.observed()
    names = chance.sample(sorted(whole), chance.choice((2, 5, 9)))
    given: dict[str, bytes | str] = {}
    for place, name in enumerate(names):
        content = mut.damaged_bytes(chance, whole[name]) if chance.random() < 0.4 else whole[name]
        suffix = chance.choice(("", "", "", ".gz", ".zst"))
        given[f"d/{place}-{name}{suffix}"] = mut.packed(content, suffix) if suffix else content
    if chance.random() < 0.2:
        given["d/odd"] = chance.choice(("dir", "fifo", "loop", "zero", "dangling", "socket"))
    words = [chance.choice(("import", "import", "eta")), "d"]
    if chance.random() < 0.4:
        words += ["--pool", chance.choice(("tank", "rpool", "x", mut.BIDI))]
    for flag in chance.sample(
        ("--layout", "--fill", "--drive", "--drive-size", "--release", "--load"), chance.choice((0, 0, 1, 2))
    ):
        if words[0] == "import":
            words += ["--set", f"{flag[2:].replace('-', '_')}={json.dumps(_word(chance, flag))}"]
        else:
            words += [flag, _word(chance, flag)]
    words += chance.choice(
        ([], ["--json"], ["-o", "out.toml"] if words[0] == "import" else ["--log", "out.jsonl"])
    )
    return Trial("", tuple(words), {**given, **LOADS})


@functools.cache
def _case_names() -> tuple[str, ...]:
    return tuple(sorted(str(path.relative_to(docs.ROOT)) for path in docs.CASES.glob("*/case.toml")))


def claims(chance: random.Random) -> Trial:
    """Return a damaged case of any kind, read or really held against its claims."""
    name = chance.choice(_case_names())
    data = docs.toml_at(name)
    if chance.random() < 0.5:
        data = {**data, "timelines": {"a": {"events": docs.PLAN["events"]}},
                "claims": [{"name": "n", "quantity": "passes[1].duration_s", "observed": 3, "scenario": "a"}]}  # fmt: skip
    content = toml_bytes(chance, data)
    tail = chance.choice(
        (
            ["--list"],
            [],
            [],
            ["--json"],
            ["--report", "out.html"],
            ["x*"],
            ["--seed", _word(chance, "--seed")],
        )
    )
    return Trial("", ("validate", "--cases", "c", "--jobs", "1", *tail), {"c/case.toml": content})


def axes(chance: random.Random) -> Trial:
    """Return a sweep or a comparison over hostile lists."""
    if chance.random() < 0.3:
        layouts = [_word(chance, "--layout") for _ in range(chance.choice((1, 2, 3)))]
        tail = [
            "--fill",
            "0.3",
            *chance.choice(([], ["--drives", "12"], ["--data", "40T"], ["--usable", "1T"], ["--json"])),
        ]
        return Trial("", ("compare", *layouts, *tail, "--jobs", "1"), dict(LOADS))
    words = ["sweep", "--fill", "0.3"]
    for flag in chance.sample(
        ("--width", "--parity", "--fill", "--axis", "--axis", "--layout", "--frag", "--recordsize", "--load"),
        2,
    ):
        listed = chance.choice((",", "..", ";", ",,", "...")).join(
            _word(chance, flag) for _ in range(chance.choice((1, 2, 3)))
        )
        if flag == "--axis" and "=" not in listed:
            listed = f"{chance.choice(list(docs.SCENARIO))}={listed}"
        words += [flag, listed]
    words += chance.choice(
        (
            [],
            ["-o", "out.csv"],
            ["--json"],
            ["--plot", "out.svg"],
            ["--report", "out.html"],
            ["--store", "out.sqlite"],
        )
    )
    return Trial("", (*words, "--jobs", "1"), dict(LOADS))


def requirements(chance: random.Random) -> Trial:
    """Return a plan or a risk with hostile requirements, money, rates and ages."""
    if chance.random() < 0.5:
        words = ["risk", "--layout", _word(chance, "--layout"), "--hours", _word(chance, "--hours")]
        flags = ("--afr", "--mttf", "--mttr", "--correlation", "--correlation-law", "--latent-incidence", "--scrub", "--detect", "--spare",
                 "--age", "--age-factor", "--shape", "--stress", "--overlap", "--years", "--method")  # fmt: skip
    else:
        words = [
            "plan",
            "--drives",
            _word(chance, "--drives"),
            "--drive-size",
            "20GB",
            "--fill",
            "50%",
            "--jobs",
            "1",
        ]
        flags = (
            "--usable",
            "--budget",
            "--price",
            "--spares",
            "--require",
            "--sort",
            "--kinds",
            "--confirm",
            "--find",
            "--afr",
            "--scrub",
        )
    for flag in chance.sample(flags, chance.choice((1, 2, 3))):
        words += [flag, _word(chance, flag)]
    return Trial(
        "", (*words, *chance.choice(([], ["--json"], ["--plot", "out.svg"], ["-o", "out.json"]))), {}
    )
