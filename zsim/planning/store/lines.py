"""A store as a text file, one line of JSON per answer: readable by anything, written by one machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from zsim.base.files import append_line
from zsim.base.reading import MAX_UNPACKED, json_value, read_text, stat_of
from zsim.planning.rows import ANSWER, REASON, row_read
from zsim.planning.store.memory import MemoryStore


class LineStore(MemoryStore):
    """Answers in a JSON Lines file, read when it is opened; each is appended as soon as it is there.

    Parameters
    ----------
    path : str or Path
        Made with the first answer if it is not there.

    Raises
    ------
    InputError
        When the file cannot be read.
    """

    def __init__(self, path: str | Path) -> None:
        super().__init__()
        self.path = Path(path)
        if stat_of(self.path, "store") is not None:
            self._read(read_text(self.path, "store", "name another file", MAX_UNPACKED))

    def _read(self, text: str) -> None:
        for line in text.splitlines():
            try:
                entry = json_value(line)
                key, found = entry["key"], row_read(entry["answer"])
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                continue  # a line cut off when its writer was stopped
            if isinstance(key, str) and found is not None:
                self._rows[key] = found

    def add(self, key: str, sources: str, stated: Mapping[str, object], answer: Mapping[str, object]) -> None:
        """Append one answer; see `MemoryStore.add`."""
        super().add(key, sources, stated, answer)
        found = {name: answer[name] for name in (*ANSWER, REASON) if answer.get(name) is not None}
        line = json.dumps({"key": key, "scenario": dict(stated), "answer": found})
        append_line(self.path, line, "store")
