"""The files that describe a pool: each is recognised by what is in it, and read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from zsim.base.errors import InputError
from zsim.observe.pool_import import host_facts
from zsim.observe.pool_import.host_facts import HostFacts
from zsim.observe.texts import decoded, opened, plain, whole_text
from zsim.observe.zdb import blocks, configuration, metaslabs, pointers
from zsim.observe.zdb.blocks import BlockStatistics
from zsim.observe.zdb.configuration import PoolConfig
from zsim.observe.zdb.metaslabs import Metaslabs
from zsim.observe.zdb.pointers import PointerSummary, PointerTable
from zsim.observe.zpool import listing, status, status_json
from zsim.observe.zpool.listing import PoolList
from zsim.observe.zpool.status import PoolStatus

HEAD = 256 << 10
MAX_FILES = 1000
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
    statuses, lists, configs : list
        By pool, in the order of the files.
    statistics, metaslabs, pointers : None if there was no such file
    host : HostFacts
    contents : dict of str to list of str
        By file: the formats found in it; empty where none was.
    """

    statuses: list[PoolStatus] = field(default_factory=list)
    lists: list[PoolList] = field(default_factory=list)
    configs: list[PoolConfig] = field(default_factory=list)
    statistics: BlockStatistics | None = None
    metaslabs: Metaslabs | None = None
    pointers: PointerSummary | None = None
    host: HostFacts = field(default_factory=HostFacts)
    contents: dict[str, list[str]] = field(default_factory=dict)

    def pools(self) -> list[str]:
        """Return the names of the pools, each once."""
        listed = [each.name for each in self.lists]
        named = [*listed, *(each.name for each in self.statuses), *(each.name for each in self.configs)]
        return [name for name in dict.fromkeys(named) if name]


def paths_of(names: Sequence[str | Path]) -> list[Path]:
    """Return the files named, ``-`` as the standard input, those of directories in the order of their names.

    Raises
    ------
    InputError
        When one does not exist, or there are none or too many.
    """
    found: list[Path] = []
    for name in names:
        path = Path("/dev/stdin" if name == "-" else name)
        if path.is_dir():
            found += sorted(each for each in path.iterdir() if each.is_file() and each.name[0] != ".")
        elif path.exists():
            found.append(path)
        else:
            raise InputError("file", str(name), "there is no such file or directory", REMEDY)
    if not 0 < len(found) <= MAX_FILES:
        raise InputError("files", len(found), f"from 1 to {MAX_FILES} files are expected", REMEDY)
    return found


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
    name = plain(path.name)
    return name if name not in files.contents else plain(str(path), 200)


def _read_file(
    path: Path, files: PoolFiles, table: PointerTable | None, on_progress: OnProgress | None
) -> list[str]:
    name = plain(path.name)
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
    if status_json.recognises(text):
        files.statuses += status_json.read_status_json(text, name)
        return ["zpool status -j"]
    found = [title for title, recognises, read in _READERS if recognises(text) and read(text, name, files)]
    host = host_facts.read_host(text)
    if host != HostFacts() and not found:
        files.host = _merged(files.host, host)
        found.append("version and host")
    return found


def _merged(old: HostFacts, new: HostFacts) -> HostFacts:
    return HostFacts(
        old.version or new.version,
        old.release if old.version else new.release,
        old.memory or new.memory,
        old.cpus or new.cpus,
    )


def _status(text: str, name: str, files: PoolFiles) -> bool:
    files.statuses += status.read_status(text, name)
    return True


def _list(text: str, name: str, files: PoolFiles) -> bool:
    files.lists += listing.read_list(text, name)
    return True


def _config(text: str, name: str, files: PoolFiles) -> bool:
    files.configs += configuration.read_config(text, name)
    return True


def _statistics(text: str, name: str, files: PoolFiles) -> bool:
    found = blocks.read_statistics(text, name)
    old = files.statistics
    if old is None:
        files.statistics = found
    else:
        more = sum(len(row.psizes) for row in found.rows) > sum(len(row.psizes) for row in old.rows)
        files.statistics = BlockStatistics(
            found.rows if more or not old.rows else old.rows,
            old.sizes or found.sizes,
            old.allocated or found.allocated,
            old.blocks or found.blocks,
        )
    return True


def _metaslabs(text: str, name: str, files: PoolFiles) -> bool:
    files.metaslabs = metaslabs.read_metaslabs(text, name)
    return True


_READERS: tuple[tuple[str, Callable[[str], bool], Callable[[str, str, PoolFiles], bool]], ...] = (
    ("zpool status", status.recognises, _status),
    ("zpool list", listing.recognises, _list),
    ("zdb -C", configuration.recognises, _config),
    ("zdb -b", blocks.recognises, _statistics),
    ("zdb -m", metaslabs.recognises, _metaslabs),
)


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
        raise InputError(name, None, "the output of zpool or zdb is expected", REMEDY)
    return files
