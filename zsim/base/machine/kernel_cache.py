"""The cache of compiled kernels on disk: keyed by their source, in a folder that nobody else can write.

A file holds the SHA-256 of its content and a pickle, and a pickle can run anything: so the directory is the
user's own and private, and what lies in a directory that others could write to is never read.  Where there
is no such directory, kernels live in a temporary one or in memory, and one line on stderr says so.
"""

from __future__ import annotations

import ast
import atexit
import contextlib
import functools
import hashlib
import json
import os
import platform
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from zsim.base.machine.processes import is_first
from zsim.base.provenance import version
from zsim.base.sources import PACKAGE, Sources, package_sources, sources_read

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

VARIABLE = "ZSIM_CACHE_DIR"
ENDING = ".kernel"
MANIFEST = "kernels.json"
"""Of what the kernels of a wheel were made, and what a processor must have for them."""
DIGEST_BYTES = 32
KEPT, IDLE_S = 4, 86_400.0
"""So many directories of other kernels stay, those used last, and all that were used since [s]."""
KEPT_MEMOS = 64
"""So many notes of which texts mean which kernels stay."""
COMPILER = "zsim.base.machine.direct.assemble"
"""What makes machine code of kernels: its text counts with theirs."""
IN_USE = "in-use"
"""File of a directory of kernels that every process locks, shared with others, which uses them."""
MAX_BYTES = 1 << 28
REMEDY = f"set {VARIABLE} to a directory of your own that only you can write to"


def text_hash(sources: Sources) -> str:
    """Return the hash of all that is written in `sources`, comments included."""
    digest = hashlib.sha256()
    for name, text in sources.items():
        digest.update(f"{name} {len(text)}\n".encode())
        digest.update(text)
    return digest.hexdigest()


def meaning_hash(sources: Sources) -> str:
    """Return the hash of what compiled kernels are made of.

    Parameters
    ----------
    sources : dict of str to bytes
        Text of each module by its dotted name.

    Returns
    -------
    str
        SHA-256 over the syntax trees, without docstrings and comments, of the modules that hold kernels and
        of all that these import from the package.
    """
    digest = hashlib.sha256()
    for name, tree in sorted(kernel_modules(sources).items()):
        _drop_docstrings(tree)
        digest.update(f"{name} {ast.dump(tree)}\n".encode())
    return digest.hexdigest()


def kernel_modules(sources: Sources) -> dict[str, ast.Module]:
    """Return the modules that hold kernels and those they import from, as syntax trees by dotted name."""
    found: dict[str, ast.Module] = {}
    waiting = ["zsim.base.jit", COMPILER, *(name for name, text in sources.items() if _holds_kernels(text))]
    while waiting:
        name = waiting.pop()
        if name in sources and name not in found:
            found[name] = ast.parse(sources[name])
            waiting += _imported(found[name])
    return found


def _holds_kernels(text: bytes) -> bool:
    return re.search(rb"^\s*@njit", text, re.MULTILINE) is not None


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


def _drop_docstrings(tree: ast.Module) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                del node.body[0]


def platform_directory() -> Path | None:
    """Return where programs keep what can be made again; None where the user has no home."""
    try:
        home = Path.home()
    except (RuntimeError, KeyError):
        home = None
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) if local else home and home / "AppData" / "Local"
    if sys.platform == "darwin":
        return home and home / "Library" / "Caches"
    stated = os.environ.get("XDG_CACHE_HOME", "")
    if Path(stated).is_absolute():
        return Path(stated)
    return home and home / ".cache"


def objection_to(directory: Path) -> str | None:
    """Say why compiled kernels in `directory` cannot be trusted, or None if they can (or it does not exist).

    Others must not be able to write there, nor to put another directory in its place.
    """
    for path in (directory.parent, directory.parent.parent, directory.parent.parent.parent):
        if (reason := _others_write(path, may_be_sticky=path != directory.parent)) is not None:
            return reason
    return _others_write(directory)


def _others_write(path: Path, may_be_sticky: bool = False) -> str | None:
    try:
        facts = path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"{_named(path)} cannot be used ({(error.strerror or 'refused').lower()})"
    mode = facts.st_mode
    may_be_sticky |= not hasattr(os, "getuid")  # the modes of Windows say nothing of others
    reasons = (
        (not stat.S_ISDIR(mode), "is no directory"),
        (not may_be_sticky and facts.st_uid != _user(facts.st_uid), "belongs to another user"),
        (not may_be_sticky and mode & (stat.S_IWGRP | stat.S_IWOTH), "can be written by others"),
        # A directory above: whoever may write there could swap ours, unless its sticky bit forbids it.
        (may_be_sticky and mode & stat.S_IWOTH and not mode & stat.S_ISVTX, "can be written by everybody"),
    )
    found = next((words for holds, words in reasons if holds), None)
    return None if found is None else f"{_named(path)} {found}"


def _user(otherwise: int) -> int:
    """Return who runs this, where systems tell that."""
    return os.getuid() if hasattr(os, "getuid") else otherwise


def _named(path: Path) -> str:
    text = "".join(each if each.isprintable() else "?" for each in str(path))
    return text if len(text) <= 160 else f"{text[:78]}...{text[-78:]}"


class KernelCache:
    """Where compiled kernels are kept.

    Parameters
    ----------
    versions : iterable of str
        What else machine code depends on: compiler, libraries, processor.
    """

    def __init__(self, versions: Iterable[str] = ()) -> None:
        self.versions = (sys.implementation.cache_tag or "", sys.version, *versions)
        self._text = ""
        self._key: str | None = None
        self._unkept: tuple[str, bytes] | None = None
        self._root: Path | None = None
        self._is_chosen = False
        self._has_warned = False
        self._is_temporary = False
        self._lock: int | None = None

    @functools.cached_property
    def bundle(self) -> Path | None:
        """The kernels that came with the package, made of these very sources and for such a processor."""
        directory = bundle_directory()
        try:
            made = json.loads((directory / MANIFEST).read_bytes())
            serves = made["sources"] == text_hash(sources_read()) and set(made["features"]) <= features()
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return directory if serves else None

    @property
    def key(self) -> str:
        """First 16 digits of the hash of versions and kernels; the syntax trees are read if they changed."""
        if self._key is None:
            sources = sources_read()
            self._text = text_hash(sources)
            memo = f"sources-{self._hashed(self._text)}"
            known = self._read(self.root, memo)
            meaning = known.decode("ascii", "replace") if known is not None else meaning_hash(sources)
            self._key = self._hashed(meaning)
            self._unkept = None if known is not None else (memo, meaning.encode())
            self._keep_key()
        return self._key

    def _keep_key(self) -> None:
        """Write down which kernels these texts mean: finding out takes a third of a second."""
        if self._unkept is not None and self._root is not None and self._root.is_dir():
            with contextlib.suppress(OSError):
                _store(self._root / self._unkept[0], self._unkept[1])
            self._unkept = None

    def _hashed(self, text: str) -> str:
        return hashlib.sha256("\n".join((*self.versions, text)).encode()).hexdigest()[:16]

    @property
    def root(self) -> Path | None:
        """The directory that is the user's own, or None where there is only memory."""
        if not self._is_chosen:
            self._is_chosen = True
            stated = os.environ.get(VARIABLE)
            base = Path(stated).absolute() if stated else platform_directory()
            if base is None:
                self._fall_back("there is no home directory")
            else:
                self._root = base / "zsim"
                reason = objection_to(self._root / "any")
                if reason is not None:
                    self._fall_back(reason)
        return self._root

    @property
    def directory(self) -> Path | None:
        """The directory of these kernels, which need not exist; None where there is only memory."""
        root = self.root
        if root is None:
            return None
        directory = root / f"kernels-{self.key}"
        reason = None if self._is_temporary else objection_to(directory)
        if reason is not None:
            self._fall_back(reason)
            return self.directory
        return directory

    def has(self, kernel: str) -> bool:
        """Tell whether a kernel (``module.function``) is there for some types of its arguments."""
        return any(_holds(directory, kernel) for directory in (self.bundle, self.directory))

    def read(self, name: str) -> bytes | None:
        """Return what was written under a name; None if nothing was, or it is damaged."""
        if self.bundle is not None and (content := _content(self.bundle / f"{name}{ENDING}")) is not None:
            return content
        return self._read(self.directory, f"{name}{ENDING}")

    def _read(self, directory: Path | None, name: str) -> bytes | None:
        if directory is None:
            return None
        content = _content(directory / name, is_own=True)
        if content is not None and directory != self._root:
            self._use(directory)
        return content

    def _use(self, directory: Path) -> None:
        """Note that these kernels are used now, and by this process until it ends."""
        if self._lock is None:
            with contextlib.suppress(OSError):
                self._lock = _locked(directory, shared=True)
                os.utime(directory / IN_USE)

    def write(self, name: str, content: bytes) -> None:
        """Keep `content` for the next run: whole or not at all, on whatever disk there is room.

        Nothing is kept if a source was edited since this process read it: it may have run the older text.
        """
        if text_hash(package_sources()) != self._text_read():
            return

        def store(directory: Path) -> None:
            _store(directory / f"{name}{ENDING}", content)
            self._keep_key()
            if self._lock is None:
                self._use(directory)
                prune(directory)

        self._where_possible(store)

    def _text_read(self) -> str:
        return self._text if self.key else ""

    def prepare(self) -> None:
        """See to it that processes started from here find a directory they can write to, if there is any.

        They find in it, too, which kernels these texts mean.
        """

        def store(directory: Path) -> None:
            tempfile.TemporaryFile(dir=directory).close()
            self._keep_key()

        self._where_possible(store)

    def _where_possible(self, act: Callable[[Path], None]) -> None:
        """Do something in the directory of the cache, or in the one to fall back to, if there is any."""
        for _ in range(2):
            directory = self.directory
            if directory is None:
                return
            try:
                _make_private(directory)
                act(directory)
            except OSError as error:
                reason = (error.strerror or "refused").lower()
                self._fall_back(f"{_named(directory)} cannot be written ({reason})")
            else:
                return

    def _fall_back(self, reason: str) -> None:
        """Go on in a private temporary directory, which child processes share, or else in memory."""
        self._warn(reason)
        was_temporary, self._root = self._is_temporary, None
        if was_temporary:
            return
        try:
            base = Path(tempfile.mkdtemp(prefix="zsim-kernels-"))
        except OSError:
            return
        atexit.register(_remove, base, os.getpid())
        self._is_temporary, self._root = True, base / "zsim"
        os.environ[VARIABLE] = str(base)

    def _warn(self, reason: str) -> None:
        if is_first() and not self._has_warned:
            text = f"zsim: compiled kernels are not kept for the next run, as {reason}; {REMEDY}.\n"
            with contextlib.suppress(OSError, AttributeError):
                sys.stderr.write(text)
        self._has_warned = True


def _holds(directory: Path | None, kernel: str) -> bool:
    try:
        return directory is not None and any(directory.glob(f"{kernel}-*{ENDING}"))
    except OSError:
        return False


def _content(path: Path, *, is_own: bool = False) -> bytes | None:
    """Return what was stored in a file; None if it is not there, damaged, or another user's (`is_own`)."""
    try:
        with path.open("rb") as stream:
            facts = os.fstat(stream.fileno())
            may_read = stat.S_ISREG(facts.st_mode) and (not is_own or facts.st_uid == _user(facts.st_uid))
            content = stream.read(MAX_BYTES) if may_read else b""
    except OSError:
        return None
    digest, content = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
    return content if hashlib.sha256(content).digest() == digest else None


def _remove(directory: Path, maker: int | None = None) -> None:
    """Remove a directory of a cache; where it is said which process made it, in that one alone."""
    if maker in (None, os.getpid()):
        shutil.rmtree(directory, ignore_errors=True)


def prune(directory: Path) -> None:
    """Remove kernels that nothing uses any more: all but these, `KEPT` others and those of a day.

    Parameters
    ----------
    directory : Path
        Of the kernels at hand; those of other versions and sources lie beside it.
    """
    others = sorted(
        (path for path in directory.parent.glob("kernels-*") if path != directory), key=_used_at, reverse=True
    )
    for path in others[KEPT:]:
        if time.time() - _used_at(path) > IDLE_S:
            _prune(path)
    memos = sorted(directory.parent.glob("sources-*"), key=_used_at, reverse=True)
    for path in memos[KEPT_MEMOS:]:
        with contextlib.suppress(OSError):
            path.unlink()


def _used_at(path: Path) -> float:
    """Return when a directory of kernels was used last, or a file was written [s since 1970]."""
    for each in (path / IN_USE, path):
        with contextlib.suppress(OSError):
            return each.stat().st_mtime
    return 0.0


def _prune(directory: Path) -> None:
    """Remove a directory of kernels unless a process uses it."""
    try:
        lock = _locked(directory, shared=False)
    except OSError:
        return
    try:
        _remove(directory)
    finally:
        os.close(lock)


def _locked(directory: Path, *, shared: bool) -> int:
    """Lock a directory of kernels, for users (`shared`) or to remove it; return the file that holds the lock.

    Raises
    ------
    OSError
        If others use it, or it cannot be locked.
    """
    handle = os.open(directory / IN_USE, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        # Windows has no such lock: there what was used within a day stays, that is all.
        if fcntl is not None:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _make_private(directory: Path) -> None:
    """Make a directory and what is missing above it, for this user alone."""
    missing = [each for each in (directory, *directory.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)


def _store(path: Path, content: bytes) -> None:
    """Write a file with the hash of its content under a temporary name, then rename it."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(hashlib.sha256(content).digest() + content)
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise


def bundle_directory() -> Path:
    """Return where a wheel has kernels for this system and kind of processor, if it has any."""
    return PACKAGE / "_data" / "kernels" / f"{platform.system()}-{platform.machine()}".lower()


def write_bundle(needed: Iterable[str], kept: Path) -> int:
    """Put kernels beside the package, for a wheel; return how many.

    Parameters
    ----------
    needed : iterable of str
        Features of the processor (as LLVM names them) that they were compiled for.
    kept : Path
        Directory of a cache in which they were compiled.
    """
    directory, sources = bundle_directory(), text_hash(package_sources())
    directory.mkdir(parents=True)
    found = sorted(kept.rglob(f"*{ENDING}"))
    for path in found:
        shutil.copyfile(path, directory / path.name)
    manifest = {"sources": sources, "features": sorted(needed)}
    (directory / MANIFEST).write_text(json.dumps(manifest) + "\n")
    return len(found)


def features() -> set[str]:
    """Return what the processor at hand can do, as LLVM names it."""
    # Loaded to run kernels, not for ``--help``.
    from llvmlite.binding import get_host_cpu_features  # noqa: PLC0415

    return {name for name, has in get_host_cpu_features().items() if has}


@functools.cache
def of_this_machine() -> KernelCache:
    """Return the cache of kernels for the compiler, libraries and processor at hand."""
    # Loaded to run kernels, not for ``--help``.
    from llvmlite.binding import get_host_cpu_name  # noqa: PLC0415

    processor = os.environ.get("NUMBA_CPU_NAME") or get_host_cpu_name()
    stated = os.environ.get("NUMBA_CPU_FEATURES", "")
    libraries = (version(name) or "" for name in ("numba", "llvmlite", "numpy"))
    return KernelCache((*libraries, processor, stated))


def cache_directory() -> Path | None:
    """Return the directory of the compiled kernels (``ZSIM_CACHE_DIR`` overrides its parent), if any."""
    return of_this_machine().directory


def kernels_are_cached(kernel: str = "kernel.advance") -> bool:
    """Tell whether a kernel (``module.function``) of these sources was compiled before on this machine."""
    return of_this_machine().has(kernel)
