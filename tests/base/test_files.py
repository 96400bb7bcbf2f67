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
