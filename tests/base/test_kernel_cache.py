"""Compiled kernels on disk: found again when they mean the same, never from where others can write."""

from __future__ import annotations

import hashlib
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import pytest

from zsim.base.machine import kernel_cache
from zsim.base.machine.kernel_cache import KernelCache, meaning_hash, objection_to, package_sources

PROGRAM = """
from zsim.vdevs import raidz
print(raidz.raidz_asize(131072, 12, 6, 2), end="")
"""
ANSWER = "196608"
posix = pytest.mark.skipif(sys.platform == "win32", reason="users and modes of POSIX")


def run(cache: Path | None, program: str = PROGRAM, **environment: str) -> tuple[str, str]:
    """Return what a new process prints on stdout and on stderr."""
    done = start(cache, program, **environment)
    out, err = done.communicate(timeout=120)
    assert done.returncode == 0, err
    return out, err


def start(cache: Path | None, program: str = PROGRAM, **environment: str) -> subprocess.Popen[str]:
    """Start a process that compiles a small kernel, or finds it."""
    given = {**os.environ, **environment}
    given.pop("ZSIM_CACHE_DIR", None)
    given |= {} if cache is None else {"ZSIM_CACHE_DIR": str(cache)}
    return subprocess.Popen(
        [sys.executable, "-c", program], env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def kernels(cache: Path) -> list[Path]:
    return sorted(cache.rglob("*.kernel"))


@posix
def test_a_kernel_is_kept_privately_and_found_again(tmp_path: Path) -> None:
    assert run(tmp_path / "new") == (ANSWER, "")
    found = kernels(tmp_path / "new")
    assert len(found) == 1
    assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "new").rglob("*"))
    before = found[0].stat().st_mtime_ns
    assert run(tmp_path / "new") == (ANSWER, "")
    assert found[0].stat().st_mtime_ns == before


@pytest.mark.parametrize("damage", ["truncated", "empty", "other bytes", "not ours"])
def test_a_damaged_file_is_compiled_anew(damage: str, tmp_path: Path) -> None:
    run(tmp_path)
    (path,) = kernels(tmp_path)
    whole = path.read_bytes()
    foreign = pickle.dumps(("from", "another", "machine"))
    path.write_bytes(
        {
            "truncated": whole[: len(whole) // 2],
            "empty": b"",
            "other bytes": whole[:-9] + b"disturbed",
            "not ours": hashlib.sha256(foreign).digest() + foreign,
        }[damage]
    )
    assert run(tmp_path) == (ANSWER, "")
    assert len(path.read_bytes()) == len(whole)


def test_two_cold_starts_at_once(tmp_path: Path) -> None:
    both = [start(tmp_path), start(tmp_path)]
    assert [each.communicate(timeout=120) for each in both] == [(ANSWER, ""), (ANSWER, "")]
    assert len(kernels(tmp_path)) == 1
    assert not [path for path in tmp_path.rglob(".*") if path.is_file()]


@posix
@pytest.mark.parametrize("fault", ["a file", "below a file", "no home", "not absolute home"])
def test_without_a_usable_directory_one_line_says_so(fault: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    missing = {"HOME": str(tmp_path / "file"), "XDG_CACHE_HOME": ""}
    if fault in {"a file", "below a file"}:
        out, err = run(tmp_path / "file" / ("x" if fault == "below a file" else ""))
    elif fault == "no home":
        out, err = run(None, **missing)
    else:
        out, err = run(None, HOME=str(tmp_path / "file"), XDG_CACHE_HOME="not/absolute")
    assert out == ANSWER
    assert err.count("\n") == 1
    assert "ZSIM_CACHE_DIR" in err


@posix
def test_a_full_disk_costs_one_line(tmp_path: Path) -> None:
    limited = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))\n"
    )
    out, err = run(tmp_path, limited + PROGRAM)
    assert out == ANSWER
    assert err.count("\n") == 1
    assert not kernels(tmp_path)
    assert not [path for path in tmp_path.rglob(".*") if path.is_file()]


@posix
@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_what_others_may_have_planted_is_not_run(mode: int, tmp_path: Path) -> None:
    run(tmp_path)
    (path,) = kernels(tmp_path)
    mark = tmp_path / "mark"
    planted = b"cposix\nsystem\n(S'touch " + str(mark).encode() + b"'\ntR."
    path.write_bytes(hashlib.sha256(planted).digest() + planted)
    path.parent.chmod(mode)
    out, err = run(tmp_path)
    assert out == ANSWER
    assert "can be written by others" in err
    assert err.count("\n") == 1
    assert not mark.exists()


@posix
def test_directories_of_others_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = tmp_path / "zsim" / "kernels-1"
    assert objection_to(directory) is None
    directory.mkdir(parents=True, mode=0o700)
    (tmp_path / "zsim").chmod(0o700)
    assert objection_to(directory) is None
    tmp_path.chmod(0o777)
    assert "by everybody" in str(objection_to(directory))
    tmp_path.chmod(0o1777)
    assert objection_to(directory) is None
    monkeypatch.setattr(kernel_cache.os, "getuid", lambda: os.stat(tmp_path).st_uid + 1)  # noqa: PTH116
    assert "another user" in str(objection_to(directory))


def test_only_the_meaning_of_kernels_counts() -> None:
    sources = package_sources()
    same = meaning_hash(sources)
    kernel, beside = "zsim.vdevs.raidz", "zsim.pool.recipes.histories"
    text = sources[kernel].replace(b'"""', b'"""Said otherwise. ', 1) + b"\n# a comment\n"
    assert meaning_hash({**sources, kernel: text}) == same
    assert meaning_hash({**sources, beside: sources[beside] + b"\nX = 1\n"}) == same
    assert meaning_hash({**sources, kernel: sources[kernel] + b"\nX = 1\n"}) != same
    # What a kernel imports is part of it.
    assert meaning_hash({**sources, "zsim.pool.blocks": sources["zsim.pool.blocks"] + b"\nX = 1\n"}) != same


def test_every_module_with_kernels_is_found() -> None:
    sources = package_sources()
    found = kernel_cache.kernel_modules(sources)
    assert {name for name, text in sources.items() if b"@njit" in text} <= found.keys()
    assert "zsim.base.jit" in found


def test_an_edited_kernel_is_never_taken_for_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZSIM_CACHE_DIR", str(tmp_path))
    sources = package_sources()
    for name in ("package_sources", "sources_read"):
        monkeypatch.setattr(kernel_cache, name, lambda: sources)
    old = KernelCache(("x",))
    old.write("a.b-1", b"old")
    assert KernelCache(("x",)).read("a.b-1") == b"old"
    sources["zsim.vdevs.raidz"] += b"\nX = 1\n"
    assert KernelCache(("x",)).read("a.b-1") is None
    # This process runs the old text: it must not speak for the new one.
    old.write("a.b-2", b"old")
    assert KernelCache(("x",)).read("a.b-2") is None
    assert KernelCache(("y",)).key != KernelCache(("x",)).key


def test_a_comment_keeps_the_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZSIM_CACHE_DIR", str(tmp_path))
    sources = package_sources()
    for name in ("package_sources", "sources_read"):
        monkeypatch.setattr(kernel_cache, name, lambda: sources)
    KernelCache().write("a.b-1", b"kept")
    sources["zsim.vdevs.raidz"] += b"\n# why\n"
    assert KernelCache().read("a.b-1") == b"kept"
    assert KernelCache().has("a.b")


def test_kernels_that_came_with_the_package_are_taken_for_these_very_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_cache, "bundle_directory", lambda: tmp_path / "bundle")
    monkeypatch.setenv("ZSIM_CACHE_DIR", str(tmp_path / "own"))
    compiled, name = tmp_path / "compiled", "kernel.advance-1"
    compiled.mkdir()
    (compiled / f"{name}.kernel").write_bytes(hashlib.sha256(b"code").digest() + b"code")
    assert kernel_cache.write_bundle((), compiled) == 1
    cache = KernelCache()
    assert cache.read(name) == b"code"
    assert cache.has("kernel.advance")
    (tmp_path / "bundle" / f"{name}.kernel").write_bytes(b"damaged")
    assert cache.read(name) is None
    monkeypatch.setattr(kernel_cache, "sources_read", lambda: {"zsim.edited": b"1"})
    assert KernelCache().bundle is None


def test_kernels_for_another_processor_stay_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_cache, "bundle_directory", lambda: tmp_path / "bundle")
    kernel_cache.write_bundle(("a unit nobody has",), tmp_path)
    assert KernelCache().bundle is None


def old_kernels(root: Path, name: str, days: float) -> Path:
    directory = root / f"kernels-{name}"
    directory.mkdir(parents=True)
    (directory / "some.kernel").write_bytes(b"old")
    (directory / "in-use").write_bytes(b"")
    then = time.time() - days * 86_400
    for path in (directory / "in-use", directory):
        os.utime(path, (then, then))
    return directory


@posix
def test_kernels_that_nothing_uses_any_more_are_removed(tmp_path: Path) -> None:
    root = tmp_path / "zsim"
    root.mkdir(mode=0o700)
    old = [old_kernels(root, f"{days:02d}", days) for days in range(2, 12)]
    fresh = [old_kernels(root, f"fresh{number}", 0.5) for number in range(6)]
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(old[-1])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    try:
        assert run(tmp_path) == (ANSWER, "")
        left = {path.name for path in root.glob("kernels-*")}
        assert {path.name for path in (*fresh, old[-1])} < left
        assert len(left) == len(fresh) + 2  # those, the one in use, and the new one
    finally:
        holder.communicate("")
    assert run(tmp_path) == (ANSWER, "")
    assert old[-1].is_dir()  # nothing was compiled, so nothing was looked through


HOLDING = """
import pathlib, sys
from zsim.base.machine.kernel_cache import _locked
lock = _locked(pathlib.Path(sys.argv[1]), shared=True)
print("held", flush=True)
sys.stdin.read()
"""


@posix
def test_the_newest_of_the_old_kernels_stay(tmp_path: Path) -> None:
    root = tmp_path / "zsim"
    root.mkdir(mode=0o700)
    old = [old_kernels(root, f"{days:02d}", days) for days in range(2, 12)]
    for number in range(80):
        (root / f"sources-{number:016x}").write_bytes(b"")
    run(tmp_path)
    assert [path.is_dir() for path in old] == [True] * 4 + [False] * 6
    assert len(list(root.glob("sources-*"))) == 64
