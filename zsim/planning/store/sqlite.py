"""A store in SQLite: one row per answer.

Each row is a transaction of its own: a process killed at any moment loses no row that was finished.  Rows are
never changed, so that writing one twice, or merging the same file twice, does nothing.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from zsim.base.errors import InputError, printable
from zsim.base.files import replace_file
from zsim.base.reading import checked_name, json_value, stat_of
from zsim.planning.rows import row_read

ENDING = ".sqlite"
FORM = 1
WAIT_S = 60.0
"""How long a writer waits for another."""
MOST_CELL_BYTES = 16 << 20
"""Of a scenario or an answer, which are some kilobytes: a damaged file may have cells as large as itself."""
NOT_TO_BE_USED: Mapping[int, tuple[str, str]] = {
    sqlite3.SQLITE_FULL: ("no space is left on its device", "make room, or name a file elsewhere"),
    sqlite3.SQLITE_BUSY: ("another process is writing to it", "wait until it has ended"),
    sqlite3.SQLITE_READONLY: ("it cannot be written to", "copy it to where you may write"),
    sqlite3.SQLITE_CANTOPEN: ("it cannot be opened or made", "make its directory, or name another file"),
    sqlite3.SQLITE_IOERR: ("its device reports an error", "name a file elsewhere"),
}
"""What is wrong with files that may well be stores, and the remedy, by SQLite's primary result code."""
_SCHEMA = """
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS form (version INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS answers (
    key TEXT PRIMARY KEY,
    sources TEXT NOT NULL,
    scenario TEXT NOT NULL,
    answer TEXT NOT NULL
) WITHOUT ROWID;
COMMIT;
"""


class Status(NamedTuple):
    """What a store holds: answers, how many were refused, by which sources, and its size [bytes]."""

    answers: int
    refused: int
    sources: dict[str, int]
    size: int


class Store:
    """A file of answers; a context manager.

    Parameters
    ----------
    path : str or Path
        Made if it is not there.
    must_exist : bool
        Refuse a path where there is none, instead of making it.

    Raises
    ------
    InputError
        When the file cannot be used, or is no store.
    """

    def __init__(self, path: str | Path, must_exist: bool = False) -> None:
        self.path = Path(path)
        facts = stat_of(self.path, "store", "name another file")
        if facts is not None:
            checked_name(self.path, "store", "name another file")
        if must_exist and facts is None:
            raise InputError(
                "store", str(path), "there is no such file", "name one that 'zsim sweep' has made"
            )
        with self._explained():
            self._base = sqlite3.connect(self.path, timeout=WAIT_S, isolation_level=None)
            self._base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_CELL_BYTES)
        with self._explained():
            self._begin(self._is_new(must_exist))

    def _is_new(self, must_exist: bool) -> bool:
        """Tell whether the file is empty; refuse what is no store before anything is written to it."""
        rows = self._base.execute("SELECT name, type FROM sqlite_master").fetchall()
        # A view in place of a table may be endless, and a trigger leaves what nobody asked for.
        other = next((name for name, kind in rows if kind not in ("table", "index")), None)
        if other is not None:
            allowed = f"it has a view or trigger ({printable(str(other), 60)}), as no store of zsim does"
            raise InputError("store", str(self.path), allowed, "name another file")
        if (rows or must_exist) and not {"form", "answers"} <= {name for name, _ in rows}:
            raise InputError("store", str(self.path), "it is no store of 'zsim sweep'", "name another file")
        return not rows

    def _begin(self, new: bool) -> None:
        # Written ahead and to the disk at each commit; a reader never waits for the writer.
        self._base.execute("PRAGMA journal_mode = WAL")
        self._base.execute("PRAGMA synchronous = NORMAL")
        if new:
            self._base.executescript(_SCHEMA)
        # Any cell of SQLite may hold any kind of value, whatever its column is declared as.
        columns = ("key", "sources", "scenario", "answer")
        strange = " OR ".join(f"typeof({name}) <> 'text'" for name in columns)
        if self._base.execute(f"SELECT 1 FROM answers WHERE {strange} LIMIT 1").fetchone() is not None:
            raise InputError("store", str(self.path), "a cell of its answers is no text", "name another file")
        known = self._base.execute("SELECT version FROM form").fetchall()
        if not known:
            self._base.execute("INSERT INTO form VALUES (?)", (FORM,))
        elif known[0][0] != FORM:
            allowed = f"its form is {known[0][0]}, this release of zsim reads {FORM}"
            raise InputError("store", str(self.path), allowed, "use the release that has made it")

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, ValueError, TypeError, LookupError, RecursionError) as error:
            refused = f"it is no store ({printable(str(error), 120)})", "name another file"
            # The low byte is the primary code: SQLITE_IOERR_WRITE is an SQLITE_IOERR.
            allowed, remedy = NOT_TO_BE_USED.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, refused)
            raise InputError("store", str(self.path), allowed, remedy) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    def known(self, keys: Sequence[str]) -> dict[str, dict[str, object]]:
        """Return the answers that are there, by key."""
        found: dict[str, dict[str, object]] = {}
        with self._explained():
            for begin in range(0, len(keys), 500):
                part = tuple(keys[begin : begin + 500])
                marks = ",".join("?" * len(part))
                rows = self._base.execute(f"SELECT key, answer FROM answers WHERE key IN ({marks})", part)
                found |= {key: _answer(key, text) for key, text in rows}
        return found

    def missing(self, keys: Sequence[str]) -> list[str]:
        """Return the keys without an answer, in their order: what a run that was stopped has left."""
        found = self.known(keys)
        return [key for key in keys if key not in found]

    def add(self, key: str, sources: str, stated: Mapping[str, object], answer: Mapping[str, object]) -> None:
        """Write one answer; it is on the disk when this returns.  One that is there stays as it is."""
        row = (key, sources, _text(stated), _text(answer))
        with self._explained():
            self._base.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?)", row)

    def merge(self, other: Store) -> int:
        """Take over the answers of another store; return how many were new."""
        with self._explained():
            before = self.count()
            self._base.execute("BEGIN IMMEDIATE")
            try:
                rows = other._base.execute("SELECT key, sources, scenario, answer FROM answers ORDER BY key")
                self._base.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?)", rows)
            except BaseException:
                self._base.execute("ROLLBACK")
                raise
            self._base.execute("COMMIT")
            return self.count() - before

    def rows(self) -> Iterator[dict[str, object]]:
        """Yield every answer in the order of the keys: key, sources, fields of the scenario, answer."""
        with self._explained():
            for key, sources, scenario, answer in self._base.execute(
                "SELECT key, sources, scenario, answer FROM answers ORDER BY key"
            ):
                yield {"key": key, "sources": sources, **json_value(scenario), **json_value(answer)}

    def status(self) -> Status:
        """Return what the store holds."""
        with self._explained():
            by_sources = dict(self._base.execute("SELECT sources, COUNT(*) FROM answers GROUP BY sources"))
            refused = self._base.execute(
                "SELECT COUNT(*) FROM answers WHERE json_extract(answer, '$.refused') IS NOT NULL"
            ).fetchone()[0]
        return Status(sum(by_sources.values()), refused, by_sources, self.path.stat().st_size)

    def count(self) -> int:
        """Return how many answers there are."""
        with self._explained():
            found: int = self._base.execute("SELECT COUNT(*) FROM answers").fetchone()[0]
        return found


def export(
    store: Store, path: str | Path, on_progress: Callable[[float, str], None] = lambda share, words: None
) -> int:
    """Write a store as a table: FILE.csv, FILE.json or FILE.parquet; return the number of rows.

    Parameters
    ----------
    store : Store
    path : str or Path
    on_progress : callable, optional
        Called with the share done, 0 to 1, and what is being done.

    Raises
    ------
    InputError
        When the ending is another, or the file cannot be written.
    """
    from zsim.base.files import check_ending, check_writable

    target = Path(path)
    check_ending(target, (".csv", ".json", ".parquet"))
    check_writable(target)
    # As text: all rows at once as objects can take a gigabyte.
    names: dict[str, None] = {}
    texts: list[str] = []
    count = max(1, store.count())
    for row in store.rows():
        on_progress(0.7 * min(1.0, len(texts) / count), "reading the answers")
        names |= dict.fromkeys(row)
        texts.append(json.dumps(row))
    columns = tuple(names)
    whole = ({name: row.get(name) for name in columns} for row in map(json.loads, texts))
    if target.suffix.lower() == ".parquet":
        from zsim.report.columns import columns_of, save_columns

        save_columns(columns_of(columns, list(whole)), target)
    else:
        is_json = target.suffix.lower() == ".json"
        replace_file(target, _json(whole) if is_json else _csv(columns, whole))
    return len(texts)


def _answer(key: str, text: str) -> dict[str, object]:
    found = json_value(text)
    if row_read(found) is None:
        msg = f"what it has under {key} is no answer"
        raise ValueError(msg)
    return dict(found)


def _json(rows: Iterable[Mapping[str, object]]) -> str:
    return "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]\n"


def _csv(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    import csv
    import io

    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(["" if row[name] is None else _cell(row[name]) for name in columns])
    return stream.getvalue()


def _cell(value: object) -> object:
    return value if isinstance(value, str | int | float) else _text(value)


def _text(data: object) -> str:
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
