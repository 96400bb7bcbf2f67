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
import hashlib
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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from types import CodeType, FrameType, FunctionType, MappingProxyType
from typing import Any, NamedTuple

import pytest
from pluggy import PluggyTeardownRaisedWarning

SPARE_CPU_S, TIMES, WALL_S = 5.0, 4.0, 900
"""A mutated test ends after so many times its CPU time and more, or after so long [s]: a loop."""
SHARED_S, LEAST_SHARED_S = 25.0, 0.05
"""CPU time that what tests share may take, and from which it is noted [s]."""
MEMORY_BYTES = 6 << 30
SPAWNS = ("_launch",)
"""Functions of the standard library that start a process of Python; of others the command tells."""

Place = tuple[str, str, int]
"""File, qualified name and first line of a function."""


class Test(NamedTuple):
    """One test of the plain run: CPU time [s], what it calls, whether it passes, and starts processes.

    `shared_s` holds the CPU time of making each thing that it shares with others, by name [s]: a test that
    runs alone makes it.
    """

    __test__ = False
    name: str
    cpu_s: float
    calls: frozenset[Place]
    is_usable: bool
    is_spawning: bool
    shared_s: Mapping[str, float] = MappingProxyType({})

    @property
    def alone_s(self) -> float:
        """CPU time of the test if it runs alone [s]."""
        return self.cpu_s + sum(self.shared_s.values())


def total_s(tests: Iterable[Test]) -> float:
    """Return the CPU time of tests that run one after the other: what they share is made once [s]."""
    shared: dict[str, float] = {}
    own = 0.0
    for test in tests:
        own += test.cpu_s
        shared.update(test.shared_s)
    return own + sum(shared.values())


class TooSlow(BaseException):
    """A test takes longer than it may as plain Python."""


class Made(NamedTuple):
    """What the making of something calls, and the CPU time of what is shared that it takes, by name [s]."""

    calls: set[CodeType]
    shared: dict[str, float]


class Notes:
    """The functions that are called, as far as they are zsim's own or start processes."""

    def __init__(self, home: Path) -> None:
        """Note what lies below a directory."""
        self.home = f"{home}{os.sep}"
        self.seen: set[CodeType] = set()
        self.caches: list[OrderedDict[Any, Any]] = []
        # Of what is shared: CPU time by name where it was asked for, and spent on making it just now [s].
        self.shared: dict[str, float] = {}
        self.making_s = 0.0
        self.spawns = False

    def hear(self, event: str, given: tuple[Any, ...]) -> None:
        """Be the audit hook that notes commands in which zsim or Python runs."""
        if event == "subprocess.Popen":
            words = [given[1]] if isinstance(given[1], str | bytes) else [given[0] or "", *given[1]]
            self.spawns |= any(name in str(word) for word in words for name in ("python", "zsim"))

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

    @contextmanager
    def making(self, name: str) -> Iterator[Made]:
        """Note what the making of something calls and takes, apart from the test that asks first."""
        made, began = Made(set(), {}), time.process_time()
        before, self.seen, self.shared, self.making_s = (
            (self.seen, self.shared, self.making_s),
            set(),
            {},
            0.0,
        )
        left = signal.getitimer(signal.ITIMER_VIRTUAL)[0]
        if left:
            signal.setitimer(signal.ITIMER_VIRTUAL, SHARED_S)
        try:
            yield made
        finally:
            if left:
                signal.setitimer(signal.ITIMER_VIRTUAL, left)
            spent = time.process_time() - began
            made.calls.update(self.seen)
            made.shared.update(self.shared)
            if spent - self.making_s >= LEAST_SHARED_S:
                made.shared[name] = spent - self.making_s
                self.making_s = spent
            self.seen, self.shared, self.making_s = before[0], before[1], before[2] + self.making_s
            self.use(made)

    def use(self, made: Made) -> None:
        """Note that something is used that was made, now or before."""
        self.seen |= made.calls
        self.shared.update(made.shared)

    def cache(self, maxsize: Any = 128, typed: bool = False) -> Any:
        """Be `functools.lru_cache`, and note again what a kept result has called when it was made."""
        if callable(maxsize):
            return self.cache()(maxsize)

        def decorate(function: Callable[..., Any]) -> Any:
            kept: OrderedDict[Any, tuple[Any, Made]] = OrderedDict()
            number = len(self.caches)
            counts = [0, 0]
            self.caches.append(kept)

            @functools.wraps(function)
            def call(*args: Any, **kwargs: Any) -> Any:
                key = functools._make_key(args, kwargs, typed)
                counts[key not in kept] += 1
                if key not in kept:
                    with self.making(f"{number}: {hash(key)}") as made:
                        found = function(*args, **kwargs)
                    kept[key] = (found, made)
                    if maxsize is not None and len(kept) > maxsize:
                        kept.popitem(last=False)
                    return found
                kept.move_to_end(key)
                self.use(kept[key][1])
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
        self,
        home: Path,
        modules: Sequence[str],
        most_s: float,
        then: Callable[[Campaign], None],
        noted: Path | None = None,
    ) -> None:
        """Take the tree, what is mutated, the CPU time a test may take, and what is to be done.

        `noted` is a file of what was noted before; for the same tests of the same tree it holds again.
        """
        self.home, self.modules, self.most_s, self.then = home, modules, most_s, then
        self.noted = noted
        self.notes = Notes(home)
        self.tests: list[Test] = []
        self.items: dict[str, pytest.Item] = {}
        self.functions: dict[Place, list[FunctionType]] = {}
        self.fixtures: dict[int, Made] = {}
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
        name = f"{fixturedef.baseid}::{fixturedef.argname} {getattr(fixturedef, 'cached_param', '')}"
        if fixturedef.scope == "function":
            return (yield)
        with self.notes.making(f"{name} {len(self.fixtures)}") as made:
            self.fixtures[id(fixturedef)] = made
            return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what fails."""
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_exception_interact(self, call: pytest.CallInfo[Any]) -> None:
        """Note why."""
        self.too_slow = self.too_slow or (call.excinfo is not None and call.excinfo.errisinstance(TooSlow))

    def _plain_run(self) -> list[Test]:
        """Run every test once, in a fork, but those noted before; return what was noted."""
        tree = digest_of(sorted((self.home / "zsim").rglob("*.py")))
        digests = {name: f"{tree} {digest_of([item.path])}" for name, item in self.items.items()}
        before = self.noted.read_text().splitlines() if self.noted and self.noted.exists() else []
        known = {row[1]: row for row in map(json.loads, before)}
        rows = {name: row for name, row in known.items() if digests.get(name) == row[0]}
        reading, writing = tempfile.mkstemp()
        os.close(reading)
        child = os.fork()
        if child == 0:
            try:
                self._run_plainly(
                    Path(writing), [item for name, item in self.items.items() if name not in rows]
                )
            except BaseException as error:
                Path(f"{writing}.error").write_text(repr(error))
                os._exit(1)
            os._exit(0)
        if os.waitpid(child, 0)[1] != 0:
            why = Path(f"{writing}.error")
            sys.stderr.write(f"the plain run ended early: {why.read_text() if why.exists() else 'killed'}\n")
            why.unlink(missing_ok=True)
        for line in Path(writing).read_text().splitlines():
            row = json.loads(line)
            rows[row[0]] = [digests[row[0]], *row]
        Path(writing).unlink()
        if self.noted:
            self.noted.write_text("".join(json.dumps(row) + "\n" for row in {**known, **rows}.values()))
        found = [
            Test(name, cpu_s, frozenset((f"{self.home}/{path}", *at) for path, *at in calls), *others)  # type: ignore[misc]
            for _, name, cpu_s, calls, *others in rows.values()
        ]
        return sorted(found, key=lambda test: test.alone_s)

    def _run_plainly(self, path: Path, items: Sequence[pytest.Item]) -> None:
        def stop(*_: object) -> None:
            raise TooSlow

        signal.signal(signal.SIGVTALRM, stop)
        sys.addaudithook(self.notes.hear)
        out = os.fdopen(os.dup(2), "w")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        with path.open("w") as file:
            for item, after in zip_longest(items, items[1:]):
                self.notes.seen, self.failed, self.too_slow = set(), [], False
                self.notes.shared, self.notes.making_s, self.notes.spawns = {}, 0.0, False
                began = _cpu_s()
                signal.setitimer(signal.ITIMER_VIRTUAL, self.most_s)
                threading.settrace(self.notes.trace)
                sys.settrace(self.notes.trace)
                try:
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
                except (TooSlow, PluggyTeardownRaisedWarning):
                    # Between two steps of pytest, or in a plugin: what was set up has not been torn down.
                    self.too_slow = True
                    self.failed.append(item.nodeid)
                    item.session._setupstate.teardown_exact(None)
                sys.settrace(None)
                signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
                cpu_s = _cpu_s() - began - self.notes.making_s
                info = getattr(item, "_fixtureinfo", None)
                for fixtures in info.name2fixturedefs.values() if info else ():
                    for each in fixtures:
                        self.notes.use(self.fixtures.get(id(each), Made(set(), {})))
                calls = [
                    (path.removeprefix(self.notes.home), *at)
                    for path, *at in self.notes.places(self.notes.seen)
                ]
                spawning = self.notes.spawns or any(
                    name.rpartition(".")[2] in SPAWNS for _, name, *_ in calls
                )
                row = (item.nodeid, max(0.0, cpu_s), calls, not self.failed, spawning, self.notes.shared)
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
            limit = int(SPARE_CPU_S + TIMES * total_s(tests)) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            signal.alarm(WALL_S)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            for function in self.functions[place]:
                function.__code__ = code
            items = [self.items[test.name] for test in tests]
            for test, item, after in zip(tests, items, [*items[1:], None], strict=True):
                # Its signal ends the process, as no handler is there.
                signal.setitimer(signal.ITIMER_PROF, SPARE_CPU_S + TIMES * test.alone_s)
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
                if self.failed:
                    os.write(writing, self.failed[0].encode())
                    break
        except BaseException as error:
            os.write(writing, f"ends the run: {type(error).__name__}".encode())
        finally:
            os._exit(0)


def digest_of(paths: Sequence[Path]) -> str:
    """Return what tells the contents of files apart from others."""
    found = hashlib.sha256()
    for path in paths:
        found.update(path.read_bytes())
    return found.hexdigest()[:16]


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
