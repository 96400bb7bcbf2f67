"""Writing files so that they appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from zsim.base.errors import InputError


def replace_file(path: str | Path, content: bytes) -> None:
    """Write `content` under a temporary name beside `path`, then rename it.

    Parameters
    ----------
    path : str or Path
        The file to write or replace.
    content : bytes
        All of its content.

    Raises
    ------
    InputError
        If the directory does not exist, cannot be written to, or `path` is a directory.
    """
    target = Path(path)
    temporary: str | None = None
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(target)
    except BaseException as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            allowed = f"a file that can be written ({(error.strerror or 'refused').lower()})"
            raise InputError(
                "output file", str(path), allowed, "name another file or make its directory"
            ) from error
        raise


def check_ending(path: str | Path, endings: Sequence[str]) -> None:
    """Raise InputError unless the name ends in one of `endings` (letter case does not matter)."""
    if Path(path).suffix.lower() not in endings:
        allowed = f"its name must end in {' or '.join(endings)}"
        raise InputError("output file", str(path), allowed, f"name it for instance result{endings[0]}")


def check_writable(path: str | Path) -> None:
    """Raise InputError if `replace_file` could not write `path`: before a long computation, not after it."""
    target = Path(path)
    if target.is_dir():
        raise InputError("output file", str(path), "it is a directory", "name a file in it")
    if not target.parent.is_dir():
        raise InputError("output file", str(path), "its directory does not exist", "make the directory first")
    if not os.access(target.parent, os.W_OK):
        raise InputError("output file", str(path), "its directory cannot be written to", "name another one")


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
