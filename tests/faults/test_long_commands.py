"""Faults around the commands that plan and follow: each with a real process."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.faults.test_faults import PATIENCE_S, ROOT, limited, one_sentence, run, start

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals, limits and modes of POSIX")

POOL = ("--layout", "raidz1x4", "--fill", "0.3", "--drive-size", "8GB")
PLAN = ("plan", "--drives", "6", "--drive-size", "8GB", "--fill", "50%", "--jobs", "1", "--confirm", "2")
FLEET = """\
years = 2
trials = 400
[[pool]]
name = "a"
count = 20
layout = "raidz2x6"
hours = 38
"""


def words_of(command: str, home: Path) -> tuple[str, ...]:
    """Return a command that takes a while."""
    (home / "fleet.toml").write_text(FLEET)
    return {
        "tune": ("tune", *POOL), "plan": PLAN, "fleet": ("fleet", str(home / "fleet.toml")),
        "risk": ("risk", *POOL), "timeline": ("timeline", *POOL, "--fail", "0", "--second-fails-at", "40%"),
        "decide": ("decide", *POOL, "--done", "35%", "--reboot"),
    }[command]  # fmt: skip


OUTPUT = {
    "tune": ("--plot", "a.svg"), "plan": ("-o", "a.json"), "fleet": ("-o", "a.json"),
    "risk": ("-o", "a.json"), "timeline": ("--report", "a.html"),
}  # fmt: skip


@pytest.mark.parametrize("command", sorted(OUTPUT))
def test_what_is_interrupted_says_so_and_leaves_nothing_half(command: str, tmp_path: Path) -> None:
    option, name = OUTPUT[command]
    target, chance = tmp_path / name, random.Random(command)
    for how in (signal.SIGINT, signal.SIGKILL):
        process = start(*words_of(command, tmp_path), option, str(target))
        time.sleep(chance.uniform(1.5, 4.0))
        process.send_signal(how)
        _, err = process.communicate(timeout=PATIENCE_S)
        assert process.returncode in (0, 130, -int(how)), err
        assert "Traceback" not in err
        if process.returncode == 130:
            assert "zsim: interrupted" in err
            assert (name in err) is target.exists()  # Ctrl-C may come when all is written already
        if target.exists():
            text = target.read_text()
            is_whole = (
                json.loads(text) if name.endswith("json") else text.rstrip().endswith(("</svg>", "</html>"))
            )
            assert is_whole
            target.unlink()


@pytest.mark.parametrize("command", ["fleet", "risk", "timeline"])
def test_an_output_onto_a_full_disk_is_told_and_leaves_nothing(command: str, tmp_path: Path) -> None:
    option, name = OUTPUT[command]
    words = (*words_of(command, tmp_path), option, str(tmp_path / name))
    words = (*words, "--hours", "9") if command == "risk" else words
    code, _, err = run(*words, preexec_fn=limited(resource.RLIMIT_FSIZE, 500))
    assert code == 2
    assert err.splitlines()[-1].startswith("zsim: ")
    assert "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["fleet.toml"]


@pytest.mark.parametrize("command", ["risk", "timeline", "decide"])
def test_a_full_standard_output_is_told_and_a_reader_may_leave(command: str, tmp_path: Path) -> None:
    words = words_of(command, tmp_path) + (("--hours", "9") if command == "risk" else ())
    with Path("/dev/full").open("w") as full:
        code, _, err = run(*words, stdout=full)
    assert code == 2
    one_sentence(err)
    shell = " ".join(f"'{word}'" for word in (sys.executable, "-m", "zsim", *words)) + " | head -1"
    done = subprocess.run(["bash", "-c", shell], cwd=ROOT, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr
    assert done.stdout.count("\n") == 1


def test_a_plan_killed_while_it_fills_its_store_goes_on_from_it(tmp_path: Path) -> None:
    store, plan = tmp_path / "s.sqlite", (*PLAN, "--drives", "4")
    process = start(*plan, "--store", str(store))
    until = time.monotonic() + PATIENCE_S
    while _answers(store) < 1 and time.monotonic() < until and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=PATIENCE_S)
    kept = _answers(store)
    code, out, err = run(*plan, "--store", str(store), "--json")
    assert code == 0, err
    assert _answers(store) >= kept >= 1
    assert json.loads(out)["rows"] == json.loads(run(*plan, "--json", env=dict(os.environ))[1])["rows"]


def _answers(store: Path) -> int:
    if not store.exists():
        return 0
    try:
        base = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
        try:
            return int(base.execute("SELECT COUNT(*) FROM answers").fetchone()[0])
        finally:
            base.close()
    except sqlite3.Error:  # not made yet
        return 0
