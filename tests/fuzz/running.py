"""Runs trials, most of them in this process, the rest in forked children with limits, and says what became of them."""

from __future__ import annotations

import contextlib
import gc
import io
import json
import multiprocessing.util
import os
import re
import resource
import shutil
import signal
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.fuzz import documents
from tests.fuzz.surfaces import Trial
from zsim.base.errors import is_unsafe

ADDRESS_SPACE = 6 << 30
MOST_MEMORY, MOST_CPU_S, MOST_WALL_S = 1 << 30, 2.0, 30.0
STOPS_S = 15.0
"""What is interrupted ends within this."""
MOST_ERROR, MOST_GIVEN = 1600, 300
LARGEST_FILE = 256 << 20
CODES = (0, 1, 2, 130)
STYLE = re.compile("\x1b\\[[0-9;]*m")
"""Colours that FORCE_COLOR asks for."""


class Outcome(NamedTuple):
    """What became of a trial: exit code (negative: signal), CPU [s], memory [bytes], outputs, files left."""

    code: int
    cpu: float
    memory: int
    seconds: float
    out: bytes
    err: bytes
    left: dict[str, int]
    progress: bool


def warm() -> None:
    """Import and compile what trials need, once."""
    import matplotlib as mpl

    mpl.use("Agg")
    import scipy.optimize
    import scipy.stats  # noqa: F401

    from tests.fuzz.surfaces import commands
    from zsim.cli.main import main

    commands()
    with (
        tempfile.TemporaryDirectory() as directory, contextlib.chdir(directory),
        contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()),
    ):  # fmt: skip
        for line in WARMING:
            main(line.split())
        _keep_courses(main)
    gc.collect()
    gc.freeze()


_COURSES: list[Any] = []


def _keep_courses(main: Any) -> None:
    """Keep the simulated courses of one running scan, which stand for those of any other."""
    from zsim.planning.eta import api

    plain = api.courses_of

    def courses_of(*given: Any) -> Any:
        _COURSES.append(plain(*given))
        return _COURSES[-1]

    api.courses_of = courses_of  # type: ignore[assignment]
    main(["eta", str(documents.ROOT / "docs" / "examples" / "zpool-status.txt")])
    api.courses_of = plain


WARMING = (
    "predict --layout mirror2 --fill 0.3 --drive-size 8GB --release openzfs-2.3",
    "predict --layout raidz1x3 --fill 0.3 --drive-size 8GB --release zol-0.7.13 --json",
    "risk --layout raidz1x4 --hours 9",
    "timeline --layout raidz1x4 --fill 0.3 --drive-size 8GB --fail 0",
    "drives show hd103uj",
    "drives plot hd103uj -o a.svg",
    "pool show --layout mirror2 --fill 0.3",
)


def lay_out(files: Any, home: Path) -> None:
    """Make the files of a trial."""
    for name, content in files.items():
        path = home / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, bytes):
                path.write_bytes(content)
                if path.parent.name == "bin":
                    path.chmod(0o755)
            else:
                _special(path, content)
        except (OSError, ValueError):
            continue


def _special(path: Path, kind: str) -> None:
    if kind == "dir":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "loop":
        path.symlink_to(path.name)
    elif kind in {"zero", "full", "null"}:
        path.symlink_to(f"/dev/{kind}")
    elif kind == "dangling":
        path.symlink_to("nothing-there")
    elif kind == "unreadable":
        path.write_bytes(b"x")
        path.chmod(0)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(path))


FORKED = frozenset({"odd_files", "traces", "block_lists", "surroundings", "asked_pools"})
"""They take memory, run compiled code on what they are given, or change what a process knows of its surroundings."""


class _TooLongError(BaseException):
    """Raised by the timer."""


def run(trial: Trial) -> Outcome:
    """Run a trial here if that is safe and does not take long, else in a child."""
    if trial.whole or trial.surface in FORKED:
        return run_forked(trial)
    try:
        return run_here(trial)
    except _TooLongError:
        return run_forked(trial)


def _resident_kb() -> int:
    """Return what this process holds [KB]: a file of gigabytes to be tried is in its memory, and in its children's."""
    words = (
        Path("/proc/self/statm").read_text(encoding="ascii").split()
        if Path("/proc/self/statm").exists()
        else []
    )
    return int(words[1]) * resource.getpagesize() // 1024 if words else 0


def run_here(trial: Trial) -> Outcome:
    """Run a trial in this process."""
    home = Path(tempfile.mkdtemp(prefix="zsim-fuzz-"))
    out, err = io.BytesIO(), io.BytesIO()
    streams = sys.stdin, sys.stdout, sys.stderr
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        lay_out(trial.files, home)
        before = _listing(home)
        began, cpu = time.perf_counter(), time.process_time()
        sys.stdin = io.TextIOWrapper(io.BytesIO(trial.stdin))
        sys.stdout = io.TextIOWrapper(out, encoding="utf-8", write_through=True)
        sys.stderr = io.TextIOWrapper(err, encoding="utf-8", errors="backslashreplace", write_through=True)
        with contextlib.chdir(home), _watched_progress() as told, _answered_at_once(), _limited() as stopped:
            code = _code_of(trial)
        if stopped:  # libraries may make another exception of it on its way
            raise _TooLongError
        left = {name: size for name, size in _listing(home).items() if before.get(name) != size}
        more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - largest
        return Outcome(
            code, time.process_time() - cpu, more << 10, time.perf_counter() - began, out.getvalue(), err.getvalue(),
            left, bool(told),
        )  # fmt: skip
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams
        shutil.rmtree(home, ignore_errors=True)


@contextlib.contextmanager
def _limited() -> Iterator[list[int]]:
    """Stop what takes more than `MOST_CPU_S`; the list holds the signals that did."""
    stopped: list[int] = []

    def stop(number: int, _: Any) -> None:
        stopped.append(number)
        raise _TooLongError

    old = signal.signal(signal.SIGPROF, stop), signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_PROF, MOST_CPU_S)
        signal.setitimer(signal.ITIMER_REAL, MOST_WALL_S / 2)
        yield stopped
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGPROF, old[0])
        signal.signal(signal.SIGALRM, old[1])


def _code_of(trial: Trial) -> int:
    """Run the command line and return its exit code; what passes through it is printed as a traceback."""
    from zsim.cli.main import main

    try:
        code = main(list(trial.words))
        sys.stdout.flush()
        sys.stderr.flush()
    except SystemExit as leave:
        code = leave.code if isinstance(leave.code, int) else 1
    except Exception:
        traceback.print_exc()
        code = 71
    return code


def run_forked(trial: Trial) -> Outcome:
    """Run a trial in a child of its own."""
    home = Path(tempfile.mkdtemp(prefix="zsim-fuzz-"))
    outside = Path(tempfile.mkdtemp(prefix="zsim-said-"))
    try:
        lay_out(trial.files, home)
        (outside / "in").write_bytes(trial.stdin)
        before = _listing(home)
        began, here = time.perf_counter(), _resident_kb()
        pid = os.fork()
        if pid == 0:
            _child(trial, home, outside)
        status, used = _wait(pid, began)
        left = {name: size for name, size in _listing(home).items() if before.get(name) != size}
        return Outcome(
            os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, max(0, used.ru_maxrss - here) << 10,
            time.perf_counter() - began, (outside / "out").read_bytes()[:5_000_000], (outside / "err").read_bytes()[:5_000_000],
            left, (outside / "progress").exists(),
        )  # fmt: skip
    finally:
        shutil.rmtree(home, ignore_errors=True)
        shutil.rmtree(outside, ignore_errors=True)


class _Terminal(io.StringIO):
    """Nothing comes from it, as nobody types."""

    def isatty(self) -> bool:
        return True


def _wait(pid: int, began: float) -> tuple[int, Any]:
    pause = 0.001
    while True:
        done, status, used = os.wait4(pid, os.WNOHANG)
        if done:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)  # workers that outlive it
            return status, used
        passed = time.perf_counter() - began
        if passed > MOST_WALL_S:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL if passed > MOST_WALL_S + STOPS_S else signal.SIGINT)
            pause = 1.0
        time.sleep(pause)
        pause = min(pause * 1.3, 0.02)


def _listing(home: Path) -> dict[str, int]:
    found = {}
    for directory, _, names in os.walk(home):
        for name in names:
            path = Path(directory) / name
            with contextlib.suppress(OSError, ValueError):
                found[str(path.relative_to(home))] = path.lstat().st_size
    return found


def _child(trial: Trial, home: Path, outside: Path) -> None:
    """Become the command: never returns."""
    code = 71
    try:
        os.setpgid(0, 0)
        os.chdir(home)
        os.environ.update(trial.environ)
        time.tzset()
        for name, number, flags in (
            ("in", 0, os.O_RDONLY), ("out", 1, os.O_CREAT | os.O_WRONLY), ("err", 2, os.O_CREAT | os.O_WRONLY),
        ):  # fmt: skip
            os.dup2(os.open(outside / name, flags, 0o600), number)
        sys.stdin = _Terminal() if trial.terminal else io.TextIOWrapper(io.FileIO(0, closefd=False))
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), "utf-8", write_through=True)
        sys.stderr = io.TextIOWrapper(
            io.FileIO(2, "w", closefd=False), "utf-8", "backslashreplace", write_through=True
        )
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
        resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        quick = contextlib.nullcontext() if trial.whole else _answered_at_once()
        with _watched_progress(outside / "progress"), quick:
            code = _code_of(trial)
    except BaseException:
        os.write(2, traceback.format_exc().encode("utf-8", "backslashreplace"))
    finally:
        with contextlib.suppress(Exception):
            # Semaphores of a pool of processes are given back by what runs at a usual exit.
            multiprocessing.util._run_finalizers()  # type: ignore[attr-defined]
        os._exit(code & 255)


@contextlib.contextmanager
def _watched_progress(mark: Path | None = None) -> Iterator[list[str]]:
    """Note when the command tells how far it is: on a terminal that would be a bar."""
    from zsim.cli import common

    plain = common.progress
    told: list[str] = []

    @contextlib.contextmanager
    def progress(title: str) -> Any:
        told.append(title)
        if mark is not None:
            mark.touch()
        with plain(title) as report:
            yield report

    users = [module for name, module in sys.modules.items() if name.startswith("zsim.cli.")]
    users = [module for module in users if getattr(module, "progress", None) is plain]
    for module in users:
        module.progress = progress  # type: ignore[attr-defined]
    try:
        yield told
    finally:
        # Modules that the command has loaded by now have it too.
        for module in [each for name, each in sys.modules.items() if name.startswith("zsim.cli.")]:
            if getattr(module, "progress", None) is progress:
                module.progress = plain  # type: ignore[attr-defined]


@contextlib.contextmanager
def _answered_at_once() -> Iterator[None]:
    """Let predictions that would be simulated be answered from a stored one."""
    from tests.conftest import sample_prediction
    from zsim.planning.eta import api as running
    from zsim.prediction import api

    class Nothing(api.Work):
        def run(self) -> None:
            """Do nothing."""

    def answer(work: Any, *extent: Any, **more: Any) -> Any:
        del extent, more
        found = sample_prediction().model_copy(update={"provenance": api.provenance_of(work.case)})
        api.warnings(work.case), api.subject(work.case)
        return api.held(found, work)

    plain = api.Work, api._prediction, running.courses_of
    api.Work, api._prediction = Nothing, answer  # type: ignore[misc,assignment]
    if _COURSES:
        running.courses_of = lambda *given: _COURSES[0]
    try:
        yield
    finally:
        api.Work, api._prediction, running.courses_of = plain  # type: ignore[misc]


MESSAGE = re.compile(r"^zsim: ")


def complaints(trial: Trial, got: Outcome) -> list[str]:
    """Return what is wrong with an outcome; empty when nothing is."""
    found = []
    err = got.err.decode("utf-8", "backslashreplace")
    out = got.out.decode("utf-8", "replace")
    if got.seconds > MOST_WALL_S + STOPS_S:
        found.append("hangs")
    elif got.code not in CODES:
        found.append(f"exit code {got.code}")
    if "Traceback (most recent call last)" in err + out or "internal error" in err:
        found.append("traceback")
    if got.memory > MOST_MEMORY:
        found.append(f"memory {got.memory >> 20} MB")
    if got.cpu > MOST_CPU_S and not got.progress:
        found.append(f"CPU {got.cpu:.1f} s")
    if got.code == 2:
        found += _of_refusal(trial, got, out, err)
    if "FORCE_COLOR" in trial.environ:
        out, err = STYLE.sub("", out), STYLE.sub("", err)
    found += _of_text(out, "stdout") + _of_text(err, "stderr")
    if (
        "--json" in trial.words
        and got.code == 0
        and not ({"--help", "-h", "--version", "--script"} & set(trial.words))
    ):
        found += _of_json(out)
    temporary = [name for name in got.left if Path(name).name.startswith(".") or ".tmp" in name]
    if temporary:
        found.append(f"left behind {temporary[0][:60]!r}")
    if got.code == 0 and NO_NUMBER.search(out) and not {"nan", "inf"} & _given(trial):
        found.append(f"says {NO_NUMBER.search(out).group()!r}")  # type: ignore[union-attr]
    return found


NO_NUMBER = re.compile(r"(?<![\w.\-/])-?(nan|inf)\b(?!\w)", re.IGNORECASE)


def _given(trial: Trial) -> set[str]:
    """Return what of the words of no number the input holds itself: a name may be so."""
    contents = [each.decode("utf-8", "replace") for each in trial.files.values() if isinstance(each, bytes)]
    text = " ".join([*trial.words, *contents, *trial.environ.values()]).lower()
    return {word for word in ("nan", "inf") if word in text}


def _of_refusal(trial: Trial, got: Outcome, out: str, err: str) -> list[str]:
    found = []
    lines = [line for line in err.splitlines() if line.strip()]
    if trial.words == () or (lines and lines[0].endswith(" COMMAND [ARGS]...")):  # the help of a group
        pass
    elif not lines or not MESSAGE.match(lines[-1]):
        found.append("no sentence")
    elif not lines[-1].rstrip().endswith((".", "?", "allowed", "value", "use")):
        found.append(f"no sentence: ends {lines[-1][-20:]!r}")
    if out.strip() and "--json" in trial.words:
        found.append("stdout written though refused")
    if len(err) > MOST_ERROR and not err.startswith("Usage: "):
        found.append(f"message of {len(err)} characters")
    given = [
        *trial.words,
        *trial.environ.values(),
        *(each.decode("utf-8", "replace") for each in trial.files.values() if isinstance(each, bytes)),
    ]
    for word in given:
        if len(word) > MOST_GIVEN and any(word[i : i + MOST_GIVEN + 1] in err for i in (0, len(word) // 2)):
            found.append("more than 300 characters of input")
            break
    if got.left and not any(
        name.endswith((".sqlite", ".sqlite-wal", ".sqlite-shm", ".jsonl", ".prom")) for name in got.left
    ):
        found.append(f"refused, yet wrote {next(iter(got.left))[:60]!r}")
    return found


def _of_text(text: str, where: str) -> list[str]:
    for sign in set(text):
        if sign not in "\n\t" and is_unsafe(sign):
            return [f"raw U+{ord(sign):04X} on {where}"]
    return []


def _of_json(out: str) -> list[str]:
    try:
        json.loads(out, parse_constant=lambda name: 1 / 0)
    except (ValueError, ZeroDivisionError, RecursionError):
        return ["--json gives no JSON"]
    return []
