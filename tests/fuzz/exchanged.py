"""Right documents where another kind is wanted, as editors and mail leave them, and outputs that are an input."""

from __future__ import annotations

import functools
import random

from tests.fuzz import documents as docs
from tests.fuzz import mutations as mut
from tests.fuzz.surfaces import Trial
from tests.fuzz.wider_surfaces import LOADS

POOL = ("--layout", "raidz1x4", "--fill", "0.3", "--drive-size", "20GB")
STATUS = str(docs.ROOT / "docs" / "examples" / "zpool-status.txt")
PLACES: tuple[tuple[str, ...], ...] = (
    ("predict", "@"), ("predict", "@", "#"), ("compare", "@"), ("compare", "mirror2", "@"), ("import", "@"), ("import", "@", "#"),
    ("eta", "@"), ("decide", "@", "--reboot"), ("fleet", "@"), ("rerun", "@"), ("timeline", "@"), ("replay", "@"),
    ("timeline", *POOL, "--procedure", "@"), ("risk", "--plan", "@", *POOL), ("drives", "fit", "--dd", "@"), ("drives", "fit", "--fio", "@"),
    ("drives", "show", "@"), ("drives", "plot", "@", "-o", "out.svg"), ("scenario", "show", "@"), ("pool", "show", "@"),
    ("validate", "--cases", "@"), ("sweep", "status", "@"), ("sweep", "merge", "@", "#"), ("sweep", "export", "@", "out.csv"),
    ("sweep", *POOL, "--jobs", "1", "--store", "@"),
    ("plan", "--drives", "6", "--drive-size", "20GB", "--fill", "50%", "--jobs", "1", "--store", "@"),
    *(("predict", *POOL, flag, "@") for flag in (
        "--load", "--drive", "--enclosure", "--block-list", "--blocks", "--metaslabs", "--evidence", "--history", "--release", "--product",
        "-o", "--report",
    )),
    ("eta", STATUS, "--log", "@"), ("eta", STATUS, "--prometheus", "@"), ("timeline", *POOL, "--fail", "0", "-o", "@"),
    ("predict", "@", "-o", "@"), ("import", "@", "-o", "@"), ("import", "@", "-o", "#"), ("replay", "@", "-o", "@"), ("fleet", "@", "-o", "@"),
    ("timeline", "@", "-o", "@"), ("scenario", "show", "@", "-o", "@"), ("drives", "fit", "--dd", "@", "-o", "@"),
)  # fmt: skip


@functools.cache
def _documents() -> dict[str, bytes]:
    """Return documents of all kinds that any command takes, and some that none does."""
    rates = docs.METASLABS
    found = {
        "s.toml": mut.toml_of(docs.SCENARIO), "fleet.toml": mut.toml_of(docs.FLEET), "plan.toml": mut.toml_of(docs.PLAN),
        "case.toml": docs.bytes_at("validation/slow-tails/case.toml"), "result.json": mut.json_of(docs.stored_result()),
        "s.jsonl": docs.STORE, "s.sqlite": docs.sqlite_store(), "sizes.csv": docs.SIZES, "dd.csv": docs.DD, "bw.log": docs.BANDWIDTH_LOG,
        "slabs.csv": rates if isinstance(rates, bytes) else str(rates).encode(), "bps.csv": docs.block_list_rows(40),
        "empty": b"", "p.png": b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "p.svg": b"<svg/>", "p.html": b"<html><script>alert(1)</script></html>",
    }  # fmt: skip
    for folder in ("drives", "enclosures"):
        first = min((docs.ROOT / "models" / folder).rglob("*.toml"))
        found[f"{folder}.toml"] = first.read_bytes()
    found |= {name: bytes(content) for name, content in LOADS.items()}
    found |= {f"o-{name}".replace("/", "-"): content for name, content in docs.observed().items()}
    return found | {f"t-{name}": content for name, content in docs.traces().items()}


def _as_left(chance: random.Random, content: bytes) -> bytes:
    """Return a text as an editor, a shell of another system, or a mail leaves it."""
    way = chance.choice(("", "", "", "", "bom", "utf-16", "crlf", "quoted", "fenced", "twice", "half"))
    lines = content.split(b"\n")
    if way == "bom":
        return b"\xef\xbb\xbf" + content
    if way == "utf-16":
        return content.decode("latin-1").encode("utf-16")
    if way == "crlf":
        return b"\r\n".join(lines)
    if way == "quoted":
        return b"From: a@b\nSubject: Re: pool\n\n" + b"\n".join(b"> " + line for line in lines)
    if way == "fenced":
        return b"```\n" + content + b"\n```\n"
    return {"twice": content + content, "half": content[: len(content) // 2]}.get(way, content)


def exchanged_files(chance: random.Random) -> Trial:
    """Return a command that is given a document of another kind, perhaps as its output too."""
    every = _documents()
    first, second = chance.choice(sorted(every)), chance.choice(sorted(every))
    words = [{"@": first, "#": second}.get(word, word) for word in chance.choice(PLACES)]
    if chance.random() < 0.2:
        words.append("--json")
    given = {name: _as_left(chance, every[name]) for name in (second, first)}
    return Trial("", tuple(words), given)
