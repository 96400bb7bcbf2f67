"""Hostile command lines with their files; `tests.fuzz.trials` draws from them by seed and number."""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Mapping
from typing import Any, NamedTuple

import click

from tests.fuzz import documents as docs
from tests.fuzz import mutations as mut

OUTPUTS = frozenset({"-o", "--output", "--series", "--plot", "--report", "--log", "--prometheus", "--store"})
SPECIAL = ("dir", "fifo", "loop", "zero", "full", "null", "socket", "dangling", "unreadable", "longname")
WRITTEN = (
    "out.json", "out.csv", "out.parquet", "out.svg", "out.png", "out.pdf", "out.html", "out.md", "out.toml", "out.jsonl",
    "out.sqlite", "out.prom", "out", "", "nodir/out.json", "here.json", "here.csv", "here.toml", "here.sqlite", "here.jsonl",
    "here.svg", "loop.json", "fulldev.json", "fulldev.jsonl", "fulldev.prom", "x" * 300 + ".json", "x" * 5000 + ".csv",
    "nul\x00.json", "n\n.json", "\udcff.json", f"{mut.BIDI}.json", f"{mut.CONTROL}.csv", "a b ü.json", "/proc/x.json",
    "/proc/1/x.csv", "/dev/fd/x.json", "out.json/x.json",
)  # fmt: skip
PLAINLY = {
    "--layout": ("mirror2", "raidz1x4", "2*raidz2x6", "draid1:4d:8c:1s", "raidz2x6"), "--fill": ("0.3", "50%", "0.001"),
    "--drive-size": ("20GB", "8GB", "4TB"), "--drive": ("generic-sata-ssd", "hd103uj"), "--release": ("zol-0.7.13",),
    "--operation": ("scrub", "resilver", "rebuild"), "--width": ("3,4", "4..6"), "--parity": ("1", "0,1"),
    "--hours": ("24",), "--require": ("p90 < 48h", "vdev < 1 in 1,000"), "--drives": ("12",), "--jobs": ("1",),
    "--fail": ("0",), "--replace-after": ("2h",), "--done": ("35%",), "--history": ("vm-host",), "--years": ("2",),
    "--find": ("width", "fill"), "--trials": ("10",), "--procedure": ("replace-one", "migrate", "list"),
}  # fmt: skip
NEVER = frozenset({"--dask", "--watch"})
"""They wait for others."""


class Trial(NamedTuple):
    """One hostile input.

    Attributes
    ----------
    surface : str
        Where it attacks.
    words : tuple of str
        The command line.
    files : mapping
        Contents by name, or one of `SPECIAL`.
    stdin : bytes
    whole : bool
        Predictions are really made; otherwise they are answered at once, as tests of reading need none.
    environ : mapping
        Of the environment, what is other than here.
    terminal : bool
        The standard input calls itself one.
    """

    surface: str
    words: tuple[str, ...]
    files: Mapping[str, bytes | str]
    stdin: bytes = b""
    whole: bool = False
    environ: Mapping[str, str] = {}
    terminal: bool = False


@functools.cache
def commands() -> dict[str, tuple[click.Parameter, ...]]:
    """Return every command with its options, as the program has them now."""
    from zsim.cli.main import cli

    context = click.Context(cli)
    found: dict[str, tuple[click.Parameter, ...]] = {}
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            for inner in command.list_commands(context):
                one = command.get_command(context, inner)
                assert one is not None
                found[f"{name} {inner}"] = tuple(one.params)
        else:
            found[name] = tuple(command.params)
    found.pop("warmup")
    return found


def _option(chance: random.Random, option: click.Parameter, hostile: float) -> list[str]:
    """Return an option with a value, hostile with some probability."""
    name = chance.choice(option.opts)
    if getattr(option, "is_flag", False):
        return [name]
    if name in OUTPUTS:
        return [name, chance.choice(WRITTEN)]
    if chance.random() < hostile or name not in PLAINLY:
        return [name, chance.choice(mut.WORDS)]
    return [name, chance.choice(PLAINLY[name])]


def base_words(name: str) -> list[str]:
    """Return what makes a command line of this command complete."""
    inner = {
        "import": ["status.txt"], "eta": ["status.txt"], "fleet": ["fleet.toml"], "replay": ["trace"],
        "rerun": ["result.json"], "drives show": ["hd103uj"], "drives plot": ["generic-sata-ssd", "-o", "out.svg"],
        "drives fit": ["--dd", "dd.csv"], "compare": ["mirror2", "raidz1x4", "--fill", "0.3"],
        "sweep": ["--width", "3,4", "--parity", "1", "--fill", "0.3"], "validate": ["--cases", "case"],
        "plan": ["--drives", "12", "--drive-size", "20GB", "--fill", "50%", "--jobs", "1"],
        "timeline": ["--layout", "raidz1x4", "--fill", "0.3", "--drive-size", "20GB", "--fail", "0"],
        "risk": ["--layout", "raidz1x4", "--fill", "0.3", "--hours", "9"],
    }.get(name)  # fmt: skip
    return inner if inner is not None else ["--layout", "mirror2", "--fill", "0.3", "--drive-size", "20GB"]


def files() -> dict[str, bytes | str]:
    """Return right files for every command that wants one."""
    return {
        "status.txt": docs.observed()["status-2.1.txt"], "fleet.toml": mut.toml_of(docs.FLEET),
        "trace": docs.traces()["fio2"], "result.json": mut.json_of(docs.stored_result()), "dd.csv": docs.DD,
        "case/case.toml": docs.bytes_at("validation/slow-tails/case.toml"),
    }  # fmt: skip


def flags(chance: random.Random) -> Trial:
    """Return a command with hostile values of its options."""
    name = chance.choice(list(commands()))
    options = [each for each in commands()[name] if isinstance(each, click.Option)]
    words = [*name.split(), *base_words(name)]
    for _ in range(chance.choice((1, 1, 1, 2, 3, 4))):
        usable = [each for each in options if not NEVER & set(each.opts)]
        if usable:
            words += _option(chance, chance.choice(usable), 0.75)
    if chance.random() < 0.5 and any("--json" in each.opts for each in options):
        words.append("--json")
    return Trial("", tuple(words), files())


def arguments(chance: random.Random) -> Trial:
    """Return a command line that is no right one: words missing, doubled, out of order, or made up."""
    name = chance.choice(
        [*commands(), "warm", "predcit", "", "-", "--", "\x00", mut.BIDI, "help", mut.CONTROL]
    )
    words = [*name.split(), *(base_words(name) if chance.random() < 0.7 else [])]
    for _ in range(chance.choice((1, 2, 3))):
        kind = chance.randrange(5)
        if kind == 0 and words:
            del words[chance.randrange(len(words))]
        elif kind == 1:
            words.insert(chance.randint(min(1, len(words)), len(words)), chance.choice(mut.WORDS))
        elif kind == 2 and words:
            words += words[-2:] * chance.choice((1, 3, 50))
        elif kind == 3:
            words.append(
                chance.choice(
                    ("--help", "-h", "--version", "--json", "--nope", "-x", "--fil", "--=", "-o", "--")
                )
            )
        else:
            chance.shuffle(words)
    safe = [word for place, word in enumerate(words) if not (place and words[place - 1] in OUTPUTS | NEVER)]
    return Trial("", tuple(word for word in safe if word not in OUTPUTS | NEVER), files())


def toml_bytes(chance: random.Random, data: Mapping[str, Any]) -> bytes:
    """Return data as TOML, damaged as data or as text."""
    if chance.random() < 0.65:
        return mut.toml_of(mut.damaged_data(chance, dict(data)))
    return mut.damaged_bytes(chance, mut.toml_of(dict(data)))


def json_bytes(chance: random.Random, data: Any) -> bytes:
    if chance.random() < 0.6:
        return mut.json_of(mut.damaged_data(chance, data))
    return mut.damaged_bytes(chance, mut.json_of(data))


def scenario_files(chance: random.Random) -> Trial:
    """Return a damaged scenario file, for every command that takes one."""
    data = {
        key: value
        for key, value in docs.SCENARIO.items()
        if key in {"layout", "fill"} or chance.random() < 0.6
    }
    content = toml_bytes(chance, data)
    words = chance.choice(
        (["predict", "s.toml"], ["predict", "--scenario", "s.toml", "--json"], ["scenario", "show", "--scenario", "s.toml"],
         ["compare", "s.toml", "mirror2"], ["risk", "--scenario", "s.toml", "--hours", "5"], ["decide", "s.toml", "--done", "35%", "--reboot"],
         ["pool", "show", "--scenario", "s.toml"], ["predict", "-"], ["timeline", "--scenario", "s.toml", "--fail", "0"],
         ["scenario", "show", "--scenario", "s.toml", "--json"], ["scenario", "show", "--scenario", "s.toml", "-o", "out.toml"],
         ["plan", "--scenario", "s.toml", "--drives", "8"], ["eta", "status.txt", "--scenario", "s.toml"])
    )  # fmt: skip
    return Trial("", tuple(words), {**files(), "s.toml": content}, content)


def set_values(chance: random.Random) -> Trial:
    """Return values of --set, --tunable, --load and others that have a syntax of their own."""
    words = ["scenario", "show"] if chance.random() < 0.8 else ["predict"]
    words += ["--layout", "raidz1x4", "--fill", "0.3", "--drive-size", "20GB"]
    for _ in range(chance.choice((1, 2))):
        option = chance.choice(
            ("--set", "--set", "--tunable", "--load", "--ports", "--slow", "--evidence", "--begins")
        )
        key = chance.choice(list(docs.SCENARIO))
        value = json.dumps(chance.choice(mut.VALUES), default=str)[:50_000]
        word = chance.choice((f"{key}={value}", f"{key}.{key}={value}", chance.choice(mut.WORDS)))
        words += [
            option,
            mut.damaged_bytes(chance, word.encode("utf-8", "surrogateescape")).decode(
                "utf-8", "surrogateescape"
            ),
        ]
    return Trial("", tuple(words), {})


def drive_files(chance: random.Random) -> Trial:
    """Return a damaged drive model, as TOML or as DiskSim's extraction."""
    if chance.random() < 0.2:
        content = json_bytes(
            chance, json.loads(docs.bytes_at("validation/disksim-vectors/drives/ibm18es.json", 10**7))
        )
        name = "d.json"
    else:
        content, name = toml_bytes(chance, docs.toml_at(chance.choice(docs.models("drives")))), "d.toml"
    words = chance.choice(
        (["drives", "show", name], ["drives", "show", name, "--json"], ["drives", "plot", name, "-o", "out.svg"],
         ["predict", "--layout", "mirror2", "--fill", "0.2", "--drive", name], ["replay", "trace", "--drive", name],
         ["drives", "fit", "--drive", name, "--dd", "dd.csv"], ["scenario", "show", "--layout", "mirror2", "--drive", name],
         ["drives", "show", name, "--drive-size", "20GB"], ["risk", "--layout", "mirror2", "--hours", "5", "--drive", name])
    )  # fmt: skip
    return Trial("", tuple(words), {**files(), name: content})


def model_files(chance: random.Random) -> Trial:
    """Return a damaged model of an enclosure, history or release."""
    kind, option = chance.choice((("enclosures", "--enclosure"), ("histories", "--history"), ("releases", "--release"),
                                  ("enclosures", "--ports")))  # fmt: skip
    content = toml_bytes(chance, docs.toml_at(chance.choice(docs.models(kind))))
    value = "m.toml:0,1" if option == "--ports" else "m.toml"
    head = chance.choice((["scenario", "show"], ["predict"], ["pool", "show"], ["predict"]))
    return Trial(
        "",
        (*head, "--layout", "raidz1x4", "--fill", "0.2", "--drive-size", "20GB", option, value),
        {"m.toml": content},
    )


def results(chance: random.Random) -> Trial:
    """Return a damaged stored result."""
    words = ["rerun", "r.json", *(["--json"] if chance.random() < 0.4 else [])]
    return Trial("", tuple(words), {"r.json": json_bytes(chance, docs.stored_result())})


def stores(chance: random.Random) -> Trial:
    """Return a damaged store of answers."""
    if chance.random() < 0.5:
        row = json.loads(docs.STORE)
        content = docs.STORE + json_bytes(chance, row) + chance.choice((b"", b"\n", b"\n" + docs.STORE))
        words = [
            "sweep",
            "--width",
            "3,4",
            "--parity",
            "1",
            "--fill",
            "0.5",
            "--drive-size",
            "8GB",
            "--store",
            "s.jsonl",
        ]
        return Trial("", (*words, "--jobs", "1"), {"s.jsonl": content})
    content = mut.damaged_bytes(chance, docs.sqlite_store())
    words = chance.choice(
        (["sweep", "status", "s.sqlite"], ["sweep", "export", "s.sqlite", "out.csv"], ["sweep", "merge", "t.sqlite", "s.sqlite"],
         ["sweep", "merge", "s.sqlite", "t.sqlite"], ["sweep", "status", "s.sqlite", "--json"], ["sweep", "merge", "n.sqlite", "s.sqlite"],
         ["sweep", "--width", "3", "--parity", "1", "--fill", "0.5", "--store", "s.sqlite", "--jobs", "1"],
         ["plan", "--drives", "6", "--drive-size", "20GB", "--fill", "50%", "--store", "s.sqlite", "--jobs", "1"])
    )  # fmt: skip
    return Trial("", tuple(words), {"s.sqlite": content, "t.sqlite": docs.sqlite_store()})


def outputs(chance: random.Random) -> Trial:
    """Return damaged outputs of zpool, zdb and other tools, one or several."""
    whole = docs.observed()
    names = chance.sample(sorted(whole), chance.choice((1, 1, 2, 4)))
    damaged = {name: _text_or_json(chance, name, whole[name]) for name in names}
    if chance.random() < 0.5:
        damaged["raidz2.txt"] = whole["raidz2.txt"]
    command = chance.choice(("import", "import", "eta", "decide"))
    if command == "decide":
        return Trial("", ("decide", names[0], "--reboot"), damaged)
    words = [command, *damaged]
    if chance.random() < 0.3:
        words = [command, "-"]
    words += chance.choice(([], [], ["--json"], ["-o", "out.toml"] if command == "import" else ["--json"]))
    return Trial("", tuple(words), damaged, b"\n".join(damaged.values()))


def _text_or_json(chance: random.Random, name: str, content: bytes) -> bytes:
    if name.endswith(".json") and chance.random() < 0.5:
        return mut.json_of(mut.damaged_data(chance, json.loads(content)))
    return mut.damaged_bytes(chance, content)


def block_lists(chance: random.Random) -> Trial:
    """Return damaged lists of blocks, sizes and metaslabs."""
    kind = chance.randrange(5)
    if kind == 0:
        content, name, option = mut.damaged_bytes(chance, docs.block_list_rows()), "bps.csv", "--block-list"
    elif kind == 1:
        content = docs.parquet(
            chance.choice(("blocks", "blocks", "strings", "nulls", "nested", "floats", "empty"))
        )
        content = mut.damaged_bytes(chance, content) if chance.random() < 0.7 else content
        name, option = "b.parquet", "--block-list"
    elif kind == 2:
        content, name, option = mut.damaged_bytes(chance, docs.METASLABS), "m.csv", "--metaslabs"
    else:
        content, name, option = (
            mut.damaged_bytes(chance, chance.choice((docs.SIZES, docs.BLOCK_SIZES))),
            "z.csv",
            "--blocks",
        )
    if chance.random() < 0.15:
        suffix = chance.choice((".gz", ".zst"))
        content, name = mut.packed(content, suffix), name + suffix
        content = mut.damaged_bytes(chance, content) if chance.random() < 0.5 else content
    head = chance.choice((["predict"], ["pool", "show"], ["scenario", "show"], ["predict", "--json"]))
    size = chance.choice(("4TB", "20GB", "8GB"))
    layout = "raidz2x6" if kind == 1 else "mirror2"
    full = [] if option == "--block-list" and chance.random() < 0.9 else ["--fill", "0.4"]
    return Trial(
        "",
        (*head, "--layout", layout, *full, "--drive-size", size, option, name),
        {name: content},
    )


def traces(chance: random.Random) -> Trial:
    """Return a damaged trace."""
    content = mut.damaged_bytes(chance, chance.choice(list(docs.traces().values())))
    name = "t"
    if chance.random() < 0.25:
        name = chance.choice(("t.gz", "t.zst"))
        content = mut.packed(content, name[1:])
        content = mut.damaged_bytes(chance, content) if chance.random() < 0.6 else content
    words = ["replay", name, "--drive", chance.choice(("hd103uj", "generic-sata-ssd", "generic-5400rpm-smr"))]
    words += chance.choice(
        ([], ["--json"], ["--depth", "4"], ["-o", "out.csv"], ["--format", "fio"], ["--device", "0"])
    )
    return Trial("", tuple(words), {name: content})


def samples(chance: random.Random) -> Trial:
    """Return damaged measurements of a drive."""
    option, content = chance.choice(
        (("--dd", docs.DD), ("--fio", docs.observed()["fio-json.json"]), ("--fio", docs.BANDWIDTH_LOG))
    )
    words = [
        "drives",
        "fit",
        option,
        "f",
        *chance.choice(([], ["--json"], ["-o", "out.toml"], ["--drive-size", "1TB"])),
    ]
    return Trial("", tuple(words), {"f": mut.damaged_bytes(chance, content)})


def cases(chance: random.Random) -> Trial:
    """Return a damaged validation case."""
    kind = chance.randrange(4)
    tail = chance.choice(
        (["--list"], ["--list", "--json"], *(([], ["--report", "out.md"]) if kind == 1 else ()))
    )
    words = ["validate", "--cases", "c", "--jobs", "1", *tail]
    if kind == 0:
        name = chance.choice(
            ("slow-tails", "queue-limits", "draid-chart", "lanl-raidz-recovery", "n36l-raidz2x5")
        )
        return Trial(
            "",
            tuple(words),
            {"c/case.toml": toml_bytes(chance, docs.toml_at(f"validation/{name}/case.toml"))},
        )
    if kind == 1:
        home = "zfs-legacy/mirror2-a12-f50-aged"
        files: dict[str, bytes | str] = {
            f"c/{name}": docs.bytes_at(f"validation/{home}/{name}") for name in ("config.json", "result.json")
        }
        files["c/progress.csv"] = docs.bytes_at(f"validation/{home}/progress.csv.zst")
        files["c/bps.csv"] = docs.bytes_at(f"validation/{home}/bps.csv.zst", 20_000)
        name = chance.choice(list(files))
        content = files[name]
        assert isinstance(content, bytes)
        damaged = (
            json_bytes(chance, json.loads(content))
            if name.endswith("json")
            else mut.damaged_bytes(chance, content)
        )
        return Trial("", tuple(words), {**files, name: damaged})
    if kind == 2:
        name = chance.choice(("reliability/published.toml", "drive-experiments/experiments.toml"))
        return Trial(
            "",
            tuple(words),
            {f"c/{name.rpartition('/')[2]}": toml_bytes(chance, docs.toml_at(f"validation/{name}"))},
        )
    name = chance.choice(("running-scans/pairs.jsonl", "running-scans/series.jsonl", "field-reports/reports.jsonl",
                          "geometry/draid_perms.csv.gz"))  # fmt: skip
    content = mut.damaged_bytes(chance, docs.bytes_at(f"validation/{name}"))
    return Trial("", tuple(words), {f"c/{name.rpartition('/')[2]}": content})


def fleets(chance: random.Random) -> Trial:
    """Return a damaged fleet."""
    return Trial(
        "",
        ("fleet", "f.toml", *(["--json"] if chance.random() < 0.3 else [])),
        {"f.toml": toml_bytes(chance, docs.FLEET)},
    )


def plans(chance: random.Random) -> Trial:
    """Return a damaged plan of events."""
    data = (
        docs.PLAN
        if chance.random() < 0.7
        else docs.toml_at(chance.choice(docs.models("timeline/procedures")))
    )
    return Trial(
        "",
        ("timeline", "p.toml", *(["--json"] if chance.random() < 0.3 else [])),
        {"p.toml": toml_bytes(chance, data)},
    )


READERS: tuple[tuple[str, ...], ...] = (
    ("predict", "{}.toml"), ("predict", "--scenario", "{}"), ("drives", "show", "{}.toml"), ("drives", "show", "{}.json"),
    ("predict", "--layout", "mirror2", "--fill", "0.3", "--drive", "{}.toml"),
    ("predict", "--layout", "mirror2", "--fill", "0.3", "--enclosure", "{}.toml"),
    ("predict", "--layout", "mirror2", "--fill", "0.3", "--block-list", "{}.csv"),
    ("predict", "--layout", "mirror2", "--fill", "0.3", "--block-list", "{}.csv.zst"),
    ("predict", "--layout", "mirror2", "--fill", "0.3", "--block-list", "{}.parquet"),
    ("predict", "--layout", "mirror2", "--fill", "0.3", "--blocks", "{}.csv"),
    ("predict", "--layout", "mirror2", "--fill", "0.3", "--metaslabs", "{}.csv"),
    ("rerun", "{}.json"), ("rerun", "{}"), ("fleet", "{}.toml"), ("timeline", "{}.toml"), ("decide", "{}.toml"),
    ("decide", "{}.txt"), ("import", "{}"), ("import", "{}.gz"), ("import", "{}.zst"), ("eta", "{}"), ("eta", "{}.gz"),
    ("replay", "{}"), ("replay", "{}.gz"), ("replay", "{}.zst"), ("drives", "fit", "--dd", "{}"), ("drives", "fit", "--fio", "{}"),
    ("validate", "--cases", "{}"), ("validate", "--cases", "{}/case.toml"), ("sweep", "status", "{}.sqlite"),
    ("sweep", "--width", "3", "--parity", "1", "--fill", "0.3", "--store", "{}.jsonl"),
    ("sweep", "--width", "3", "--parity", "1", "--fill", "0.3", "--store", "{}.sqlite", "--jobs", "1"),
    ("compare", "{}.toml"), ("scenario", "show", "--scenario", "{}.toml"),
)  # fmt: skip


def odd_files(chance: random.Random) -> Trial:
    """Return a reader with a file that is none: a directory, a pipe, a device, a link in a circle, a bomb."""
    words = chance.choice(READERS)
    name = next(word for word in words if "{}" in word).format("odd")
    kind = chance.choice((*SPECIAL, "bomb", "lines", "deep"))
    stem = {"longname": "o" * 300}.get(
        kind, chance.choice(("odd", "odd", "a b", f"o{mut.BIDI}d", f"o{mut.CONTROL}d", "ödd"))
    )
    words = tuple(word.format(stem) for word in words)
    file = next(word for word, plain in zip(words, chance.choice([words]), strict=True) if stem in plain)
    contents: dict[str, bytes | str] = {
        "lines": b"x" * 30_000_000, "deep": b"[" * 2_000_000,
    }  # fmt: skip
    content = (
        _bomb(".zst" if name.endswith(".zst") else ".gz") if kind == "bomb" else contents.get(kind, kind)
    )
    return Trial("", words, {} if kind == "longname" else {file: content})


@functools.cache
def _bomb(kind: str) -> bytes:
    return mut.bomb(kind)


def written(chance: random.Random) -> Trial:
    """Return a command that writes, to where it cannot or should not."""
    name = chance.choice(
        ["predict", "predict", "sweep", "import", "eta", "risk", "plan", "fleet", "timeline", "decide", "replay",
         "drives plot", "drives fit", "scenario show", "validate"]
    )  # fmt: skip
    own = [opt for each in commands()[name] for opt in each.opts if opt in OUTPUTS]
    words = [*name.split(), *base_words(name)]
    if name == "drives plot":
        words = words[:3]
    for option in chance.sample(own, min(len(own), chance.choice((1, 1, 2)))):
        words += [option, chance.choice(WRITTEN)]
    special: dict[str, bytes | str] = {
        "here.json": b"old", "here.csv": b"old", "here.toml": b"old", "here.svg": b"old", "here.sqlite": b"old",
        "here.jsonl": b"old", "loop.json": "loop", "fulldev.json": "full", "fulldev.jsonl": "full", "fulldev.prom": "full",
    }  # fmt: skip
    return Trial("", tuple(words), {**files(), **special})
