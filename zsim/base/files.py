"""Writing files so that they appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from zsim.base.errors import InputError
from zsim.base.reading import is_directory, is_plain_file, stat_of
from zsim.base.written import note_written

FIELD, ANOTHER = "output file", "name another file"


def replace_file(path: str | Path, content: bytes | str) -> None:
    """Write `content` under a temporary name beside `path`, then rename it.

    Parameters
    ----------
    path : str or Path
        The file to write or replace.
    content : bytes or str
        All of its content; text becomes UTF-8, and halves of characters, which names may hold, escapes.

    Raises
    ------
    InputError
        If the directory does not exist, cannot be written to, or `path` is a directory.
    """
    replace_files({path: content})


def replace_files(contents: Mapping[str | Path, bytes | str]) -> None:
    """Write several files that belong together: all of them are written before the first one is renamed.

    Parameters
    ----------
    contents : mapping of str or Path to bytes or str
        The last is renamed last: the one that names the others.

    Raises
    ------
    InputError
        As `replace_file` does; then none is there.
    """
    ready: list[tuple[str, Path]] = []
    target = Path()
    try:
        for target, content in ((Path(path), content) for path, content in contents.items()):
            _refuse_what_is_no_file(target)
            handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}.")
            ready.append((temporary, target))
            with os.fdopen(handle, "wb") as stream:
                stream.write(_bytes_of(content))
            Path(temporary).chmod(0o666 & ~_umask())
        for temporary, target in ready:
            Path(temporary).replace(target)
            note_written(target)
    except BaseException as error:
        for temporary, _ in ready:
            Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            allowed = f"a file that can be written ({(error.strerror or 'refused').lower()})"
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            remedy = "make room, or name one elsewhere" if full else "name another file or make its directory"
            raise InputError(FIELD, str(target), allowed, remedy) from error
        raise


def _bytes_of(content: bytes | str) -> bytes:
    return content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content


def check_ending(path: str | Path, endings: Sequence[str]) -> None:
    """Raise InputError unless the name ends in one of `endings` (letter case does not matter)."""
    if Path(path).suffix.lower() not in endings:
        allowed = f"its name must end in {' or '.join(endings)}"
        raise InputError(FIELD, str(path), allowed, f"name it for instance result{endings[0]}")


def check_writable(path: str | Path) -> None:
    """Raise InputError if `replace_file` could not write `path`: before a long computation, not after it."""
    target = Path(path)
    _refuse_what_is_no_file(target)
    if not is_directory(stat_of(target.parent, FIELD, ANOTHER)):
        raise InputError(FIELD, str(path), "its directory does not exist", "make the directory first")
    try:
        # Rights do not tell it: /proc and a file system without room for names refuse even root.
        tempfile.TemporaryFile(dir=target.parent).close()
    except OSError as error:
        raise InputError(
            FIELD, str(path), "its directory cannot be written to", "name another one"
        ) from error


def append_line(path: str | Path, line: str, field: str = FIELD) -> None:
    """Append one line to a file, whole or not at all.

    Raises
    ------
    InputError
        When it cannot be written; what a full disk took of the line is cut off again; no new file is left.
    """
    content = _bytes_of(line + "\n")
    _refuse_what_is_no_file(Path(path))
    handle, before, was_there = -1, None, Path(path).exists()
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
        before = os.fstat(handle).st_size
        if before and os.lseek(handle, before - 1, os.SEEK_SET) >= 0 and os.read(handle, 1) != b"\n":
            content = b"\n" + content  # after a line that its writer could not finish
        written = os.write(handle, content)
        reason = "" if written == len(content) else "no space left on the device"
    except OSError as error:
        reason = (error.strerror or "it cannot be written").lower()
    if reason and before is not None:
        with contextlib.suppress(OSError):
            os.ftruncate(handle, before)
    if handle >= 0:
        os.close(handle)
    if reason:
        if before == 0 and not was_there:
            Path(path).unlink(missing_ok=True)
        raise InputError(field, str(path), reason, ANOTHER)


def _refuse_what_is_no_file(target: Path) -> None:
    """Refuse directories, devices and pipes: what is renamed over them would take their place."""
    facts = stat_of(target, FIELD, ANOTHER)
    if is_directory(facts):
        raise InputError(FIELD, str(target), "it is a directory", "name a file in it")
    if facts is not None and not is_plain_file(facts):
        raise InputError(FIELD, str(target), "it is no regular file but a pipe or a device", ANOTHER)


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
