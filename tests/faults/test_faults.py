"""Faults of the machine around zsim, each with a real process: signals, full disks, little memory."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals, limits and modes of POSIX")

ROOT = Path(__file__).resolve().parents[2]
FIXTURE = ROOT / "tests" / "observe" / "fixtures" / "raidz2-2.2"
SMALL = ("predict", "--layout", "mirror2", "--fill", "0.3", "--drive-size", "8GB")
SWEEP = ("sweep", "--width", "3..8", "--parity", "1", "--fill", "50%", "--drive-size", "8GB", "--jobs", "1")
PATIENCE_S = 120.0


def start(*words: str, **more: Any) -> subprocess.Popen[str]:
    """Start a command in a process of its own."""
    given: dict[str, Any] = {
        "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "encoding": "utf-8", "cwd": ROOT,
    }  # fmt: skip
    flags = more.pop("python", ())
    return subprocess.Popen([sys.executable, *flags, "-m", "zsim", *words], **{**given, **more})


def run(*words: str, **more: Any) -> tuple[int, str, str]:
    """Return exit code, stdout and stderr of a command."""
    done = start(*words, **more)
    out, err = done.communicate(timeout=PATIENCE_S)
    return done.returncode, out, err


def limited(kind: int, most: int) -> Callable[[], None]:
    """Return what sets a limit before the command begins; writing past it fails as on a full disk."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(kind, (most, most))

    return limit


def one_sentence(err: str) -> None:
    assert err.startswith("zsim: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert "internal error" not in err


def test_a_prediction_that_cannot_be_stored_is_printed_all_the_same(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    code, out, err = run(*SMALL, "-o", str(target), preexec_fn=limited(resource.RLIMIT_FSIZE, 500))
    assert code == 2
    assert "Resilver of mirror2" in out
    one_sentence(err)
    assert list(tmp_path.iterdir()) == []


def test_an_import_onto_a_full_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    # The scenario itself has 1.3 KB, its side files more.
    for most in (1000, 1500, 2500):
        limit = limited(resource.RLIMIT_FSIZE, most)
        code, _, err = run("import", str(FIXTURE), "-o", str(tmp_path / "a.toml"), preexec_fn=limit)
        assert code == 2
        one_sentence(err)
        assert list(tmp_path.iterdir()) == []


def test_a_full_standard_output_is_told() -> None:
    with Path("/dev/full").open("w") as full:
        code, _, err = run("drives", "show", "hd103uj", stdout=full)
    assert code == 2
    one_sentence(err)
    assert "no space left" in err


def test_notices_that_cannot_be_written_leave_the_answer_and_its_exit_code(tmp_path: Path) -> None:
    """As of a nightly job whose log is on a full disk: the file that was asked for is there."""
    target = tmp_path / "a.toml"
    words = ("scenario", "show", "--layout", "raidz2x6", "--fill", "62%", "-v", "-o", str(target))
    with Path("/dev/full").open("w") as full:
        code, out, _ = run(*words, stderr=full)
    assert code == 0
    assert "Defaults for the rest" in out
    assert target.read_text().startswith("layout = ")


def test_the_exit_code_is_ours_when_nothing_can_be_written_and_a_thread_runs() -> None:
    program = (
        "import sys, threading, time\nfrom zsim.cli import main\n"
        "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
        "sys.argv[1:] = ['drives', 'show', 'hd103uj']\nmain.process()\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", program], stdout=full, stderr=full, cwd=ROOT, env=environment, check=False
        )
    assert done.returncode == 2


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_a_closed_stream_is_no_fault(closed: int, tmp_path: Path) -> None:
    target = tmp_path / "a.toml"
    words = ("scenario", "show", "--layout", "raidz2x6", "--fill", "62%", "-o", str(target))
    code, _, err = run(*words, preexec_fn=lambda: os.close(closed))
    assert code == 0
    assert "Traceback" not in err
    # Nothing that was printed has gone into the file.
    assert target.read_text().startswith("layout = ")


def test_a_reader_that_leaves_early_is_no_fault() -> None:
    shell = f"'{sys.executable}' -m zsim drives list | head -1"
    done = subprocess.run(["bash", "-c", shell], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr == ""


def test_a_bare_environment_a_foreign_encoding_and_optimised_python(tmp_path: Path) -> None:
    bare = {"PATH": os.environ["PATH"], "LANG": "C", "PYTHONIOENCODING": "ascii", "ZSIM_CACHE_DIR": _cache()}
    # Another kernel of the linear algebra would sum in another order: the last digits are its own.
    bare |= {name: value for name, value in os.environ.items() if name.startswith("OPENBLAS_")}
    home = tmp_path / "a b ü 名前"
    home.mkdir()
    words = ("scenario", "show", "--layout", "mirror2", "--fill", "0.3", "-o", str(home / "s c.toml"))
    code, out, err = run(*words, env=bare)
    assert code == 0, err
    assert "Traceback" not in out + err
    code, out, _ = run(*SMALL, "--json", env=bare, python=("-O",))
    assert code == 0
    plain = json.loads(run(*SMALL, "--json")[1])
    assert json.loads(out)["resilver_s"] == plain["resilver_s"]


def _cache() -> str:
    from zsim.base.machine.kernel_cache import KernelCache

    directory = KernelCache().directory
    return str(directory.parent.parent if directory is not None else "")


@pytest.mark.parametrize("megabytes", [200, 350, 500])
def test_little_memory_ends_in_a_sentence(megabytes: int) -> None:
    code, _, err = run(*SMALL, preexec_fn=limited(resource.RLIMIT_AS, megabytes << 20))
    assert code == 2, err
    one_sentence(err)


def test_a_clock_set_back_does_not_hide_an_edit(tmp_path: Path) -> None:
    """A drive's file is edited while its time of change lies in the future."""
    model = tmp_path / "d.toml"
    text = (ROOT / "models" / "drives" / "generic-sata-ssd.toml").read_text()
    words = ("sweep", "--layout", "mirror2", "--fill", "0.3", "--drive", str(model), "--store")
    found = []
    for rate in ("285", "28.5"):
        model.write_text(text.replace("value = 285,", f"value = {rate},"))
        os.utime(model, (time.time() + 86400, time.time() + 86400))
        code, out, err = run(*words, str(tmp_path / "s.jsonl"), "--jobs", "1", "--json")
        assert code == 0, err
        found.append(json.loads(out)["rows"][0]["p50_s"])
    assert found[1] > 2 * found[0]
    assert len((tmp_path / "s.jsonl").read_text().splitlines()) == 2


@pytest.mark.parametrize(
    "how",
    [
        signal.SIGKILL,
        *(pytest.param(each, marks=pytest.mark.slow) for each in (signal.SIGTERM, signal.SIGINT)),
    ],
)
def test_a_sweep_stopped_at_any_moment_has_each_row_once(how: signal.Signals, tmp_path: Path) -> None:
    store, chance = tmp_path / "s.jsonl", random.Random(int(how))
    for _ in range(2):
        process = start(*SWEEP, "--store", str(store))
        rows, until = _rows(store), time.monotonic() + PATIENCE_S
        while _rows(store) == rows and time.monotonic() < until and process.poll() is None:
            time.sleep(0.02)
        time.sleep(chance.uniform(0.0, 0.3))
        process.send_signal(how)
        process.communicate(timeout=PATIENCE_S)
    assert run(*SWEEP, "--store", str(store))[0] == 0
    entries = [json.loads(line) for line in store.read_text().splitlines()]
    assert len({entry["key"] for entry in entries}) == len(entries) == 6


def _rows(store: Path) -> int:
    return store.read_bytes().count(b"\n") if store.exists() else 0


def test_a_line_cut_by_a_kill_costs_that_row_only(tmp_path: Path) -> None:
    store = tmp_path / "s.jsonl"
    words = (
        "sweep",
        "--width",
        "3,4",
        "--parity",
        "1",
        "--fill",
        "50%",
        "--drive-size",
        "8GB",
        "--jobs",
        "1",
    )
    assert run(*words, "--store", str(store))[0] == 0
    whole = store.read_text().splitlines()
    store.write_text(whole[0] + "\n" + whole[1][:50])
    assert run(*words, "--store", str(store))[0] == 0
    assert sorted(whole) == sorted(line for line in store.read_text().splitlines() if line.endswith("}}"))


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_what_is_killed_while_it_writes_leaves_no_half_file(how: signal.Signals, tmp_path: Path) -> None:
    chance = random.Random(7)
    for number, words in enumerate([(*SMALL, "-o"), ("import", str(FIXTURE), "-o")] * 2):
        target = tmp_path / f"{number}{'.json' if words[0] == 'predict' else '.toml'}"
        process = start(*words, str(target))
        time.sleep(chance.uniform(0.2, 3.0))
        process.send_signal(how)
        process.communicate(timeout=PATIENCE_S)
        if target.exists() and target.suffix == ".json":
            json.loads(target.read_text())
        elif target.exists():
            assert "layout = " in target.read_text()


def test_a_watch_that_is_interrupted_leaves_whole_lines(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    status = (ROOT / "docs" / "examples" / "zpool-status.txt").read_text()
    (tools / "zpool").write_text(f"#!/bin/sh\ncat <<'END'\n{status}\nEND\n")
    (tools / "zpool").chmod(stat.S_IRWXU)
    log = tmp_path / "log.jsonl"
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    process = start("eta", "--pool", "tank", "--watch", "1", "--log", str(log), env=environment)
    until = time.monotonic() + PATIENCE_S
    while _rows(log) < 1 and time.monotonic() < until and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert log.read_text().endswith("\n")
    assert all("remaining_s" in json.loads(line) for line in log.read_text().splitlines())


def test_a_first_compile_that_is_killed_is_begun_again(tmp_path: Path) -> None:
    program = "from zsim.vdevs import raidz; print(raidz.raidz_asize(131072, 12, 6, 2), end='')"
    environment = {**os.environ, "ZSIM_CACHE_DIR": str(tmp_path)}
    chance = random.Random(3)
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", program], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL
        )
        time.sleep(chance.uniform(0.5, 4.0))
        process.kill()
        process.wait()
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, check=True
    )
    assert done.stdout == b"196608"


def test_no_home_that_can_be_written_to(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "HOME": "/proc/nowhere",
        "XDG_CACHE_HOME": "/proc/nowhere",
        "ZSIM_CACHE_DIR": "/proc/nowhere",
    }
    code, out, err = run("drives", "show", "hd103uj", env=environment)
    assert code == 0, err
    assert "HD103UJ" in out
    assert err.count("\n") <= 2  # that they are compiled, and that they are not kept
