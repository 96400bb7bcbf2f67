"""Read files: regular files only, of bounded size, compressed or not; a failure is one sentence.

A name may hold anything and so may a file: what cannot be a file of its kind is refused before memory or
patience is spent on it.
"""

from __future__ import annotations

import contextlib
import csv
import errno
import functools
import gzip
import hashlib
import io
import json
import math
import os
import re
import stat
import sys
import time
import tomllib
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from typing_extensions import Buffer

from zsim.base.errors import InputError, printable

MAX_TEXT = 256 << 20
"""Bytes of a file that is read as a whole."""
MAX_MODEL = 4 << 20
"""Bytes of a file of numbers that somebody wrote: scenarios, drives, cases."""
MAX_JSON = 64 << 20
"""Bytes of a JSON document, which takes several times as much in memory."""
MOST_PARSED = 128
"""Files of which the parsed content is kept."""
MAX_UNPACKED = 1 << 40
"""Bytes that a file may unpack to where it is read piece by piece."""
MAX_RATIO, SURELY_FINE = 1000, 64 << 20
"""A file may unpack to so many times its size; lists of blocks come to 30 times.  Below 64 MiB, any."""
LONGEST_LINE = 1 << 20
MAX_DEPTH = 32
"""Tables in tables, lists in lists."""
MOST_INTEGER, NUMBER_TOO_LONG = (1 << 64) - 1, "a number in it is too long"
NOT_FINITE = "a number in it is not finite"
PIECE = 1 << 20
PACKED_PIECE = 1 << 10
"""Bytes unpacked at once: of zeros, they come to 32 MiB."""
STANDARD_INPUT = ("-", "/dev/stdin")
WRONG_VALUES = (
    ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError, OSError, csv.Error,
)  # fmt: skip
"""What Python raises where a value is of another kind, or far larger, than was thought."""
WRITER_COMES_S = 5.0
SETTLED_S = 2.0
"""A file that was changed longer ago than this has a new time of change after any further change."""

REMEDY = "name a file that can be read"
STRANGE = "it has characters that no file name has"


def checked_name(path: str | Path, field: str = "file", remedy: str = REMEDY) -> os.stat_result:
    """Return the facts about a regular file.

    Raises
    ------
    InputError
        When there is no such file, it is a directory, a pipe or a device, or no name of a file at all.
    """
    try:
        facts = Path(path).stat()
    except OSError as error:
        raise _refusal(path, field, remedy, error) from error
    except ValueError as error:  # NUL, or what the file system's encoding does not have
        raise InputError(field, str(path), STRANGE, remedy) from error
    _check_kind(facts, path, field, remedy)
    return facts


def stat_of(path: str | Path, field: str = "file", remedy: str = REMEDY) -> os.stat_result | None:
    """Return what the system says of what lies at a path; None where nothing does, or it may not be asked.

    Raises
    ------
    InputError
        When it cannot be the name of anything: too long, or with characters that no file name has.
    """
    try:
        return Path(path).stat()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise _refusal(path, field, remedy, error) from error
        return None
    except ValueError as error:
        raise InputError(field, str(path), STRANGE, remedy) from error


def is_directory(facts: os.stat_result | None) -> bool:
    """Tell whether facts are those of a directory."""
    return facts is not None and stat.S_ISDIR(facts.st_mode)


def is_plain_file(facts: os.stat_result | None) -> bool:
    """Tell whether facts are those of a regular file."""
    return facts is not None and stat.S_ISREG(facts.st_mode)


def _check_kind(facts: os.stat_result, path: str | Path, field: str, remedy: str) -> None:
    if stat.S_ISDIR(facts.st_mode):
        raise InputError(field, str(path), "it is a directory", remedy)
    if not stat.S_ISREG(facts.st_mode):
        raise InputError(field, str(path), "it is no regular file but a pipe or a device", remedy)


def _refusal(path: str | Path, field: str, remedy: str, error: Exception) -> InputError:
    """Return the error for a file that cannot be read to its end."""
    reason = getattr(error, "strerror", None) or "it is damaged or cut, and cannot be unpacked to its end"
    if getattr(error, "errno", None) in (errno.ENOENT, errno.ENOTDIR):
        reason = "there is no such file"
    return InputError(field, str(path), str(reason).lower(), remedy)


@contextlib.contextmanager
def opened(
    path: str | Path, field: str = "file", remedy: str = REMEDY, most: int = MAX_UNPACKED
) -> Iterator[IO[bytes]]:
    """Open a regular file for reading bytes; ``.gz`` and ``.zst`` are unpacked on the way.

    Parameters
    ----------
    path : str or Path
    field, remedy : str
        For the message.
    most : int
        What it may come to, unpacked [bytes].

    Raises
    ------
    InputError
        When it is no such file, is larger or unpacks to more, or cannot be read to its end.
    """
    if str(path) in STANDARD_INPUT:
        yield cast("IO[bytes]", io.BufferedReader(_Bounded(_standard_input(), most, path, field, remedy)))
        return
    checked_name(path, field, remedy)
    try:
        with _raw(path, field, remedy) as raw:
            size = os.fstat(raw.fileno()).st_size
            suffix = Path(path).suffix.lower()
            limit = min(most, max(SURELY_FINE, MAX_RATIO * size)) if suffix in {".gz", ".zst"} else most
            with _unpacked(raw, suffix) as stream:
                bounded = _Bounded(stream, limit, path, field, remedy)
                yield cast("IO[bytes]", io.BufferedReader(bounded, PIECE))
    except (OSError, EOFError, zlib.error) as error:
        raise _refusal(path, field, remedy, error) from error
    except Exception as error:
        if type(error).__name__ != "ZstdError":
            raise
        raise _refusal(path, field, remedy, error) from error


def _standard_input() -> IO[bytes]:
    if sys.stdin is None:  # closed by who started the process
        return io.BytesIO()
    # Notebooks and tests put text in its place.
    return getattr(sys.stdin, "buffer", None) or io.BytesIO(sys.stdin.read().encode("utf-8", "replace"))


@contextlib.contextmanager
def understood(path: str | Path, field: str = "file", remedy: str = "put it right") -> Iterator[None]:
    """Turn what values of a wrong kind lead to, while a file's content is taken apart, into one sentence.

    Readers check what they can name; this stands behind them for what nobody thought of.

    Raises
    ------
    InputError
        Naming the file and what Python says of the value.
    """
    try:
        yield
    except InputError:
        raise
    except WRONG_VALUES as error:
        said = f"{type(error).__name__}: {printable(str(error), 160)}"
        reason = f"something in it is not of the kind that is expected there ({said})"
        raise InputError(field, str(path), reason, remedy) from error


@contextlib.contextmanager
def opened_pipe(path: Path) -> Iterator[IO[bytes]]:
    """Open a named pipe, where a command reads what another one writes.

    Raises
    ------
    InputError
        When nobody opens it for writing within `WRITER_COMES_S`; a writer that is there may take its time.
    """
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb", buffering=0) as raw:
            first = _first_of(raw.fileno(), path)
            os.set_blocking(raw.fileno(), True)
            yield cast("IO[bytes]", io.BufferedReader(_Begun(first, raw), PIECE))
    except OSError as error:
        raise _refusal(path, "file", REMEDY, error) from error


def _first_of(handle: int, path: Path) -> bytes:
    """Return what a pipe holds already, as soon as somebody writes to it."""
    until = time.monotonic() + WRITER_COMES_S
    while time.monotonic() < until:
        try:
            if first := os.read(handle, PACKED_PIECE):
                return first
        except BlockingIOError:  # a writer is there, and has written nothing yet
            return b""
        time.sleep(0.02)
    reason = f"it is a pipe, and nothing has opened it for writing within {WRITER_COMES_S:.0f} s"
    raise InputError("file", str(path), reason, "start what writes to it first")


class _Begun(io.RawIOBase):
    """A stream of which a first piece was read already."""

    def __init__(self, first: bytes, rest: io.RawIOBase) -> None:
        self.first, self.rest = first, rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int | None:
        if not self.first:
            return cast("int | None", self.rest.readinto(buffer))
        room = memoryview(buffer)
        piece, self.first = self.first[: len(room)], self.first[len(room) :]
        room[: len(piece)] = piece
        return len(piece)


def _raw(path: str | Path, field: str, remedy: str) -> IO[bytes]:
    # Should a pipe have taken the file's place meanwhile, opening it must not wait for a writer.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags | getattr(os, "O_CLOEXEC", 0))
    try:
        _check_kind(os.fstat(handle), path, field, remedy)
    except InputError:
        os.close(handle)
        raise
    return os.fdopen(handle, "rb")


@contextlib.contextmanager
def _unpacked(raw: IO[bytes], suffix: str) -> Iterator[IO[bytes]]:
    if suffix == ".gz":
        with gzip.GzipFile(fileobj=raw) as stream:
            yield cast("IO[bytes]", stream)
    elif suffix == ".zst":
        yield cast("IO[bytes]", _Zstandard(raw))
    else:
        yield raw


class _Zstandard:
    """A reader of Zstandard frames that notices a file cut off; `stream_reader` takes it for whole."""

    def __init__(self, raw: IO[bytes]) -> None:
        import zstandard  # noqa: PLC0415 - most files are not packed

        self.raw, self.unpacker = raw, zstandard.ZstdDecompressor()
        self.frame: zstandard.ZstdDecompressionObj | None = None
        self.packed = b""
        self.ready: memoryview = memoryview(b"")

    def read(self, most: int) -> bytes:
        """Return some bytes, at most so many; none at the end."""
        while not self.ready:
            self.packed = self.packed or self.raw.read(PACKED_PIECE)
            if not self.packed:
                if self.frame is not None:
                    raise EOFError
                return b""
            self.frame = self.frame or self.unpacker.decompressobj()
            self.ready = memoryview(self.frame.decompress(self.packed))
            self.packed = self.frame.unused_data if self.frame.eof else b""
            self.frame = None if self.frame.eof else self.frame
        piece, self.ready = self.ready[:most], self.ready[most:]
        return bytes(piece)


class _Bounded(io.RawIOBase):
    """A stream that refuses to give more than so many bytes."""

    def __init__(self, stream: IO[bytes], left: int, path: str | Path, field: str, remedy: str) -> None:
        self.stream, self.left, self.limit = stream, left, left
        self.refusal = (field, str(path), remedy)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        room = memoryview(buffer)
        piece = self.stream.read(min(len(room), self.left + 1, PIECE))
        if len(piece) > self.left:
            field, path, remedy = self.refusal
            raise InputError(field, path, f"it comes to more than {_size(self.limit)}", remedy)
        self.left -= len(piece)
        room[: len(piece)] = piece
        return len(piece)


def bounded_lines(stream: IO[bytes], path: str | Path, field: str = "file") -> Iterator[str]:
    """Yield the lines of UTF-8 text one by one, however long it is; a line is no longer than `LONGEST_LINE`.

    Raises
    ------
    InputError
        At a longer one: a packed file of zeros is one line.
    """
    text = io.TextIOWrapper(stream, encoding="utf-8-sig")
    while line := text.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE:
            raise InputError(field, str(path), f"it has a line of more than {_size(LONGEST_LINE)}", REMEDY)
        yield line


def _size(count: int) -> str:
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count} bytes"


def read_bytes(path: str | Path, field: str = "file", remedy: str = REMEDY, most: int = MAX_TEXT) -> bytes:
    """Return all of a file, unpacked; see `opened` for arguments and errors."""
    with opened(path, field, remedy, most) as stream:
        return stream.read()


def read_text(path: str | Path, field: str = "file", remedy: str = REMEDY, most: int = MAX_TEXT) -> str:
    """Return all of a file as text; see `opened` for arguments and errors, and what is not UTF-8 is one."""
    try:
        return read_bytes(path, field, remedy, most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(field, str(path), "it is not UTF-8 text", remedy) from error


def read_toml(
    path: str | Path, field: str = "file", remedy: str = "give the path of a TOML file"
) -> dict[str, object]:
    """Return the content of a TOML file; text that was read before is not parsed again.

    Raises
    ------
    InputError
        Naming the file, and the line when its syntax is wrong.
    """
    found = _parsed(read_text(path, field, remedy, MAX_MODEL), path, field, remedy)
    return {name: _own(value) for name, value in found.items()}


@functools.lru_cache(maxsize=MOST_PARSED)
def _parsed(text: str, path: str | Path, field: str, remedy: str) -> dict[str, object]:
    return toml_of(text, path, field, remedy)


def _own(data: object) -> object:
    """Return data of which the caller may change tables and lists."""
    if isinstance(data, dict):
        return {name: _own(value) for name, value in data.items()}
    return [_own(value) for value in data] if isinstance(data, list) else data


def _toml_remedy(text: str) -> str:
    """Return what to do with text that is no TOML: what zpool printed is often given as it is."""
    if not re.search(r"^[ \t>]{0,20}(?:pool|scan): ", text[:4096], re.MULTILINE):
        if not re.search(r"^[ \t]{0,20}[\w.\"-]{1,80}[ \t]{0,20}=|^\[", text[: 1 << 16], re.MULTILINE):
            return "give a scenario file (name = value), or what zpool status and its like printed, as it was"
        return "put that line right"
    return (
        "it looks like the output of zpool status: zsim predict FILE reads all of it as it is, the table of"
        " the drives too, and zsim eta FILE says when a running scan finishes"
    )


def toml_of(text: str, path: str | Path, field: str = "file", remedy: str = REMEDY) -> dict[str, object]:
    """Return the data of TOML text that was read from `path`; see `read_toml` for the errors."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason = f"it is not TOML: {printable(str(error), 120)}"
        raise InputError(field, str(path), reason, _toml_remedy(text)) from error
    except (RecursionError, ValueError) as error:
        raise InputError(field, str(path), _unusable(error), remedy) from error
    _check_depth(data, path, field, remedy)
    if any(isinstance(each, int) and abs(each) > MOST_INTEGER for each in _values(data)):
        raise InputError(field, str(path), NUMBER_TOO_LONG, remedy)
    return data


def read_json(path: str | Path, field: str = "file", remedy: str = REMEDY) -> object:
    """Return the content of a JSON file; see `read_toml` for the errors."""
    return json_of(read_text(path, field, remedy, MAX_JSON), path, field, remedy)


def json_of(text: str, path: str | Path, field: str = "file", remedy: str = REMEDY) -> object:
    """Return the value of JSON text that was read from `path`; see `read_toml` for the errors."""
    try:
        data = json_value(text)
    except json.JSONDecodeError as error:
        reason = f"it is not JSON: {error.msg} in line {error.lineno}"
        raise InputError(field, str(path), reason, remedy) from error
    except (RecursionError, ValueError) as error:
        raise InputError(field, str(path), _unusable(error), remedy) from error
    _check_depth(data, path, field, remedy)
    return data


def json_value(text: str | bytes) -> Any:
    """Return the value of JSON text; ValueError if it is none, or a number is not finite or too long."""
    # To look at every number of a long list takes twice as long as to read it.
    checked = None if isinstance(text, str) and not _MANY_DIGITS.search(text) else _integer
    return json.loads(text, parse_int=checked, parse_float=_finite, parse_constant=_finite)


_MANY_DIGITS = re.compile(r"\d{19}")
"""Without so many in a row every number is below `MOST_INTEGER`."""


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(NOT_FINITE)
    return value


def _integer(text: str) -> int:
    value = int(text)
    if abs(value) > MOST_INTEGER:
        raise ValueError(NUMBER_TOO_LONG)
    return value


def _unusable(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return NOT_FINITE if NOT_FINITE in str(error) else NUMBER_TOO_LONG


def _values(data: object) -> Iterator[object]:
    """Yield all values that are no tables and no lists."""
    if isinstance(data, Mapping | list):
        for each in data.values() if isinstance(data, Mapping) else data:
            yield from _values(each)
    else:
        yield data


def is_deep(data: object, most: int = MAX_DEPTH) -> bool:
    """Tell whether tables and lists stand more than `most` deep in each other."""
    level = [data]
    for _ in range(most):
        level = [inner for each in level for inner in _inside(each)]
        if not level:
            return False
    return True


def _inside(value: object) -> list[object]:
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return [each for each in inner if isinstance(each, Mapping | list)]


def _check_depth(data: object, path: str | Path, field: str, remedy: str) -> None:
    if is_deep(data):
        raise InputError(field, str(path), "it is nested too deeply", remedy)


class _State(NamedTuple):
    device: int
    inode: int
    size: int
    modified: int
    changed: int


_marks: dict[tuple[str, _State], str] = {}
MOST_MARKS = 1024


def content_mark(path: str | Path, field: str = "file") -> str:
    """Return the SHA-256 of a file: what anything kept about it is to be found by.

    It is read again unless device, inode, size and both times are those of a state that had settled by then:
    of a change within the clock's tick, the times tell nothing.

    Raises
    ------
    InputError
        When it cannot be read.
    """
    facts = checked_name(path, field)
    state = _State(facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)
    key = (os.path.realpath(path), state)
    if key not in _marks:
        begun = time.time()
        try:
            with _raw(path, field, REMEDY) as stream:
                found = hashlib.file_digest(cast("Any", stream), "sha256").hexdigest()
        except OSError as error:
            raise _refusal(path, field, REMEDY, error) from error
        if begun - max(state.modified, state.changed) / 1e9 < SETTLED_S:
            return found
        if len(_marks) >= MOST_MARKS:
            _marks.clear()
        _marks[key] = found
    return _marks[key]
