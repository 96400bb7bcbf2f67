"""The files that describe a pool: each is recognised by what is in it, and read."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from zsim.base.errors import InputError
from zsim.base.reading import is_directory, stat_of, understood
from zsim.observe.cleaning import are_lines
from zsim.observe.devices.identity import Inventory
from zsim.observe.devices.reading import Listing
from zsim.observe.documents import split_dated
from zsim.observe.evidence.pool_events import PoolEvents
from zsim.observe.evidence.pool_history import PoolHistory
from zsim.observe.outputs import Reader, Remark
from zsim.observe.pool_import.given.assumed import as_status
from zsim.observe.pool_import.given.host_facts import HostFacts
from zsim.observe.pool_import.given.other_texts import refuse_other_texts
from zsim.observe.pool_import.given.pasted_forms import UNKNOWN
from zsim.observe.pool_import.given.readers import readers_of_document, readers_of_text
from zsim.observe.texts import decoded, opened, plain, whole_text
from zsim.observe.zdb import pointers
from zsim.observe.zdb.blocks import BlockStatistics
from zsim.observe.zdb.configuration import PoolConfig
from zsim.observe.zdb.metaslabs import Metaslabs
from zsim.observe.zdb.pointers import PointerSummary, PointerTable
from zsim.observe.zpool import status_json
from zsim.observe.zpool.commands import BuiltPool
from zsim.observe.zpool.listing import PoolList
from zsim.observe.zpool.status import PoolStatus, under_one_name
from zsim.observe.zpool.vdev_tree import Vdev

Fact = TypeVar("Fact")
HEAD = 256 << 10
MAX_FILES = 1000
MOST_GROWN = 1.5
"""By more than this factor ALLOC does not change while a scan runs."""
REMEDY = (
    "give the outputs of zpool list -vHp, zpool status and zdb -C as docs/how-to/import-a-pool.md lists them"
)

OnProgress = Callable[[float, str], None]
"""Is called with the share of a file read and its name."""


@dataclass(slots=True)
class PoolFiles:
    """What was found in the files.

    Attributes
    ----------
    facts : list of object
        What the readers told, in the order of the files; `of` gives those of one kind.
    contents : dict of str to list of str
        By file: the formats found in it; empty where none was.
    pointers : PointerSummary or None
        Of the list of block pointers, which is not kept as text.
    """

    facts: list[object] = field(default_factory=list)
    contents: dict[str, list[str]] = field(default_factory=dict)
    pointers: PointerSummary | None = None

    def of(self, kind: type[Fact]) -> list[Fact]:
        """Return the facts of one data class, in the order of the files."""
        return [each for each in self.facts if isinstance(each, kind)]

    @property
    def statuses(self) -> list[PoolStatus]:
        """What ``zpool status`` shows, by pool."""
        return self.of(PoolStatus)

    @property
    def lists(self) -> list[PoolList]:
        """What ``zpool list`` or ``zpool get`` shows, by pool."""
        return self.of(PoolList)

    @property
    def configs(self) -> list[PoolConfig]:
        """What ``zdb -C`` shows, by pool."""
        return self.of(PoolConfig)

    @property
    def statistics(self) -> BlockStatistics | None:
        """All outputs of ``zdb -b`` put together; None if there was none."""
        found = self.of(BlockStatistics)
        return functools.reduce(BlockStatistics.completed, found) if found else None

    @property
    def metaslabs(self) -> Metaslabs | None:
        """The last output of ``zdb -m``; None if there was none."""
        return next(reversed(self.of(Metaslabs)), None)

    @property
    def host(self) -> HostFacts:
        """What all outputs tell of the host."""
        return functools.reduce(HostFacts.completed, self.of(HostFacts), HostFacts())

    @property
    def notes(self) -> list[str]:
        """Sentences about what could not be used."""
        return [each.text for each in self.of(Remark)]

    def under_one_name(self) -> PoolFiles:
        """Return the same, a pool that was renamed between its statuses under its last name."""
        named = iter(under_one_name(self.statuses))
        facts = [next(named) if isinstance(each, PoolStatus) else each for each in self.facts]
        return replace(self, facts=facts).with_lists_of_the_same()

    def with_lists_of_the_same(self) -> PoolFiles:
        """Return the same, the list of the one pool under the name that the one status has, if it fits it."""
        shown = [each for each in self.statuses if each.name != UNKNOWN]
        names = {each.name for each in shown} | {each.name for each in self.configs}
        others = {each.name for each in self.lists}
        if len(names) != 1 or len(others) != 1 or names == others or not shown:
            return self
        name, other = names.pop(), others.pop()
        if not all(may_be_of(each, shown[-1]) for each in self.lists):
            return self
        told = Remark(
            f"zpool list calls the pool {plain(other)} and zpool status {plain(name)}: there is one pool in"
            " each, and what they show of it agrees, so they are taken for the same"
        )
        facts = [replace(each, name=name) if isinstance(each, PoolList) else each for each in self.facts]
        return replace(self, facts=[*facts, told])

    def inventory(self) -> Inventory:
        """Put together what is known of the host's drives."""
        found = Inventory()
        for listing in self.of(Listing):
            listing.note_in(found)
        return found

    def pools(self) -> list[str]:
        """Return the names of the pools, each once."""
        listed = [each.name for each in self.lists]
        named = [*listed, *(each.name for each in self.statuses), *(each.name for each in self.configs)]
        if not named:
            named = [each.name for each in self.of(PoolHistory)]
            named += [each.name for each in self.of(BuiltPool)]
            named += [each.name for each in self.of(PoolEvents)]
        known = [name for name in dict.fromkeys(named) if name]
        return [name for name in known if name != UNKNOWN] or known


def may_be_of(listed: PoolList, status: PoolStatus) -> bool:
    """Tell whether a list under another name may be of the pool of a status.

    Its health is the same, its vdevs and their drives where they are listed, and its ALLOC about what the
    scan is to examine: where none of it can be compared, nothing tells.
    """
    compared = []
    if listed.health and status.state:
        compared.append(listed.health == status.state)
    if listed.vdevs and status.vdevs:
        compared.append(_shape([vdev for vdev, _ in listed.vdevs]) == _shape(status.vdevs))
    totals = [each.total for each in status.scans if each.total]
    if totals and listed.space.alloc:
        ratio = listed.space.alloc / totals[-1]
        compared.append(1.0 / MOST_GROWN < ratio < MOST_GROWN)
    return bool(compared) and all(compared)


def _shape(vdevs: Sequence[Vdev]) -> list[tuple[str, int, int]]:
    """Return what the vdevs of a pool are, whatever their names."""
    return [(each.kind, each.parity, len(each.children)) for each in vdevs]


def paths_of(names: Sequence[str | Path]) -> list[Path]:
    """Return the files named, ``-`` as the standard input, those of directories in the order of their names.

    Raises
    ------
    InputError
        When one does not exist, or there are none or too many.
    """
    found: list[Path] = []
    for name in names:
        path = Path(name)
        if name == "-":
            found.append(path)
            continue
        facts = stat_of(path, "file", REMEDY)
        if is_directory(facts):
            found += files_in(path)
        elif facts is not None:
            found.append(path)
        else:
            raise InputError("file", str(name), "there is no such file or directory", REMEDY)
    if not 0 < len(found) <= MAX_FILES:
        raise InputError("files", len(found), f"from 1 to {MAX_FILES} files are expected", REMEDY)
    return found


def files_in(directory: Path, pattern: str = "*") -> list[Path]:
    """Return the regular files of a directory that are not hidden, in the order of their names.

    Raises
    ------
    InputError
        When it cannot be listed.
    """
    try:
        return sorted(each for each in directory.glob(pattern) if each.is_file() and each.name[0] != ".")
    except OSError as error:
        reason = (error.strerror or "it cannot be listed").lower()
        raise InputError("directory", str(directory), reason, REMEDY) from error


def read_files(
    paths: Sequence[Path], table: PointerTable | None = None, on_progress: OnProgress | None = None
) -> PoolFiles:
    """Read files in any order; those in no known format are noted as such.

    Parameters
    ----------
    paths : sequence of Path
    table : PointerTable, optional
        Receives the list of block pointers.
    on_progress : callable, optional

    Raises
    ------
    InputError
        When one cannot be read, or none is in a known format.
    """
    files = PoolFiles()
    for path in paths:
        files.contents[_title(path, files)] = _read_file(path, files, table, on_progress)
    if not any(files.contents.values()):
        names = plain(", ".join(files.contents), 200)
        raise InputError("files", names, "none is the output of zpool or zdb as known here", REMEDY)
    return files


def _title(path: Path, files: PoolFiles) -> str:
    """Return the name of a file for messages, with its directory if the name alone is taken."""
    name = plain(path.name) if path.name != "-" else "stdin"
    return name if name not in files.contents else plain(str(path), 200)


def _read_file(
    path: Path, files: PoolFiles, table: PointerTable | None, on_progress: OnProgress | None
) -> list[str]:
    name = plain(path.name) if path.name != "-" else "stdin"
    with opened(path) as stream:
        head = stream.read(HEAD)
        if not pointers.recognises(head):
            return read_text(whole_text(name, stream, head), name, files)
        if files.pointers is not None:
            raise InputError("file", name, "there is a list of block pointers already", "give one of the two")
        tell = _teller(path, on_progress)
        files.pointers = pointers.read_pointers(stream, name, head, table, tell)
    return ["zdb -Lbbbbb", *read_text(files.pointers.other_text, name, files)]


def _teller(path: Path, on_progress: OnProgress | None) -> Callable[[int], None] | None:
    """Return what tells the share of a file that was read; of a packed one the size is not known."""
    if on_progress is None:
        return None
    total = path.stat().st_size * (8 if path.suffix in (".gz", ".zst") else 1)
    return lambda done: on_progress(min(done / max(total, 1), 1.0), f"reading {plain(path.name)}")


def read_text(text: str, name: str, files: PoolFiles) -> list[str]:
    """Read a text in which several outputs may stand one after the other; return the formats found."""
    with understood(name, "file", "leave it out, or paste it again"):
        return _read_outputs(text, name, files)


def _read_outputs(text: str, name: str, files: PoolFiles) -> list[str]:
    documents, rest = split_dated(text)
    if not documents and status_json.recognises(text):
        # It begins like JSON and is none: the reader says where it breaks off.
        files.facts += status_json.read(text, name)
    of_rest: Iterator[tuple[str, Reader]] = iter(())
    if are_lines(rest):
        rest = as_status(rest)
        of_rest = readers_of_text(rest)
    found: dict[str, None] = {}
    needed = [*((each, readers_of_document(each), at) for each, at in documents), (rest, of_rest, None)]
    for part, readers, at in needed:
        for output, reader in readers:
            files.facts += status_json.dated(reader.read(part, name), at)
            found[output] = None
    return list(found)


def read_pasted(content: bytes, name: str = "text") -> PoolFiles:
    """Read outputs from memory.

    Raises
    ------
    InputError
        When nothing in it is known.
    """
    files = PoolFiles()
    files.contents[name] = read_text(decoded(content), name, files)
    if not files.contents[name]:
        refuse_other_texts(name, None, [decoded(content)])
        raise InputError(name, None, "the output of zpool or zdb is expected", REMEDY)
    return files
