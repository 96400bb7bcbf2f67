"""Which reader a trace needs, by name or by its first line."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from zsim.base.errors import InputError
from zsim.base.reading import understood
from zsim.observe.traces import blkparse, disksim_ascii, fio_iolog, msr_cambridge
from zsim.observe.traces.trace import Trace, lines_of


class TraceReader(Protocol):
    """What the module of a trace format offers."""

    def recognises(self, first_line: str) -> bool:
        """Tell whether a file that begins with this line is in the format."""
        ...

    def read(self, path: Path) -> Trace:
        """Read a trace."""
        ...


READERS: dict[str, TraceReader] = {
    "fio": fio_iolog,
    "blkparse": blkparse,
    "msr": msr_cambridge,
    "disksim": disksim_ascii,
}


def read_trace(path: str | Path, form: str | None = None) -> Trace:
    """Read a block trace.

    Parameters
    ----------
    path : str or Path
        Plain text, or packed as .gz or .zst.
    form : {"fio", "blkparse", "msr", "disksim"}, optional
        By default recognised by the first line.

    Raises
    ------
    InputError
        When the file cannot be read, its format is not known, or a line does not fit the format.
    """
    source = Path(path)
    if form is not None and form not in READERS:
        raise InputError("--format", form, f"it is one of {', '.join(READERS)}", "")
    with understood(source, "trace", "check the format"):
        reader = _recognised(source) if form is None else READERS[form]
        return reader.read(source)


def _recognised(path: Path) -> TraceReader:
    lines = lines_of(path)
    _, first = next(lines, (0, ""))
    lines.close()  # type: ignore[attr-defined]
    for reader in READERS.values():
        if reader.recognises(first):
            return reader
    reason = f"its first line belongs to none of the formats {', '.join(READERS)}"
    raise InputError("trace", path.name, reason, "name the format with --format")
