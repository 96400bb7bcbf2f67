"""Files are written whole or not at all, whatever text they are to hold."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from zsim.base.errors import InputError
from zsim.base.files import append_line, replace_file, replace_files


def test_half_a_character_is_written_as_an_escape(tmp_path: Path) -> None:
    replace_file(tmp_path / "a", "naïve \udc8d")
    append_line(tmp_path / "b", "naïve \udc8d")
    replace_files({tmp_path / "c": "\ud800", tmp_path / "d": b"\xff"})
    assert (tmp_path / "a").read_text(encoding="utf-8") == "naïve \\udc8d"
    assert (tmp_path / "b").read_text(encoding="utf-8") == "naïve \\udc8d\n"
    assert (tmp_path / "c").read_bytes() == b"\\ud800"
    assert (tmp_path / "d").read_bytes() == b"\xff"


@pytest.mark.parametrize(
    ("code", "remedy"),
    [(errno.ENOSPC, "make room"), (errno.EDQUOT, "make room"), (errno.EACCES, "name another file")],
)
def test_the_remedy_is_for_what_is_wrong(
    code: int, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **kwargs: object) -> tuple[int, str]:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    with pytest.raises(InputError, match=rf"\({os.strerror(code).lower()}\); {remedy}"):
        replace_file(tmp_path / "a", "text")


def test_a_line_that_a_full_disk_refuses_leaves_no_file_and_no_half_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append_line(tmp_path / "old", "first")
    with monkeypatch.context() as full:
        write = os.write
        full.setattr("os.write", lambda handle, content: write(handle, content[:3]))
        for name in ("new", "old"):
            with pytest.raises(InputError, match="no space left"):
                append_line(tmp_path / name, "second")
    (tmp_path / "empty").touch()
    with monkeypatch.context() as full:
        full.setattr("os.write", lambda handle, content: 0)
        with pytest.raises(InputError, match="no space left"):
            append_line(tmp_path / "empty", "second")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"old": b"first\n", "empty": b""}
