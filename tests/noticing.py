"""Whether tests notice a mutation: they are collected once, and mutations are patched into forks.

A first fork runs every test once and notes its CPU time and the functions it calls, those behind shared
fixtures and caches included.  A mutation of a function's body is then put into a fork in which only tests
that call the function run, cheapest first, until one fails.  What cannot be patched (constants of modules,
fields of classes, what runs at import) is written into the copy of the tree and run in a process of its own,
and so are tests that start processes.
"""

from __future__ import annotations

import functools
import gc
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

import pytest

SPARE_CPU_S, TIMES, WALL_S = 5.0, 4.0, 900
"""A mutated test ends after so many times its CPU time and more, or after so long [s]: an endless loop."""
MEMORY_BYTES = 6 << 30
SPAWNS = ("_execute_child", "_launch")
"""Functions of the standard library that start a process."""

Place = tuple[str, str, int]
"""File, qualified name and first line of a function."""


class Test(NamedTuple):
    """One test of the plain run: CPU time [s], what it calls, whether it passes, and starts processes."""

    __test__ = False
    name: str
    cpu_s: float
    calls: frozenset[Place]
    is_usable: bool
    is_spawning: bool


class TooSlow(BaseException):
    """A test takes longer than it may as plain Python."""


class Notes:
    """The functions that are called, as far as they are zsim's own or start processes."""

    def __init__(self, home: Path) -> None:
        """Note what lies below a directory."""
        self.home = f"{home}{os.sep}"
        self.seen: set[CodeType] = set()
        self.caches: list[OrderedDict[Any, Any]] = []

    def trace(self, frame: FrameType, _event: str, _argument: object) -> None:
        """Be the tracer of calls; lines are not traced."""
        self.seen.add(frame.f_code)

    def places(self, codes: set[CodeType]) -> list[Place]:
        """Return the places of functions that count."""
        return [
            (code.co_filename, code.co_qualname, code.co_firstlineno)
            for code in codes
            if code.co_filename.startswith(self.home) or code.co_name in SPAWNS
        ]

    def cache(self, maxsize: Any = 128, typed: bool = False) -> Any:
        """Be `functools.lru_cache`, and note again what a kept result has called when it was made."""
        if callable(maxsize):
            return self.cache()(maxsize)

        def decorate(function: Callable[..., Any]) -> Any:
            kept: OrderedDict[Any, tuple[Any, set[CodeType]]] = OrderedDict()
            counts = [0, 0]
            self.caches.append(kept)

            @functools.wraps(function)
            def call(*args: Any, **kwargs: Any) -> Any:
                key = functools._make_key(args, kwargs, typed)
                counts[key not in kept] += 1
                if key not in kept:
                    before, self.seen = self.seen, set()
                    try:
                        found = function(*args, **kwargs)
                    finally:
                        inside, self.seen = self.seen, before | self.seen
                    kept[key] = (found, inside)
                    if maxsize is not None and len(kept) > maxsize:
                        kept.popitem(last=False)
                    return found
                kept.move_to_end(key)
                self.seen |= kept[key][1]
                return kept[key][0]

            whole: Any = call
            whole.cache_clear = kept.clear
            whole.cache_info = lambda: functools._CacheInfo(counts[0], counts[1], maxsize, len(kept))
            whole.cache_parameters = lambda: {"maxsize": maxsize, "typed": typed}
            return whole

        return decorate


class Campaign:
    """A plugin of pytest whose loop is that of mutations, not of tests."""

    def __init__(
        self, home: Path, modules: Sequence[str], most_s: float, then: Callable[[Campaign], None]
    ) -> None:
        """Take the tree, what is mutated, the CPU time a test may take, and what is to be done."""
        self.home, self.modules, self.most_s, self.then = home, modules, most_s, then
        self.notes = Notes(home)
        self.tests: list[Test] = []
        self.items: dict[str, pytest.Item] = {}
        self.functions: dict[Place, list[FunctionType]] = {}
        self.fixtures: dict[int, set[CodeType]] = {}
        self.failed: list[str] = []
        self.too_slow = False
        self.at_import: frozenset[Place] = frozenset()

    def run(self, names: Sequence[str]) -> None:
        """Collect tests and do what is to be done, in this process."""
        functools.lru_cache = self.notes.cache  # type: ignore[assignment]
        functools.cache = self.notes.cache(None)
        options = ["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist"]
        sys.settrace(self.notes.trace)
        code = pytest.main([*options, *(f"tests/{each}" for each in names)], plugins=[self])
        if code not in {0, 5}:
            raise SystemExit(f"tests cannot be collected: {code}")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run what is to be done instead of the tests."""
        for name in self.modules:
            importlib.import_module(name)
        sys.settrace(None)
        self.at_import = frozenset(self.notes.places(self.notes.seen))
        self.items = {item.nodeid: item for item in session.items}
        # What was made at import stays; what is kept when asked for is made anew.
        for kept in self.notes.caches:
            kept.clear()
        for each in gc.get_objects():
            if isinstance(each, FunctionType) and each.__code__.co_filename.startswith(self.notes.home):
                code = each.__code__
                place = (code.co_filename, code.co_qualname, code.co_firstlineno)
                self.functions.setdefault(place, []).append(each)
        gc.freeze()
        self.tests = self._plain_run()
        self.then(self)
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
        """Note what the making of a fixture calls, for the tests that share it."""
        before, self.notes.seen = self.notes.seen, set()
        try:
            return (yield)
        finally:
            self.fixtures[id(fixturedef)] = self.notes.seen
            self.notes.seen = before | self.notes.seen

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what fails."""
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_exception_interact(self, call: pytest.CallInfo[Any]) -> None:
        """Note why."""
        self.too_slow = self.too_slow or (call.excinfo is not None and call.excinfo.errisinstance(TooSlow))

    def _plain_run(self) -> list[Test]:
        """Run every test once, in a fork; return what was noted."""
        reading, writing = tempfile.mkstemp()
        os.close(reading)
        child = os.fork()
        if child == 0:
            try:
                self._run_plainly(Path(writing))
            except BaseException as error:
                Path(f"{writing}.error").write_text(repr(error))
                os._exit(1)
            os._exit(0)
        if os.waitpid(child, 0)[1] != 0:
            why = Path(f"{writing}.error")
            sys.stderr.write(f"the plain run ended early: {why.read_text() if why.exists() else 'killed'}\n")
            why.unlink(missing_ok=True)
        rows = [json.loads(line) for line in Path(writing).read_text().splitlines()]
        Path(writing).unlink()
        found = [
            Test(name, cpu_s, frozenset(tuple(each) for each in calls), usable, spawning)  # type: ignore[misc]
            for name, cpu_s, calls, usable, spawning in rows
        ]
        return sorted(found, key=lambda test: test.cpu_s)

    def _run_plainly(self, path: Path) -> None:
        def stop(*_: object) -> None:
            raise TooSlow

        signal.signal(signal.SIGVTALRM, stop)
        out = os.fdopen(os.dup(2), "w")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        items = list(self.items.values())
        with path.open("w") as file:
            for item, after in zip(items, [*items[1:], None], strict=True):
                self.notes.seen, self.failed, self.too_slow = set(), [], False
                began = _cpu_s()
                signal.setitimer(signal.ITIMER_VIRTUAL, self.most_s)
                threading.settrace(self.notes.trace)
                sys.settrace(self.notes.trace)
                try:
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
                except TooSlow:
                    # Between two steps of pytest, which has not torn down what it set up.
                    self.too_slow = True
                    self.failed.append(item.nodeid)
                    item.session._setupstate.teardown_exact(None)
                sys.settrace(None)
                signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
                seen = set(self.notes.seen)
                info = getattr(item, "_fixtureinfo", None)
                for fixtures in info.name2fixturedefs.values() if info else ():
                    for each in fixtures:
                        seen |= self.fixtures.get(id(each), set())
                calls = self.notes.places(seen)
                spawning = any(name.rpartition(".")[2] in SPAWNS for _, name, _ in calls)
                row = (item.nodeid, _cpu_s() - began, calls, not self.failed, spawning)
                file.write(json.dumps(row) + "\n")
                file.flush()
                if self.failed:
                    reason = "too slow" if self.too_slow else "fails without any mutation"
                    out.write(f"not used: {item.nodeid}: {reason}\n")
                    out.flush()

    def covering(self, place: Place) -> list[Test]:
        """Return the tests that call a function in this process, cheapest first."""
        return [test for test in self.tests if test.is_usable and place in test.calls]

    def notices(self, place: Place, code: CodeType, tests: Sequence[Test]) -> str:
        """Run tests in a fork with another body of a function; return the one that fails, or nothing."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            self._run_mutated(place, code, tests, writing)
        os.close(writing)
        with os.fdopen(reading, "rb") as file:
            found = file.read().decode()
        _, status = os.waitpid(child, 0)
        return found or ("does not end" if status else "")

    def _run_mutated(self, place: Place, code: CodeType, tests: Sequence[Test], writing: int) -> None:
        try:
            limit = int(SPARE_CPU_S + 2.0 * sum(test.cpu_s for test in tests)) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            signal.alarm(WALL_S)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            for function in self.functions[place]:
                function.__code__ = code
            items = [self.items[test.name] for test in tests]
            for test, item, after in zip(tests, items, [*items[1:], None], strict=True):
                # Its signal ends the process, as no handler is there.
                signal.setitimer(signal.ITIMER_PROF, SPARE_CPU_S + TIMES * test.cpu_s)
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
                if self.failed:
                    os.write(writing, self.failed[0].encode())
                    break
        except BaseException as error:
            os.write(writing, f"ends the run: {type(error).__name__}".encode())
        finally:
            os._exit(0)


def _cpu_s() -> float:
    """Return the CPU time of this process and its children [s]."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def run_anew(names: Sequence[str], home: Path, most_cpu_s: float, *, plain: bool) -> str:
    """Run tests in a process of their own; return the one that fails, or nothing."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--tb=no", *names]
    limit = int(most_cpu_s) + 1
    try:
        done = subprocess.run(
            command, cwd=home, env=environment(home, plain=plain), capture_output=True, timeout=WALL_S,
            check=False, text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "does not end"
    if done.returncode == 0:
        return ""
    failed = [line.split()[1] for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0] if failed else f"ends with {done.returncode}"


def environment(home: Path, *, plain: bool) -> dict[str, str]:
    """Return the environment of tests on a copy of the tree."""
    cache = os.environ.get("ZSIM_CACHE_DIR", str(home / "cache"))
    found = {
        **os.environ,
        "PYTHONPATH": str(home),
        "PYTHONDONTWRITEBYTECODE": "1",
        "ZSIM_CACHE_DIR": cache,
        "ZSIM_SHRINK": "0",
    }
    return found | ({"NUMBA_DISABLE_JIT": "1"} if plain else {})
